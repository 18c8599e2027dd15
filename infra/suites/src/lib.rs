//! Shared parts of the suites: fake upstream servers on loopback, and the tools that suites start and stop.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a suite ends with the first expectation that does not hold"
)]

mod event_stream;
mod recorder;
mod tool;
mod world;

pub use event_stream::{events, only};
pub use recorder::{Call, PermissionRecorder};
pub use tool::Tool;
pub use world::{FakeEnvironment, forward};

/// Reads an environment variable that the suite's script sets.
pub fn required_variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by the script of this suite"))
}

/// Prints a check that passed.
#[expect(clippy::print_stdout, reason = "a suite says what it does")]
pub fn print_passed(what: &str) {
    println!("  ok: {what}");
}
