//! The calls of a turn, as the loop makes them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "what a test stands on must hold, or the test has failed")]

mod memo;
mod session;
mod support;
