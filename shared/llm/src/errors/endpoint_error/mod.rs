//! Parses the errors of endpoints and classifies them by the next action.
//!
//! Endpoints report the same error in different fields: the status, a code, a type, or only a sentence. Only the kind of
//! the error, the requested wait and a code for the log leave the crate, and calls that a provider rejected.

mod failed_calls;
mod help;
mod meaning;
mod parameters;
mod refusals;
mod wait;

use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::errors::attempt_error::is_loggable_code;
use crate::errors::{AttemptError, RetryAdvice};
use crate::{ModelError, NativeCall};

use meaning::{FAILED_CALL, TOO_FAST, permanent};
pub(crate) use wait::is_plausible_wait;

/// The maximum depth of JSON inside strings of an error.
const MAX_NESTING: u32 = 3;

/// The names of Azure's filters, with the text for users. Any other name may be anything.
// https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter-annotations, written from memory, 2026-11-26.
const CATEGORIES: &[(&str, &str)] = &[
    ("hate", "hate"),
    ("self_harm", "self-harm"),
    ("sexual", "sexual content"),
    ("violence", "violence"),
    ("jailbreak", "an attempt to evade the rules"),
    ("indirect_attack", "instructions hidden in a document"),
    ("profanity", "profanity"),
    ("protected_material_text", "protected text"),
    ("protected_material_code", "protected code"),
];

#[derive(Debug, Default)]
pub(crate) struct EndpointError {
    /// The first status in the body; in a stream it is the only one.
    status: Option<u16>,
    /// Codes, types and names of states.
    codes: Vec<String>,
    /// Messages for people, in lower case; each is between line breaks.
    text: String,
    /// The wait in a field of its own.
    wait: Option<Duration>,
    failed_calls: Vec<NativeCall>,
    category: Option<&'static str>,
}

impl EndpointError {
    /// Parses an error of any structure, also one that is framed as an event. A body that is not JSON is used as the
    /// message.
    pub(crate) fn parse(body: &str) -> Self {
        let mut error = Self::default();
        if !error.collect_json(body, 0) && !error.collect_events(body) {
            error.add_text(body);
        }
        error
    }

    /// Parses an error of AWS, whose type is not in its body but in the header `x-amzn-errortype`, as `Type:http://…`, or in
    /// the name of an exception's frame. An empty `kind` is none.
    pub(crate) fn parse_aws(kind: &str, body: &str) -> Self {
        let mut error = Self::parse(body);
        let kind = kind.split(':').next().unwrap_or_default().trim();
        if !kind.is_empty() {
            error.codes.insert(0, kind.to_owned());
        }
        error
    }

    /// Converts an error that came with an HTTP error status. `retry_after` is the wait in the headers.
    pub(crate) fn to_attempt_error(&self, status: u16, retry_after: Option<Duration>) -> AttemptError {
        let retry_after = retry_after.or_else(|| self.wait_in_body(status));
        let (error, advice, is_of_request) = self.classify(status, retry_after);
        let code = self.codes.iter().find(|code| *code != "error" && is_loggable_code(code)).cloned();
        let failed_calls = self.failed_calls.clone();
        let help = help::of(&self.codes, &self.text);
        AttemptError { error, advice, retry_after, status: Some(status), code, failed_calls, is_of_request, help }
    }

    /// Converts an error inside a response of status 200.
    pub(crate) fn to_stream_error(&self) -> AttemptError {
        let status = self.status.or_else(|| self.codes.iter().find_map(|code| meaning::status_of_code(code)));
        self.to_attempt_error(status.unwrap_or(500), None)
    }

    fn wait_in_body(&self, status: u16) -> Option<Duration> {
        let wait = self.wait.or_else(|| wait::of_message(&self.text));
        wait.filter(|wait| matches!(status, 429 | 503) && is_plausible_wait(*wait))
    }

    /// Collects the values of JSON; false if `text` is something else.
    fn collect_json(&mut self, text: &str, depth: u32) -> bool {
        match serde_json::from_str::<Value>(text.trim()) {
            Ok(value) => {
                self.collect("message", &value, depth);
                true
            }
            Err(_) => false,
        }
    }

    /// Collects the data of events: `DashScope` frames an error as one if the request was for a stream.
    fn collect_events(&mut self, body: &str) -> bool {
        let mut found = false;
        for data in body.lines().filter_map(|line| line.strip_prefix("data:")) {
            found |= self.collect_json(data, 0);
        }
        found
    }

    /// Collects values by field name: the nesting differs too widely between endpoints for types.
    fn collect(&mut self, name: &str, value: &Value, depth: u32) {
        match value {
            Value::Object(fields) if name == "base_resp" => {
                fields.iter().for_each(|(name, value)| self.collect_base_resp(name, value));
            }
            Value::Object(fields) => {
                let category = CATEGORIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text);
                let is_filtered = fields.get("filtered") == Some(&Value::Bool(true));
                self.category = self.category.or(category.filter(|_| is_filtered));
                fields.iter().for_each(|(name, value)| self.collect(name, value, depth));
            }
            Value::Array(path) if name == "loc" => self.add_path(path),
            Value::Array(items) => items.iter().for_each(|item| self.collect(name, item, depth)),
            Value::Number(number) if matches!(name, "code" | "status" | "status_code" | "statusCode" | "http_code") => {
                self.add_code(&number.to_string());
            }
            Value::Number(number) if name.eq_ignore_ascii_case("x-ratelimit-reset") => {
                self.add_reset(&number.to_string());
            }
            Value::String(text) => self.collect_text(name, text, depth),
            _ => {}
        }
    }

    fn collect_text(&mut self, name: &str, text: &str, depth: u32) {
        match name {
            "code" | "type" | "status" | "reason" => self.add_code(text),
            // OpenRouter relays the error of a provider as text.
            "raw" | "message" | "Message"
                if depth < MAX_NESTING && is_json(text) && self.collect_json(text, depth + 1) => {}
            "message" | "Message" | "msg" | "error" | "detail" | "raw" | "param" | "quotaId" => self.add_text(text),
            "retryDelay" => self.wait = self.wait.or_else(|| wait::of_retry_delay(text)),
            "failed_generation" => self.failed_calls = failed_calls::parse(text),
            _ if name.eq_ignore_ascii_case("x-ratelimit-reset") => self.add_reset(text),
            _ => {}
        }
    }

    /// Collects the `base_resp` of `MiniMax`; other providers use the same numbers for other errors.
    fn collect_base_resp(&mut self, name: &str, value: &Value) {
        match value {
            Value::Number(number) if name == "status_code" => {
                let code = format!("base_resp.{number}");
                self.add_text(&code);
                self.codes.push(code);
            }
            Value::String(text) => self.add_text(text),
            _ => {}
        }
    }

    /// Adds the position of a wrong field, such as `body.tools.0`.
    fn add_path(&mut self, path: &[Value]) {
        let parts = path.iter().map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned));
        self.add_text(&parts.collect::<Vec<_>>().join("."));
    }

    fn add_reset(&mut self, text: &str) {
        self.wait = self.wait.or_else(|| wait::of_reset(text, SystemTime::now()));
    }

    fn add_code(&mut self, code: &str) {
        let status = code.parse().ok().filter(|status| (400..600).contains(status));
        self.status = self.status.or(status);
        self.codes.push(code.to_owned());
    }

    fn add_text(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(&text.to_lowercase());
        self.text.push('\n');
    }

    /// Returns the error for the caller, whether another attempt may help, and whether the model made the error.
    fn classify(&self, status: u16, retry_after: Option<Duration>) -> (ModelError, RetryAdvice, bool) {
        let known = refusals::meaning(status, &self.codes, &self.text).filter(|_| !(300..400).contains(&status));
        let meaning = match (known, status) {
            (Some(meaning), _) => meaning,
            (None, 300..=399) => permanent(ModelError::BadResponse),
            (None, 401 | 403) => permanent(ModelError::Auth),
            (None, 402) => permanent(ModelError::QuotaExhausted),
            (None, 413) => permanent(ModelError::ContextTooLong),
            (None, 429) => TOO_FAST,
            // Not available for legal reasons.
            (None, 451) => permanent(refusals::CONTENT_FILTERED),
            // 424: a model of Bedrock failed. 498: Groq has no capacity.
            (None, 408 | 409 | 424 | 498 | 500..) => (ModelError::Unavailable, RetryAdvice::Later),
            (None, _) => permanent(ModelError::Rejected),
        };
        let is_of_request = meaning == FAILED_CALL;
        let error = match meaning.0 {
            ModelError::ContentFiltered { .. } => ModelError::ContentFiltered { category: self.category },
            ModelError::RateLimited { .. } => ModelError::RateLimited { retry_after },
            other => other,
        };
        (error, meaning.1, is_of_request)
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}
