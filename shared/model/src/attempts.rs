//! The only retry loop: attempts, the waits between them, and one deadline over all.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ModelError;
use crate::fault::{Again, Fault};
use crate::retry::{self, Patience};

/// An operation that can be attempted several times.
pub(crate) trait Attempted {
    /// The result of a successful attempt.
    type Output;

    /// Makes one attempt; it must end by the deadline of the loop.
    fn attempt(&mut self, which: Attempt) -> impl Future<Output = Result<Self::Output, Fault>> + Send;

    /// Returns a random number between 0 and 1, for the next wait.
    fn jitter(&mut self) -> f64;
}

/// Number and connection of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Counts from 1. An attempt that only replaces a dead connection keeps the number of the previous one.
    pub(crate) number: u32,
    /// Whether the attempt uses a new connection instead of a pooled one.
    pub(crate) fresh: bool,
}

/// Attempts until one succeeds, the policy allows no other, or the next would start at `deadline` or later.
///
/// Returns the error of the last attempt.
pub(crate) async fn repeat<A: Attempted>(
    attempted: &mut A,
    patience: Patience,
    deadline: Instant,
) -> Result<A::Output, ModelError> {
    let mut which = Attempt { number: 1, fresh: false };
    let mut replaced = false;
    loop {
        let left = remaining(deadline);
        if left.is_zero() {
            return Err(ModelError::Deadline);
        }
        let mut fault = match attempted.attempt(which).await {
            Ok(output) => return Ok(output),
            Err(fault) => fault,
        };
        // A dead connection is replaced once; further dead connections count as failed attempts.
        which.fresh = fault.again == Again::NewConnection && !replaced;
        if fault.again == Again::NewConnection && replaced {
            fault.again = Again::Later;
        }
        let wait = retry::next(&fault, which.number, patience, remaining(deadline), attempted.jitter())?;
        replaced |= which.fresh;
        which.number += u32::from(!which.fresh);
        sleep(wait).await;
    }
}

fn remaining(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

#[cfg(test)]
mod tests;
