//! Shared parts of the suites: fake upstream servers on loopback, and the tools that suites start and stop.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a suite ends with the first expectation that does not hold"
)]

mod answers;
mod recorder;
mod tool;
mod world;

pub use answers::{events, only};
pub use recorder::{Call, Recorder};
pub use tool::{Tool, free_port, listening};
pub use world::{World, forward};

/// Reads an environment variable that the suite's script sets.
pub fn given(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is set by the script of this suite"))
}

/// Prints a check that passed.
#[expect(clippy::print_stdout, reason = "a suite says what it does")]
pub fn shown(what: &str) {
    println!("  ok: {what}");
}
