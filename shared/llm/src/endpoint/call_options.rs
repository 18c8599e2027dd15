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
    /// Whether the last reply of that log is requested again, because none of it was shown: its attempts count as this call's.
    pub is_repeated: bool,
}

impl CallOptions {
    /// Creates options with a deadline and defaults.
    pub fn with_deadline(deadline: Instant) -> Self {
        let (has_fallback, is_optional, is_repeated) = (false, false, false);
        Self { deadline, has_fallback, is_optional, recorder: None, attempt_log: AttemptLog::default(), is_repeated }
    }
}
