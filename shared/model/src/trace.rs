use ulid::Ulid;

use crate::fault::{Code, Fault};

/// What the log says of one attempt: names and numbers, nothing that anybody wrote.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    model: String,
    request: Ulid,
    attempt: u32,
}

impl Trace {
    pub(crate) fn new(model: &str, request: Ulid, attempt: u32) -> Self {
        Self { model: model.to_owned(), request, attempt }
    }

    pub(crate) fn failed(&self, fault: &Fault) {
        tracing::warn!(
            model = %self.model,
            client_request_id = %self.request,
            attempt = self.attempt,
            status = fault.status,
            code = fault.code.as_ref().map(Code::as_str),
            error = %fault.error,
            "a call of the model failed"
        );
    }
}
