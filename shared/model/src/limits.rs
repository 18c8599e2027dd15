use std::sync::Arc;

use tokio::time::Instant;

use crate::{Attempts, Tape};

/// The options of one call for a reply.
#[derive(Clone)]
pub struct Limits {
    /// The deadline of the turn; nothing waits longer.
    pub deadline: Instant,
    /// Whether there is a fallback model: then only short waits are made before the next attempt.
    pub alternative: bool,
    /// Records the response, if set.
    pub tape: Option<Arc<dyn Tape>>,
    /// The log of its attempts.
    pub attempts: Attempts,
}

impl Limits {
    /// Creates options with a deadline and defaults.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline, alternative: false, tape: None, attempts: Attempts::default() }
    }
}
