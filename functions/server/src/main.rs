//! `cargo run`: Lambda Chat on this machine.

use std::process::ExitCode;

/// This allocator saves a sixth of the work of an answer, which makes many small allocations (docs/performance.md).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::run()
}
