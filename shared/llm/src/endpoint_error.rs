//! Parses the errors of endpoints and classifies them by the next action.
//!
//! Endpoints report the same error in different fields: the status, a code, a type, or only a sentence. Only the kind of
//! the error and a code for the log leave the crate.

mod error_kind;

use std::time::Duration;

use serde_json::Value;

use crate::ModelError;
use crate::attempt_error::{AttemptError, CompatFix, ProviderErrorCode, RetryAdvice};

use error_kind::ErrorKind;

/// The parsed error of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct EndpointError {
    /// The first status in the body; in a stream it is the only one.
    status: Option<u16>,
    /// Codes, types and names of states.
    codes: Vec<String>,
    /// Messages for people, in lower case.
    text: String,
}

impl EndpointError {
    /// Parses an error of any structure; a body that is not JSON is used as the message.
    pub(crate) fn parse(body: &str) -> Self {
        let mut error = Self::default();
        match serde_json::from_str::<Value>(body.trim()) {
            Ok(value) => error.collect("message", &value),
            Err(_) => error.add_text(body),
        }
        error
    }

    /// Converts an error that came with an HTTP error status.
    pub(crate) fn to_attempt_error(&self, status: u16, retry_after: Option<Duration>) -> AttemptError {
        let (error, again) = self.classify(status, retry_after);
        let code = self.codes.iter().filter(|code| *code != "error").find_map(|code| ProviderErrorCode::parse(code));
        AttemptError { error, advice: again, retry_after, status: Some(status), code }
    }

    /// Converts an error inside a response of status 200.
    pub(crate) fn to_stream_error(&self) -> AttemptError {
        let status = self.status.or_else(|| self.codes.iter().find_map(|code| error_kind::status_of_code(code)));
        self.to_attempt_error(status.unwrap_or(500), None)
    }

    /// Collects values by field name: the nesting differs too widely between endpoints for types.
    fn collect(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.collect(name, value)),
            Value::Array(items) => items.iter().for_each(|item| self.collect(name, item)),
            Value::Number(number) if matches!(name, "code" | "status" | "status_code" | "http_code") => {
                self.add_code(&number.to_string());
            }
            Value::String(text) if matches!(name, "code" | "type" | "status" | "reason") => self.add_code(text),
            Value::String(text) if matches!(name, "message" | "msg" | "error" | "detail" | "raw" | "loc" | "param") => {
                self.add_text(text);
            }
            _ => {}
        }
    }

    fn add_code(&mut self, code: &str) {
        let status = code.parse().ok().filter(|status| (400..600).contains(status));
        self.status = self.status.or(status);
        self.codes.push(code.to_owned());
    }

    fn add_text(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(&text.to_lowercase());
    }

    fn classify(&self, status: u16, retry_after: Option<Duration>) -> (ModelError, RetryAdvice) {
        if (300..400).contains(&status) {
            return (ModelError::BadResponse, RetryAdvice::Never);
        }
        let by_text = || {
            matches!(status, 400 | 403 | 404 | 413 | 422 | 500 | 501).then(|| error_kind::kind_of_text(&self.text))?
        };
        if let Some(kind) = self.codes.iter().find_map(|code| error_kind::kind_of_code(code)).or_else(by_text) {
            return error_of_kind(kind);
        }
        match status {
            401 | 403 => (ModelError::Auth, RetryAdvice::Never),
            402 => (ModelError::QuotaExhausted, RetryAdvice::Never),
            413 => (ModelError::ContextTooLong, RetryAdvice::Never),
            429 => (ModelError::RateLimited { retry_after }, RetryAdvice::Later),
            408 | 409 | 500.. => (ModelError::Unavailable, RetryAdvice::Later),
            _ => (ModelError::Rejected, RetryAdvice::Never),
        }
    }
}

fn error_of_kind(kind: ErrorKind) -> (ModelError, RetryAdvice) {
    match kind {
        ErrorKind::Quota => (ModelError::QuotaExhausted, RetryAdvice::Never),
        ErrorKind::Content => (ModelError::ContentFiltered, RetryAdvice::Never),
        ErrorKind::Context => (ModelError::ContextTooLong, RetryAdvice::Never),
        ErrorKind::Tools => (ModelError::ToolsUnsupported, RetryAdvice::Never),
        ErrorKind::UsageOption => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoUsageOption)),
        ErrorKind::ForcedChoice => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoForcedChoice)),
        ErrorKind::Signatures => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::AddSignatures)),
        ErrorKind::Reasoning => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::EchoReasoning)),
        ErrorKind::Limit => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::SwapLimitName)),
        ErrorKind::Temperature => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoTemperature)),
        ErrorKind::TopP => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoTopP)),
        ErrorKind::Thinking => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoThinking)),
        ErrorKind::Stop => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoStopMarkers)),
        ErrorKind::Effort => (ModelError::Rejected, RetryAdvice::ApplyFix(CompatFix::NoEffort)),
    }
}
