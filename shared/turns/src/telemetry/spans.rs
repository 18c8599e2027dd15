//! The spans of a turn in OTLP's JSON form, with the names of OpenTelemetry's conventions for generative AI.
//!
//! Sources: "JSON Protobuf Encoding" of the OTLP specification 1.9, and `docs/gen-ai` of
//! <https://github.com/open-telemetry/semantic-conventions-genai>, v0.1.0, whose names are not stable yet; 2026-11.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agent::CallRecord;
use domain::{ErrorCode, Usage};
use llm::{AttemptRecord, ModelClient};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::redaction::redact_arguments;
use super::report::{TurnContent, TurnReport, call_outcome};

/// `SPAN_KIND_INTERNAL`.
const INTERNAL: u8 = 1;

/// `SPAN_KIND_CLIENT`.
const CLIENT: u8 = 3;

/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

/// Maximum length of a captured text, in bytes.
const MAX_TEXT: usize = 32 * 1024;

/// Further text that is read for masking, in bytes.
const MASK_MARGIN: usize = 512;

/// The tools that search, and what they search.
const DATA_SOURCES: [(&str, &str); 2] = [("search_articles", "articles"), ("search_web", "web")];

/// The providers whose rows have another name than the conventions.
const PROVIDERS: [(&str, &str); 6] = [
    ("azure", "azure.ai.openai"),
    ("bedrock", "aws.bedrock"),
    ("gemini", "gcp.gemini"),
    ("mistral", "mistral_ai"),
    ("moonshot", "moonshot_ai"),
    ("vertex", "gcp.vertex_ai"),
];

/// The trace and the span of a header `traceparent`, and whether the caller samples the trace; `None` if it is invalid. Source:
/// W3C Trace Context, section 3.2.
pub(super) fn parse_parent(header: &str) -> Option<(&str, &str, bool)> {
    let mut fields = header.split('-');
    let is_hex = |field: &str| field.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    let mut next = |length: usize| fields.next().filter(|field| field.len() == length && is_hex(field));
    let (version, trace, span, flags) = (next(2)?, next(32)?, next(16)?, next(2)?);
    let is_empty = |field: &str| field.bytes().all(|digit| digit == b'0');
    let is_unknown = version == "ff" || version == "00" && fields.next().is_some();
    let is_sampled = u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1);
    (!is_unknown && !is_empty(trace) && !is_empty(span)).then_some((trace, span, is_sampled))
}

/// The spans of a finished turn, which ended at `now`, with commas between them; below the span of `parent` in its trace.
pub(super) fn write_spans(report: &TurnReport<'_>, parent: Option<(&str, &str)>, now: SystemTime) -> String {
    let trace = parent.map_or_else(|| new_span_id() + &new_span_id(), |(trace, _)| trace.to_owned());
    let mut writer = SpanWriter { report, trace, now, text: String::new() };
    let turn = writer.write_turn(parent.map(|(_, span)| span));
    for (index, attempt) in report.attempts.iter().enumerate() {
        let counted = report.state.reply_usages.iter().find(|(attempts, _)| *attempts == index + 1);
        writer.write_attempt(&turn, attempt, counted.map(|(_, usage)| usage));
    }
    report.state.calls().for_each(|call| writer.write_call(&turn, &call));
    writer.text
}

struct SpanWriter<'a> {
    report: &'a TurnReport<'a>,
    trace: String,
    now: SystemTime,
    text: String,
}

impl SpanWriter<'_> {
    fn write_turn(&mut self, parent: Option<&str>) -> String {
        let TurnReport { request, owner, agent, conversation_id, turn_id, state, usage, content, .. } = self.report;
        let conversation = (!conversation_id.is_empty()).then_some(conversation_id);
        let received_at = Instant::from_std(request.received_at);
        let first_text = state.first_text_at.map(|at| at.saturating_duration_since(received_at).as_secs_f64());
        let attributes = vec![
            ("gen_ai.operation.name", json!("invoke_agent")),
            ("gen_ai.agent.name", json!(agent)),
            ("gen_ai.conversation.id", json!(conversation)),
            ("gen_ai.response.time_to_first_chunk", json!(first_text)),
            ("gen_ai.input.messages", message("user", content.as_ref(), |content| content.question)),
            ("gen_ai.output.messages", message("assistant", content.as_ref(), |_| &state.answer.content)),
            ("session.id", json!(conversation)),
            ("user.id", json!(hex::encode(&Sha256::digest(owner.as_str().as_bytes())[..16]))),
            ("lambda_chat.cost_micros", json!(usage.cost_micros)),
            ("lambda_chat.end", json!(self.report.outcome_label())),
            ("lambda_chat.request_id", json!(request.request_id)),
            ("lambda_chat.turn_id", json!(turn_id)),
        ];
        let (time, error) = ([received_at, self.report.ended_at], self.report.outcome.err().map(ErrorCode::as_str));
        self.write(parent, &format!("invoke_agent {agent}"), INTERNAL, time, error, attributes)
    }

    fn write_attempt(&mut self, turn: &str, attempt: &AttemptRecord, usage: Option<&Usage>) {
        let model = self.report.models.iter().find(|model| model.config().name == attempt.model);
        let id = model.map_or(attempt.model.as_str(), |model| &model.config().model);
        let attributes = vec![
            ("gen_ai.operation.name", json!("chat")),
            ("gen_ai.provider.name", json!(model.map(provider_name))),
            ("gen_ai.request.model", json!(id)),
            ("gen_ai.usage.input_tokens", json!(usage.map(|usage| usage.input_tokens))),
            ("gen_ai.usage.cache_read.input_tokens", json!(usage.map(|usage| usage.cached_tokens))),
            ("gen_ai.usage.output_tokens", json!(usage.map(|usage| usage.output_tokens))),
            ("server.address", json!(model.and_then(|model| host_of(&model.config().base_url)))),
            ("lambda_chat.cost_micros", json!(usage.and_then(|usage| usage.cost_micros))),
            ("lambda_chat.model", json!(attempt.model)),
            ("lambda_chat.attempt", json!(attempt.number)),
        ];
        let time = [attempt.started_at, attempt.ended_at.unwrap_or(self.report.ended_at)];
        self.write(Some(turn), &format!("chat {id}"), CLIENT, time, attempt.error_kind, attributes);
    }

    fn write_call(&mut self, turn: &str, call: &CallRecord<'_>) {
        let ended_at = call.outcome.map(|outcome| call.called_at + Duration::from_millis(outcome.duration_ms));
        let time = [call.called_at, ended_at.unwrap_or(self.report.ended_at)];
        let error = call.outcome.is_none_or(|outcome| !outcome.ok).then(|| call_outcome(call));
        let (tool, content) = (self.report.tool_label(call), self.report.content.as_ref());
        let arguments = content.map(|content| redact_arguments(&call.call.arguments, content.redactor));
        let query = arguments.as_ref().and_then(|arguments| arguments.get("query").cloned());
        let attributes = vec![
            ("gen_ai.operation.name", json!("execute_tool")),
            ("gen_ai.tool.name", json!(tool)),
            ("gen_ai.tool.type", json!("function")),
            ("gen_ai.tool.call.arguments", json!(arguments)),
            ("lambda_chat.cached", json!(call.outcome.map(|outcome| outcome.cached))),
            ("lambda_chat.search_credits", json!(Some(call.credits).filter(|credits| *credits > 0))),
        ];
        let id = self.write(Some(turn), &format!("execute_tool {tool}"), INTERNAL, time, error, attributes);
        if let Some((_, source)) = DATA_SOURCES.iter().find(|(name, _)| *name == tool) {
            let attributes = vec![
                ("gen_ai.operation.name", json!("retrieval")),
                ("gen_ai.data_source.id", json!(source)),
                ("gen_ai.retrieval.query.text", json!(query)),
            ];
            self.write(Some(&id), &format!("retrieval {source}"), CLIENT, time, error, attributes);
        }
    }

    /// Writes a span and returns its id. An attribute without a value is left out.
    fn write(
        &mut self,
        parent: Option<&str>,
        name: &str,
        kind: u8,
        [from, to]: [Instant; 2],
        error: Option<&str>,
        mut attributes: Vec<(&str, Value)>,
    ) -> String {
        attributes.push(("error.type", json!(error)));
        let attributes = attributes.into_iter().filter(|(_, value)| !value.is_null());
        let attributes = attributes.map(|(key, value)| json!({"key": key, "value": any_value(value)}));
        let id = new_span_id();
        let span = json!({
            "traceId": self.trace,
            "spanId": id,
            "parentSpanId": parent.unwrap_or_default(),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": self.unix_nanos(from),
            "endTimeUnixNano": self.unix_nanos(to),
            "attributes": attributes.collect::<Vec<_>>(),
            "status": if error.is_some() { json!({"code": ERROR}) } else { json!({}) },
        });
        if !self.text.is_empty() {
            self.text.push(',');
        }
        self.text.push_str(&span.to_string());
        id
    }

    /// The wall-clock time of an instant, in nanoseconds since 1970; OTLP writes 64-bit integers as text.
    fn unix_nanos(&self, instant: Instant) -> String {
        let known = self.report.ended_at;
        let at = self.now + instant.saturating_duration_since(known);
        let at = at.checked_sub(known.saturating_duration_since(instant));
        at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default().as_nanos().to_string()
    }
}

/// A value in OTLP's JSON form; a structure is text.
fn any_value(value: Value) -> Value {
    match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Bool(flag) => json!({"boolValue": flag}),
        Value::Number(number) if number.is_f64() => json!({"doubleValue": number}),
        Value::Number(number) => json!({"intValue": number.to_string()}),
        other => json!({"stringValue": other.to_string()}),
    }
}

/// A text as the conventions' list of messages, if content is captured.
fn message<'a>(role: &str, content: Option<&TurnContent<'a>>, text: impl Fn(&TurnContent<'a>) -> &'a str) -> Value {
    content.map_or(Value::Null, |content| {
        let text = text(content);
        // What begins before the limit is masked as a whole.
        let text = content.redactor.redact_text(&text[..text.floor_char_boundary(MAX_TEXT + MASK_MARGIN)]);
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        json!([{"role": role, "parts": [{"type": "text", "content": text}]}])
    })
}

fn provider_name(model: &ModelClient) -> &'static str {
    let name = model.provider();
    PROVIDERS.iter().find(|(row, _)| *row == name).map_or(name, |(_, convention)| convention)
}

/// The host of a base URL, without its port.
fn host_of(base_url: &str) -> Option<&str> {
    base_url.split_once("://")?.1.split(['/', ':']).next()
}

/// A random span id of 16 hexadecimal digits; two are a trace id.
fn new_span_id() -> String {
    format!("{:016x}", RandomState::new().hash_one(Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn parent_is_that_of_a_valid_traceparent() {
        for (header, is_sampled) in [
            (format!("00-{TRACE}-{SPAN}-01"), true),
            (format!("00-{TRACE}-{SPAN}-00"), false),
            (format!("cc-{TRACE}-{SPAN}-03-more"), true),
        ] {
            assert_eq!(parse_parent(&header), Some((TRACE, SPAN, is_sampled)), "{header}");
        }
        let (no_trace, no_span, upper) = ("0".repeat(32), "0".repeat(16), TRACE.to_uppercase());
        for header in [
            "",
            TRACE,
            &format!("ff-{TRACE}-{SPAN}-01"),
            &format!("00-{TRACE}-{SPAN}-01-more"),
            &format!("00-{TRACE}-{SPAN}"),
            &format!("00-{no_trace}-{SPAN}-01"),
            &format!("00-{TRACE}-{no_span}-01"),
            &format!("00-{upper}-{SPAN}-01"),
            &format!("00-{TRACE}-{SPAN}-+1"),
            "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1",
        ] {
            assert_eq!(parse_parent(header), None, "{header}");
        }
    }

    #[test]
    fn span_ids_are_unique_and_of_one_length() {
        let (one, other) = (new_span_id(), new_span_id());
        assert!(one != other && [&one, &other].iter().all(|id| id.len() == 16));
    }
}
