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
    /// Whether the caller can do without the reply: a transient error is not retried, and no failure counts against the health of
    /// the model, which decides which model answers.
    pub is_optional: bool,
    /// Records the response, if set.
    pub recorder: Option<Arc<dyn ResponseRecorder>>,
    /// The log of its attempts.
    pub attempt_log: AttemptLog,
}

impl CallOptions {
    /// Creates options with a deadline and defaults.
    pub fn with_deadline(deadline: Instant) -> Self {
        Self { deadline, has_fallback: false, is_optional: false, recorder: None, attempt_log: AttemptLog::default() }
    }
}
