//! `lambda-chat check` and `lambda-chat evaluate` against scripted models and searches: their whole output.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

mod check;
mod evaluate;
mod program;
