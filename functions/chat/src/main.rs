//! The chat function on AWS Lambda.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "files")]
    if let Some(code) = files::run_reader() {
        return code;
    }
    chat::run()
}
