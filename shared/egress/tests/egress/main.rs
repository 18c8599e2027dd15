//! Tests of requests as they are sent, and of hosts that they never reach.

#![expect(clippy::unwrap_used, reason = "what a test stands on must hold, or the test has failed")]

mod limits;
mod reach;
mod redirects;
mod support;
