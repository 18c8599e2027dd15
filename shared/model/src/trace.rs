use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use ulid::Ulid;

use crate::fault::{Code, Fault};

/// The log of attempts in the order of their start; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Attempts(Arc<Mutex<Vec<AttemptMade>>>);

/// One attempt: names and numbers only, no text of users or models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptMade {
    /// The name of the model in the settings.
    pub model: String,
    /// The number of the attempt within one call, from 1.
    pub number: u32,
    /// When the request was about to be sent.
    pub began: Instant,
    /// When its response ended; `None` while it runs.
    pub ended: Option<Instant>,
    /// The kind of its error (`ModelError::kind`), if any.
    pub failed: Option<&'static str>,
    /// The HTTP status of an error response.
    pub status: Option<u16>,
}

impl Attempts {
    /// Returns the attempts so far.
    pub fn made(&self) -> Vec<AttemptMade> {
        self.all().clone()
    }

    fn begin(&self, model: &str, number: u32) -> usize {
        let mut all = self.all();
        let (model, began) = (model.to_owned(), Instant::now());
        all.push(AttemptMade { model, number, began, ended: None, failed: None, status: None });
        all.len() - 1
    }

    fn end(&self, place: usize, fault: Option<&Fault>) {
        let mut all = self.all();
        let Some(made) = all.get_mut(place).filter(|made| made.ended.is_none()) else { return };
        made.ended = Some(Instant::now());
        made.failed = fault.map(|fault| fault.error.kind());
        made.status = fault.and_then(|fault| fault.status);
    }

    fn all(&self) -> MutexGuard<'_, Vec<AttemptMade>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An attempt in progress; it ends at the latest when the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Trace(Arc<Open>);

#[derive(Debug)]
struct Open {
    model: String,
    request: Ulid,
    attempt: u32,
    attempts: Attempts,
    place: usize,
}

impl Trace {
    pub(crate) fn new(model: &str, request: Ulid, attempt: u32, attempts: &Attempts) -> Self {
        let place = attempts.begin(model, attempt);
        Self(Arc::new(Open { model: model.to_owned(), request, attempt, attempts: attempts.clone(), place }))
    }

    pub(crate) fn failed(&self, fault: &Fault) {
        let open = &self.0;
        open.attempts.end(open.place, Some(fault));
        tracing::warn!(
            model = %open.model,
            client_request_id = %open.request,
            attempt = open.attempt,
            status = fault.status,
            code = fault.code.as_ref().map(Code::as_str),
            error = %fault.error,
            "a call of the model failed"
        );
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.attempts.end(self.place, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelError;

    #[test]
    fn failed_attempts_are_logged_with_their_kind() {
        let attempts = Attempts::default();
        let refused = Trace::new("a", Ulid::nil(), 1, &attempts);
        refused.failed(&Fault { status: Some(503), ..Fault::passing(ModelError::Unavailable) });
        let answered = Trace::new("a", Ulid::nil(), 2, &attempts);
        let of_reply = answered.clone();
        drop((refused, answered));
        assert_eq!(attempts.made()[1].ended, None, "its reply is still read");
        drop(of_reply);
        let made = attempts.made();
        let told: Vec<_> = made.iter().map(|one| (one.number, one.failed, one.status, one.ended.is_some())).collect();
        assert_eq!(told, [(1, Some("unavailable"), Some(503), true), (2, None, None, true)]);
    }
}
