//! The one loop that repeats: attempts, the waits between them, and the deadline over all.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::ModelError;
use crate::fault::{Again, Fault};
use crate::retry::{self, Patience};

/// What is attempted until it works or nothing more can be hoped for.
pub(crate) trait Attempted {
    /// What an attempt that works gives.
    type Output;

    /// Attempts it; no attempt may last longer than the deadline that the loop was given.
    fn attempt(&mut self, which: Attempt) -> impl Future<Output = Result<Self::Output, Fault>> + Send;

    /// A random number between 0 and 1, for the next wait.
    fn jitter(&mut self) -> f64;
}

/// Which attempt it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Counts from 1; one that only replaces a dead connection has the number of the one before.
    pub(crate) number: u32,
    /// Whether it goes over a connection of its own.
    pub(crate) fresh: bool,
}

/// Attempts until one works, none may follow, or the next would begin at `deadline` or later; the last fault is the error.
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
        // A connection is replaced once; those that die after that are the endpoint's fault.
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
