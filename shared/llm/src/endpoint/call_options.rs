use std::sync::Arc;

use tokio::time::Instant;

use crate::{AttemptLog, ResponseRecorder};

/// The options of one call for a reply.
#[derive(Clone)]
pub struct CallOptions {
    /// The deadline of the turn; nothing waits longer.
    pub deadline: Instant,
    /// Whether there is a fallback model: then only short waits are made before the next attempt.
    pub has_fallback: bool,
    /// Records the response, if set.
    pub recorder: Option<Arc<dyn ResponseRecorder>>,
    /// The log of its attempts.
    pub attempt_log: AttemptLog,
}

impl CallOptions {
    /// Creates options with a deadline and defaults.
    pub fn with_deadline(deadline: Instant) -> Self {
        Self { deadline, has_fallback: false, recorder: None, attempt_log: AttemptLog::default() }
    }
}
