//! The only retry loop: attempts, the waits between them, and one deadline over all.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ModelError;
use crate::endpoint::attempt_log::FailedReply;
use crate::endpoint::retry_policy::{self, RetryPolicy};
use crate::errors::{AttemptError, RetryAdvice};

pub(crate) trait Retryable {
    type Output;

    /// Makes one attempt; it must end by the deadline of the loop.
    fn attempt(&mut self, attempt: Attempt) -> impl Future<Output = Result<Self::Output, AttemptError>> + Send;

    /// Returns a random number between 0 and 1, for the next wait.
    fn jitter(&mut self) -> f64;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Counts from 1. An attempt that only replaces a dead connection keeps the number of the previous one.
    pub(crate) number: u32,
    /// Whether the attempt uses a new connection instead of a pooled one.
    pub(crate) new_connection: bool,
}

/// Attempts until one succeeds, the policy allows no other, or the next would start at `deadline` or later.
///
/// `failed_reply` counts as the attempts so far. Returns the error of the last attempt.
pub(crate) async fn retry<A: Retryable>(
    operation: &mut A,
    policy: RetryPolicy,
    deadline: Instant,
    failed_reply: Option<FailedReply>,
) -> Result<A::Output, ModelError> {
    let (number, mut failed) = failed_reply.map_or((1, None), |(number, fault)| (number, Some(Err(fault))));
    let mut attempt = Attempt { number, new_connection: false };
    let mut replaced = false;
    loop {
        let left = remaining(deadline);
        if left.is_zero() {
            return Err(ModelError::Deadline);
        }
        let outcome = match failed.take() {
            Some(failed) => failed,
            None => operation.attempt(attempt).await,
        };
        let mut fault = match outcome {
            Ok(output) => return Ok(output),
            Err(fault) => fault,
        };
        // A dead connection is replaced once; further dead connections count as failed attempts.
        attempt.new_connection = fault.advice == RetryAdvice::NewConnection && !replaced;
        if fault.advice == RetryAdvice::NewConnection && replaced {
            fault.advice = RetryAdvice::Later;
        }
        let wait = retry_policy::next_wait(&fault, attempt.number, policy, remaining(deadline), operation.jitter())?;
        replaced |= attempt.new_connection;
        attempt.number += u32::from(!attempt.new_connection);
        sleep(wait).await;
    }
}

fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests;
