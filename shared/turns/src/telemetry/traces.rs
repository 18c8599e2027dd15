//! Traces for AWS X-Ray: a span for the turn, with a child span for each attempt of a model call and each tool call.
//!
//! Each span is one JSON document in one UDP datagram to the X-Ray daemon, so a turn never waits for it. Sources: "AWS X-Ray
//! segment documents" and "Sending trace data to AWS X-Ray" in the X-Ray developer guide.

use std::hash::{BuildHasher, RandomState};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use platform::settings::{SettingError, Settings};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::report::{TurnReport, call_outcome};

/// The header of every datagram.
const HEADER: &str = "{\"format\": \"json\", \"version\": 1}\n";

/// Maximum length of a span's name, in characters.
const MAX_NAME: usize = 200;

/// Where traces are sent; nowhere by default.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<UdpSocket>>);

impl Traces {
    /// Reads `AWS_XRAY_DAEMON_ADDRESS`. If it is unset or no socket can be opened, nothing is sent.
    ///
    /// # Errors
    /// A value that is not an address with a port.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let parse = |text: &str| text.parse::<SocketAddr>().ok();
        let daemon = settings.parse("AWS_XRAY_DAEMON_ADDRESS", "an address with a port", parse)?;
        Ok(Self(daemon.and_then(|daemon| connect(daemon).ok()).map(Arc::new)))
    }

    /// Sends the spans of a finished turn, if its invocation is sampled.
    pub(crate) fn turn(&self, report: &TurnReport<'_>, now: SystemTime) {
        let header = report.request.trace.as_deref();
        let (Some(socket), Some(parent)) = (&self.0, header.and_then(ParentSpan::parse_sampled)) else { return };
        for span in spans(report, &parent, now) {
            // A daemon that is missing or overloaded does not delay the turn.
            let _lost = socket.send(format!("{HEADER}{span}").as_bytes());
        }
    }
}

fn connect(daemon: SocketAddr) -> std::io::Result<UdpSocket> {
    let any: SocketAddr = if daemon.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any)?;
    socket.connect(daemon)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// The span of the invocation, the parent of a turn's span.
#[derive(Debug, PartialEq, Eq)]
struct ParentSpan<'a> {
    trace: &'a str,
    span: &'a str,
}

impl<'a> ParentSpan<'a> {
    /// Parses `Root=…;Parent=…;Sampled=1`; `None` if the invocation is not sampled.
    fn parse_sampled(header: &'a str) -> Option<Self> {
        let field = |name: &str| header.split(';').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
        (field("Sampled")? == "1").then_some(())?;
        Some(Self { trace: field("Root")?, span: field("Parent")? })
    }
}

fn spans(report: &TurnReport<'_>, parent: &ParentSpan<'_>, now: SystemTime) -> Vec<Value> {
    let received_at = Instant::from_std(report.request.received_at);
    let span = |parent: &ParentSpan<'_>, name: &str, from: Instant, to: Instant, failed: bool| {
        json!({
            "type": "subsegment",
            "id": new_span_id(),
            "trace_id": parent.trace,
            "parent_id": parent.span,
            "name": span_name(name),
            "start_time": unix_seconds(from, report.ended_at, now),
            "end_time": unix_seconds(to, report.ended_at, now),
            "fault": failed,
        })
    };
    let mut whole = span(parent, "turn", received_at, report.ended_at, report.outcome.is_err());
    whole["annotations"] = json!({
        "requestId": report.request.request_id,
        "conversationId": report.conversation_id,
        "turnId": report.turn_id,
        "end": report.outcome_label(),
    });
    let id = whole["id"].as_str().unwrap_or_default().to_owned();
    let within = ParentSpan { trace: parent.trace, span: &id };
    let attempts = report.attempts.iter().map(|attempt| {
        let (name, to) = (format!("model {}", attempt.model), attempt.ended_at.unwrap_or(report.ended_at));
        let mut span = span(&within, &name, attempt.started_at, to, attempt.error_kind.is_some());
        span["annotations"] = json!({"attempt": attempt.number, "outcome": attempt.error_kind.unwrap_or("ok")});
        span["namespace"] = json!("remote");
        span
    });
    let calls = report.state.calls().map(|call| {
        let took = call.outcome.map(|outcome| Duration::from_millis(outcome.duration_ms));
        let (name, to) = (format!("tool {}", report.tool_label(&call)), took.map(|took| call.called_at + took));
        let failed = call.outcome.is_some_and(|outcome| !outcome.ok);
        let cached = call.outcome.is_some_and(|outcome| outcome.cached);
        let mut span = span(&within, &name, call.called_at, to.unwrap_or(report.ended_at), failed);
        span["annotations"] = json!({"outcome": call_outcome(&call), "cached": cached});
        span
    });
    let parts: Vec<Value> = attempts.chain(calls).collect();
    [whole].into_iter().chain(parts).collect()
}

/// The wall-clock time of an instant, in seconds since 1970; `now` is that of `known`.
fn unix_seconds(instant: Instant, known: Instant, now: SystemTime) -> f64 {
    let at = now + instant.saturating_duration_since(known);
    let at = at.checked_sub(known.saturating_duration_since(instant));
    at.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default().as_secs_f64()
}

/// A name with only the characters that X-Ray accepts.
fn span_name(name: &str) -> String {
    let replace =
        |letter: char| if letter.is_alphanumeric() || " _.:/%&#=+\\-@".contains(letter) { letter } else { '_' };
    name.chars().take(MAX_NAME).map(replace).collect()
}

/// A random span id of 16 hexadecimal digits.
fn new_span_id() -> String {
    format!("{:016x}", RandomState::new().hash_one(Instant::now()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sampled_invocations_have_a_parent_span() {
        let header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a:0";
        let parent = ParentSpan { trace: "1-5759e988-bd862e3fe1be46a994272793", span: "53995c3f42cd8ad8" };
        assert_eq!(ParentSpan::parse_sampled(header), Some(parent));
        for other in
            ["", "Root=1-a;Parent=b;Sampled=0", "Root=1-a;Parent=b", "Root=1-a;Sampled=1", "Parent=b;Sampled=1"]
        {
            assert_eq!(ParentSpan::parse_sampled(other), None, "{other}");
        }
    }

    #[test]
    fn span_has_accepted_name_and_unique_id() {
        assert_eq!(span_name("model 火山\n\"x\""), "model 火山__x_");
        let (one, other) = (new_span_id(), new_span_id());
        assert!(one != other && [&one, &other].iter().all(|id| id.len() == 16));
    }

    #[test]
    fn invalid_daemon_address_is_rejected() {
        let error = |text| Traces::from_settings(&Settings::from_pairs([("AWS_XRAY_DAEMON_ADDRESS", text)])).err();
        assert_eq!(error("nowhere").unwrap().variable, "AWS_XRAY_DAEMON_ADDRESS");
        assert!(error("127.0.0.1:2000").is_none());
    }
}
