//! The two functions that verify a deployment on AWS Lambda.

use std::process::ExitCode;

fn main() -> ExitCode {
    verify::run()
}
