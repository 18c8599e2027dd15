use std::time::Duration;

/// Time limits of a deployment; exceeding one fails the check.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a response that is no stream.
    pub answer: Duration,
    /// From the request to the first event of the turn, which is sent before the model is called.
    pub first_event: Duration,
    /// From the request, or from resuming, to the end of the turn.
    pub turn: Duration,
    /// From a stop to the end of the turn. An instance notices a stop within three seconds, even if another instance
    /// received it.
    pub stop: Duration,
    /// From the last frame of a stream to its end.
    pub close: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            answer: Duration::from_secs(10),
            first_event: Duration::from_secs(5),
            turn: Duration::from_secs(90),
            stop: Duration::from_secs(10),
            close: Duration::from_secs(5),
        }
    }
}
