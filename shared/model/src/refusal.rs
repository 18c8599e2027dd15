//! Parses the errors of endpoints and classifies them by the next action.
//!
//! Endpoints report the same error in different fields: the status, a code, a type, or only a sentence. Only the kind of
//! the error and a code for the log leave the crate.

mod kind;

use std::time::Duration;

use serde_json::Value;

use crate::ModelError;
use crate::fault::{Again, Amendment, Code, Fault};

use kind::Kind;

/// The parsed error of an endpoint.
#[derive(Debug, Default)]
pub(crate) struct Refusal {
    /// The first status in the body; in a stream it is the only one.
    status: Option<u16>,
    /// Codes, types and names of states.
    codes: Vec<String>,
    /// Messages for people, in lower case.
    text: String,
}

impl Refusal {
    /// Parses an error of any structure; a body that is not JSON is used as the message.
    pub(crate) fn parse(body: &str) -> Self {
        let mut refusal = Self::default();
        match serde_json::from_str::<Value>(body.trim()) {
            Ok(value) => refusal.gather("message", &value),
            Err(_) => refusal.say(body),
        }
        refusal
    }

    /// Converts an error that came with an HTTP error status.
    pub(crate) fn with_status(&self, status: u16, retry_after: Option<Duration>) -> Fault {
        let (error, again) = self.sort(status, retry_after);
        let code = self.codes.iter().filter(|code| *code != "error").find_map(|code| Code::parse(code));
        Fault { error, again, retry_after, status: Some(status), code }
    }

    /// Converts an error inside a response of status 200.
    pub(crate) fn in_stream(&self) -> Fault {
        let status = self.status.or_else(|| self.codes.iter().find_map(|code| kind::status_of(code)));
        self.with_status(status.unwrap_or(500), None)
    }

    /// Collects values by field name: the nesting differs too widely between endpoints for types.
    fn gather(&mut self, name: &str, value: &Value) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| self.gather(name, value)),
            Value::Array(items) => items.iter().for_each(|item| self.gather(name, item)),
            Value::Number(number) if matches!(name, "code" | "status" | "status_code" | "http_code") => {
                self.code(&number.to_string());
            }
            Value::String(text) if matches!(name, "code" | "type" | "status" | "reason") => self.code(text),
            Value::String(text) if matches!(name, "message" | "msg" | "error" | "detail" | "raw" | "loc" | "param") => {
                self.say(text);
            }
            _ => {}
        }
    }

    fn code(&mut self, code: &str) {
        let status = code.parse().ok().filter(|status| (400..600).contains(status));
        self.status = self.status.or(status);
        self.codes.push(code.to_owned());
    }

    fn say(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(&text.to_lowercase());
    }

    fn sort(&self, status: u16, retry_after: Option<Duration>) -> (ModelError, Again) {
        if (300..400).contains(&status) {
            return (ModelError::BadResponse, Again::Never);
        }
        let by_text =
            || matches!(status, 400 | 403 | 404 | 413 | 422 | 500 | 501).then(|| kind::of_text(&self.text))?;
        if let Some(kind) = self.codes.iter().find_map(|code| kind::of_code(code)).or_else(by_text) {
            return of_kind(kind);
        }
        match status {
            401 | 403 => (ModelError::Auth, Again::Never),
            402 => (ModelError::QuotaExhausted, Again::Never),
            413 => (ModelError::ContextTooLong, Again::Never),
            429 => (ModelError::RateLimited { retry_after }, Again::Later),
            408 | 409 | 500.. => (ModelError::Unavailable, Again::Later),
            _ => (ModelError::Rejected, Again::Never),
        }
    }
}

fn of_kind(kind: Kind) -> (ModelError, Again) {
    match kind {
        Kind::Quota => (ModelError::QuotaExhausted, Again::Never),
        Kind::Content => (ModelError::ContentFiltered, Again::Never),
        Kind::Context => (ModelError::ContextTooLong, Again::Never),
        Kind::Tools => (ModelError::ToolsUnsupported, Again::Never),
        Kind::UsageOption => (ModelError::Rejected, Again::Amended(Amendment::NoUsageOption)),
        Kind::ForcedChoice => (ModelError::Rejected, Again::Amended(Amendment::NoForcedChoice)),
        Kind::Signatures => (ModelError::Rejected, Again::Amended(Amendment::Signatures)),
        Kind::Reasoning => (ModelError::Rejected, Again::Amended(Amendment::Reasoning)),
        Kind::Limit => (ModelError::Rejected, Again::Amended(Amendment::OtherLimit)),
        Kind::Temperature => (ModelError::Rejected, Again::Amended(Amendment::NoTemperature)),
        Kind::TopP => (ModelError::Rejected, Again::Amended(Amendment::NoTopP)),
        Kind::Thinking => (ModelError::Rejected, Again::Amended(Amendment::NoThinking)),
        Kind::Effort => (ModelError::Rejected, Again::Amended(Amendment::NoEffort)),
    }
}
