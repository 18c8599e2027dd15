use std::time::Duration;

/// How long a deployment may take; what takes longer has failed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// For an answer that is no stream.
    pub answer: Duration,
    /// From a question to the first event of its turn, which leaves before the model is called.
    pub first_event: Duration,
    /// From a question, or from a client's coming back, to the end of the turn.
    pub turn: Duration,
    /// From a stop to the end of the turn: a stop is noticed within three seconds wherever it comes in.
    pub stop: Duration,
    /// From the last frame of a stream to its end.
    pub close: Duration,
}

impl Default for Limits {
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
