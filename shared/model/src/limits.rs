use std::sync::Arc;

use tokio::time::Instant;

use crate::{Attempts, Tape};

/// What bounds one call for a reply.
#[derive(Clone)]
pub struct Limits {
    /// When the turn is over; nothing is waited for any longer.
    pub deadline: Instant,
    /// Whether another model stands behind this one: then only short waits are waited before the next attempt.
    pub alternative: bool,
    /// What takes the answer down, if anything does.
    pub tape: Option<Arc<dyn Tape>>,
    /// Where its attempts are kept.
    pub attempts: Attempts,
}

impl Limits {
    /// A deadline, and nothing else.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline, alternative: false, tape: None, attempts: Attempts::default() }
    }
}
