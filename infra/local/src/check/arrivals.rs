use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use llm::ResponseRecorder;

/// How the latest response arrived on the network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrival {
    /// The value of `content-type`, in lower case and without parameters; empty if there is none.
    pub(super) content_type: String,
    /// Pieces of the body.
    pub(super) chunks: usize,
}

/// Records the arrival of responses; keeps the latest.
#[derive(Debug, Default)]
pub(super) struct ArrivalRecorder(Mutex<Arrival>);

impl ArrivalRecorder {
    pub(super) fn latest(&self) -> Arrival {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Arrival> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResponseRecorder for ArrivalRecorder {
    fn record_head(&self, _status: u16, content_type: &str, _retry_after: Option<Duration>) {
        let content_type = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        *self.lock() = Arrival { content_type, chunks: 0 };
    }

    fn record_chunk(&self, _bytes: &[u8]) {
        self.lock().chunks += 1;
    }
}
