use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{AttemptEnd, Tape};

use super::line::Entry;
use super::writing::Writing;

/// Records the responses of one model call.
pub(super) struct CallTape {
    writing: Arc<Writing>,
    ask: usize,
    state: Mutex<State>,
}

struct State {
    attempt: usize,
    /// Held back end of the body, which may be the start of a key.
    held: Vec<u8>,
}

impl CallTape {
    pub(super) fn new(writing: Arc<Writing>, ask: usize) -> Self {
        Self { writing, ask, state: Mutex::new(State { attempt: 1, held: Vec::new() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn body(&self, attempt: usize, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            self.writing.write(Entry::Body { ask: self.ask, attempt, bytes: bytes.into() });
        }
    }
}

impl Tape for CallTape {
    fn response(&self, status: u16, content_type: &str, retry_after: Option<Duration>) {
        let attempt = self.state().attempt;
        let retry_after_ms = retry_after.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
        let content_type = content_type.to_owned();
        self.writing.write(Entry::Response { ask: self.ask, attempt, status, content_type, retry_after_ms });
    }

    fn body(&self, bytes: &[u8]) {
        let keys = self.writing.keys();
        let mut state = self.state();
        let mut whole = std::mem::take(&mut state.held);
        whole.extend_from_slice(bytes);
        let mut hidden = keys.hide(whole);
        state.held = hidden.split_off(hidden.len() - keys.begun(&hidden));
        self.body(state.attempt, hidden);
    }

    fn end(&self, end: AttemptEnd) {
        let mut state = self.state();
        let held = std::mem::take(&mut state.held);
        self.body(state.attempt, held);
        self.writing.write(Entry::End { ask: self.ask, attempt: state.attempt, how: end.into() });
        state.attempt += 1;
    }
}
