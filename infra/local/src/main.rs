//! `cargo run`: Lambda Chat on this machine.

use std::process::ExitCode;

fn main() -> ExitCode {
    local::run()
}
