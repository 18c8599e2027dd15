//! The chat function on AWS Lambda.

use std::process::ExitCode;

fn main() -> ExitCode {
    chat::run()
}
