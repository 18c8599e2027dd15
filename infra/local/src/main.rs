//! `cargo run`: Lambda Chat on this machine.

use std::process::ExitCode;

/// What an answer allocates in small pieces makes a sixth of its work less with this one (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    local::run()
}
