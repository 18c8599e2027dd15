//! Lambda's Runtime API on loopback: it starts a function's binary, sends events to it, and receives its responses chunk
//! by chunk, so that tests observe the same as the service.
//!
//! The routes are those of the Runtime API of 2018-06-01: `invocation/next`, `invocation/{id}/response` and
//! `invocation/{id}/error`.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a broken expectation ends the test that made it"
)]

mod answer;
mod event;
mod function;
mod server;
mod wire;

pub use answer::{FunctionResponse, Prelude, StreamedResponse};
pub use event::HttpEvent;
pub use function::Function;
pub use server::{Invocation, RuntimeApi};

use std::time::Duration;

/// Timeout of every wait, so that a test fails instead of hanging.
const WAIT_TIMEOUT: Duration = Duration::from_mins(1);

async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(WAIT_TIMEOUT, future).await;
    waited.unwrap_or_else(|_| panic!("waited {WAIT_TIMEOUT:?} in vain: {what}"))
}
