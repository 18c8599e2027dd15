use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use ulid::Ulid;
use work::lock;

use crate::errors::{AttemptError, RetryAdvice};

/// The log of attempts in the order of their start; clones share it.
#[derive(Clone, Debug, Default)]
pub struct AttemptLog {
    records: Arc<Mutex<Vec<AttemptRecord>>>,
    failed_reply: Arc<Mutex<Option<FailedReply>>>,
}

/// A reply that failed after its first content: the number of its attempt, and the error.
pub(crate) type FailedReply = (u32, AttemptError);

/// One attempt: names and numbers only, no text of users or models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The name of the model in the settings.
    pub model: String,
    /// The number of the attempt within one call, from 1.
    pub number: u32,
    /// When the request was about to be sent.
    pub started_at: Instant,
    /// When its response ended; `None` while it runs.
    pub ended_at: Option<Instant>,
    /// The kind of its error (`ModelError::kind`), if any.
    pub error_kind: Option<&'static str>,
    /// The HTTP status of an error response.
    pub status: Option<u16>,
    /// What the operator can do about the error, if it shows that; it contains nothing of the endpoint.
    pub help: Option<&'static str>,
}

impl AttemptLog {
    /// Returns the attempts so far.
    pub fn records(&self) -> Vec<AttemptRecord> {
        lock(&self.records).clone()
    }

    /// Whether the last reply failed after its first content, in a way that another attempt may help.
    pub fn has_failed_reply(&self) -> bool {
        lock(&self.failed_reply).is_some()
    }

    pub(crate) fn take_failed_reply(&self) -> Option<FailedReply> {
        lock(&self.failed_reply).take()
    }

    fn add(&self, model: &str, number: u32) -> usize {
        let mut records = lock(&self.records);
        let (model, started_at) = (model.to_owned(), Instant::now());
        let (ended_at, error_kind, status, help) = (None, None, None, None);
        records.push(AttemptRecord { model, number, started_at, ended_at, error_kind, status, help });
        records.len() - 1
    }

    fn finish(&self, index: usize, fault: Option<&AttemptError>) {
        let mut records = lock(&self.records);
        let Some(record) = records.get_mut(index).filter(|record| record.ended_at.is_none()) else { return };
        record.ended_at = Some(Instant::now());
        record.error_kind = fault.map(|fault| fault.error.kind());
        record.status = fault.and_then(|fault| fault.status);
        record.help = fault.and_then(|fault| fault.help);
    }
}

/// An attempt in progress; it ends at the latest when the last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct AttemptSpan(Arc<SpanState>);

#[derive(Debug)]
struct SpanState {
    request: Ulid,
    log: AttemptLog,
    index: usize,
}

impl AttemptSpan {
    pub(crate) fn new(model: &str, request: Ulid, attempt: u32, log: &AttemptLog) -> Self {
        Self(Arc::new(SpanState { request, log: log.clone(), index: log.add(model, attempt) }))
    }

    /// Ends an attempt whose reply had begun.
    pub(crate) fn fail_reply(&self, fault: &AttemptError) {
        self.fail(fault);
        let SpanState { log, index, .. } = &*self.0;
        if fault.advice == RetryAdvice::Later
            && let Some(record) = lock(&log.records).get(*index)
        {
            *lock(&log.failed_reply) = Some((record.number, fault.clone()));
        }
    }

    pub(crate) fn fail(&self, fault: &AttemptError) {
        let SpanState { request, log, index } = &*self.0;
        log.finish(*index, Some(fault));
        let Some(AttemptRecord { model, number, .. }) = lock(&log.records).get(*index).cloned() else { return };
        tracing::warn!(
            model = %model,
            client_request_id = %request,
            attempt = number,
            status = fault.status,
            code = fault.code,
            error = %fault.error,
            help = fault.help,
            "a call of the model failed"
        );
    }
}

impl Drop for SpanState {
    fn drop(&mut self) {
        self.log.finish(self.index, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelError;

    #[test]
    fn failed_attempts_are_logged_with_their_kind() {
        let attempts = AttemptLog::default();
        let refused = AttemptSpan::new("a", Ulid::nil(), 1, &attempts);
        refused.fail(&AttemptError { status: Some(503), ..AttemptError::transient(ModelError::Unavailable) });
        let answered = AttemptSpan::new("a", Ulid::nil(), 2, &attempts);
        let of_reply = answered.clone();
        drop((refused, answered));
        assert_eq!(attempts.records()[1].ended_at, None, "its reply is still read");
        drop(of_reply);
        let records = attempts.records();
        let rows: Vec<_> =
            records.iter().map(|one| (one.number, one.error_kind, one.status, one.ended_at.is_some())).collect();
        assert_eq!(rows, [(1, Some("unavailable"), Some(503), true), (2, None, None, true)]);
    }
}
