//! Tests of the calls of a turn through the public API.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test stands on must hold, or the test has failed")]

mod memo;
mod session;
mod support;
