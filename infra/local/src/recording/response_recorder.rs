use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use llm::{AttemptEnd, ResponseRecorder};

use super::line::Entry;
use super::writer::RecordingWriter;

/// Records the responses of one model call.
pub(super) struct CallResponseRecorder {
    writer: Arc<RecordingWriter>,
    model_call: usize,
    state: Mutex<State>,
}

struct State {
    attempt: usize,
    /// Held back end of the body, which may be the start of a key.
    pending: Vec<u8>,
}

impl CallResponseRecorder {
    pub(super) fn new(writer: Arc<RecordingWriter>, model_call: usize) -> Self {
        Self { writer, model_call, state: Mutex::new(State { attempt: 1, pending: Vec::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn body(&self, attempt: usize, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.writer.write(Entry::Body { model_call: self.model_call, attempt, bytes: bytes.into() });
        }
    }
}

impl ResponseRecorder for CallResponseRecorder {
    fn record_head(&self, status: u16, content_type: &str, retry_after: Option<Duration>) {
        let attempt = self.state().attempt;
        let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let content_type = content_type.to_owned();
        self.writer.write(Entry::Response {
            model_call: self.model_call,
            attempt,
            status,
            content_type,
            retry_after_ms,
        });
    }

    fn record_chunk(&self, bytes: &[u8]) {
        let keys = self.writer.keys();
        let mut state = self.state();
        let mut whole = std::mem::take(&mut state.pending);
        whole.extend_from_slice(bytes);
        let mut hidden = keys.hide(whole);
        state.pending = hidden.split_off(hidden.len() - keys.partial_key_len(&hidden));
        self.body(state.attempt, hidden);
    }

    fn record_end(&self, end: AttemptEnd) {
        let mut state = self.state();
        let pending = std::mem::take(&mut state.pending);
        self.body(state.attempt, pending);
        self.writer.write(Entry::End { model_call: self.model_call, attempt: state.attempt, how: end.into() });
        state.attempt += 1;
    }
}
