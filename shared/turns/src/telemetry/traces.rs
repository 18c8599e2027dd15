//! Sends the spans of turns to a collector: OTLP over HTTP, in JSON.
//!
//! No turn waits for it. Spans are kept in memory until they are sent, up to a limit; beyond it the oldest are dropped.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use percent_encoding::percent_decode_str;
use platform::aws::{AwsCredentials, Call, Method, Service};
use platform::secrets::Secret;
use platform::settings::{SettingError, Settings, parse_base_url};
use platform::transport::{Client, FetchError, fetch};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use work::lock;

use super::report::TurnReport;
use super::spans::{parse_parent, write_spans};

/// The endpoint of all signals, to which the path of traces is added.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The endpoint of traces as it is, instead of the other one.
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

const CAPTURE_CONTENT: &str = "OTEL_CAPTURE_CONTENT";

/// Timeout of a request, and so how long an invocation of Lambda lasts at most after its answer has left.
const SEND_TIMEOUT: Duration = Duration::from_secs(3);

/// How long nothing is sent after a failure.
const PAUSE: Duration = Duration::from_mins(1);

/// How often spans are sent that the collector does not take.
const MAX_ATTEMPTS: u32 = 5;

/// How long before the end of an invocation of Lambda its last request ends.
const INVOCATION_MARGIN: Duration = Duration::from_millis(500);

/// Maximum size of the spans that wait, in bytes.
const MAX_PENDING_BYTES: usize = 1024 * 1024;

/// Where traces are sent; nowhere by default.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<Exporter>>);

struct Exporter {
    http: Client,
    url: String,
    /// The variable of the URL, and what is added to its value.
    source: (&'static str, &'static str),
    /// What signs requests, if the host is Amazon's.
    signer: Option<Service>,
    headers: Option<Secret>,
    /// The beginning of each request's body, up to the spans.
    preamble: String,
    captures_content: bool,
    /// Whether spans are sent only by [`Traces::flush`].
    is_deferred: bool,
    pending: Mutex<Pending>,
    sending: tokio::sync::Mutex<()>,
}

/// The spans that wait.
#[derive(Default)]
struct Pending {
    /// Those of one turn each, oldest first.
    turns: VecDeque<String>,
    bytes: usize,
    /// The number of turns that were dropped since the last warning.
    lost: usize,
    failed_at: Option<SystemTime>,
    /// The number of failures since the last success.
    failures: u32,
}

impl Traces {
    /// Reads `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS` and
    /// `OTEL_CAPTURE_CONTENT`. Without an endpoint nothing is computed. With `is_deferred` spans are sent only by
    /// [`Traces::flush`], for a process that is frozen between turns.
    ///
    /// # Errors
    /// A value that is not as its meaning requires or has none without an endpoint, or no credentials for Amazon's.
    pub fn from_settings(settings: &Settings, http: &Client, is_deferred: bool) -> Result<Self, SettingError> {
        let captures_content = settings.is_yes(CAPTURE_CONTENT)?;
        let headers = Secret::text_from_settings(settings, HEADERS)?;
        let is_exact = settings.var(TRACES_ENDPOINT).is_some();
        let source = if is_exact { (TRACES_ENDPOINT, "") } else { (ENDPOINT, "/v1/traces") };
        let url = settings.parse(source.0, "an http or https URL", parse_base_url)?;
        let signer = url.as_deref().and_then(region_of).map(|region| signer(settings, source.0, region)).transpose()?;
        let by_value = headers.as_ref().and_then(Secret::peek);
        if by_value.is_some_and(|text| parse_headers(text.expose_secret(), signer.is_some()).is_none()) {
            let accepted = "NAME=VALUE pairs with commas between them, or aws with an endpoint of Amazon";
            return Err(SettingError::new(HEADERS, accepted));
        }
        let Some(url) = url else {
            let unused = [(HEADERS, headers.is_some()), (CAPTURE_CONTENT, captures_content)];
            let Some((variable, _)) = unused.into_iter().find(|(_, is_set)| *is_set) else {
                return Ok(Self::default());
            };
            return Err(SettingError::new(variable, format!("{ENDPOINT} to be set too")));
        };
        Ok(Self(Some(Arc::new(Exporter {
            http: http.clone(),
            url: url + source.1,
            source,
            signer,
            headers,
            preamble: preamble(settings.var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or("lambda-chat")),
            captures_content,
            is_deferred,
            pending: Mutex::default(),
            sending: tokio::sync::Mutex::default(),
        }))))
    }

    /// The URL to which users' text may be sent, and the variable that sets it.
    pub fn endpoint(&self) -> Option<(&str, &'static str)> {
        self.0.as_deref().map(|exporter| (exporter.url.as_str(), exporter.source.0))
    }

    /// Whether spans have the text of users and models.
    pub(crate) fn captures_content(&self) -> bool {
        self.0.as_ref().is_some_and(|exporter| exporter.captures_content)
    }

    /// Keeps the spans of a finished turn, and begins to send them unless that is deferred. A caller that does not sample
    /// its own trace gets none.
    pub(crate) fn turn(&self, report: &TurnReport<'_>, now: SystemTime) {
        let Some(exporter) = &self.0 else { return };
        let parent = match report.request.trace_parent.as_deref().and_then(parse_parent) {
            Some((.., false)) => return,
            parent => parent.map(|(trace, span, _)| (trace, span)),
        };
        lock(&exporter.pending).push(write_spans(report, parent, now));
        if !exporter.is_deferred {
            let traces = self.clone();
            tokio::spawn(async move { traces.flush(None).await });
        }
    }

    /// Sends the spans that wait; returns after some seconds at the latest, and before the invocation of Lambda ends.
    pub async fn flush(&self, invocation_end: Option<Instant>) {
        let Some(exporter) = &self.0 else { return };
        let end = invocation_end.and_then(|end| end.checked_sub(INVOCATION_MARGIN));
        let until = |time: Duration| end.into_iter().fold(Instant::now() + time, Instant::min);
        // One request at a time: concurrent ones would wait for the same collector.
        let Ok(_sending) = timeout_at(until(PAUSE), exporter.sending.lock()).await else { return };
        let limit = until(SEND_TIMEOUT);
        if Instant::now() >= limit {
            return;
        }
        let Some(turns) = lock(&exporter.pending).take(SystemTime::now()) else { return };
        let body = format!("{}{}]}}]}}]}}", exporter.preamble, turns.join(","));
        let late = || Err(FetchError { reason: "no answer in time".to_owned(), is_transient: true });
        match timeout_at(limit, exporter.send(body)).await.unwrap_or_else(|_| late()) {
            Ok(rejected) => {
                lock(&exporter.pending).failures = 0;
                if rejected > 0 {
                    tracing::warn!(rejected, "the collector rejected spans of turns");
                }
            }
            Err(error) => {
                let lost = lock(&exporter.pending).record_failure(turns, error.is_transient, SystemTime::now());
                tracing::warn!(reason = error.reason, lost, "the spans of turns could not be sent");
            }
        }
    }
}

impl Exporter {
    /// Returns the number of spans that the collector has rejected.
    async fn send(&self, body: String) -> Result<i64, FetchError> {
        let failed = |reason: String| FetchError { reason, is_transient: true };
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        if let Some(secret) = &self.headers {
            let text = secret.get().await.map_err(|error| failed(error.to_string()))?;
            let parsed = parse_headers(text.expose_secret(), self.signer.is_some());
            headers.extend(parsed.ok_or_else(|| failed(format!("{HEADERS} has no NAME=VALUE pairs")))?);
        }
        let headers: Vec<_> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let request = if let Some(signer) = &self.signer {
            let (method, path) = (Method::POST, self.source.1);
            let call = Call { method, path, headers: &headers, body: body.into_bytes() };
            let request = signer.signed_request(&self.http, call, SystemTime::now()).await;
            request.map_err(|error| failed(error.to_string()))?
        } else {
            let request = self.http.post(&self.url).body(body);
            headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
        };
        fetch(request, SEND_TIMEOUT, "code").await.map(|response| rejected_spans(&response))
    }
}

impl Pending {
    /// Adds the spans of the newest turn.
    fn push(&mut self, spans: String) {
        self.bytes += spans.len();
        self.turns.push_back(spans);
        self.trim();
    }

    /// Drops the oldest spans beyond the limit.
    fn trim(&mut self) {
        while self.bytes > MAX_PENDING_BYTES
            && let Some(oldest) = self.turns.pop_front()
        {
            self.bytes -= oldest.len();
            self.lost += 1;
        }
    }

    /// Removes and returns the spans that wait; `None` if there are none, or shortly after a failure.
    fn take(&mut self, now: SystemTime) -> Option<Vec<String>> {
        let since = self.failed_at.and_then(|at| now.duration_since(at).ok());
        if self.turns.is_empty() || since.is_some_and(|since| since < PAUSE) {
            return None;
        }
        self.bytes = 0;
        Some(self.turns.drain(..).collect())
    }

    /// Keeps the spans that could not be sent, if they may be sent later. Returns the number of turns that were lost since the
    /// last failure.
    fn record_failure(&mut self, turns: Vec<String>, is_transient: bool, now: SystemTime) -> usize {
        (self.failed_at, self.failures) = (Some(now), self.failures + 1);
        // A collector may fail because of what these are.
        if is_transient && self.failures < MAX_ATTEMPTS {
            self.bytes += turns.iter().map(String::len).sum::<usize>();
            turns.into_iter().rev().for_each(|spans| self.turns.push_front(spans));
            self.trim();
        } else {
            self.lost += turns.len();
            self.failures = 0;
        }
        std::mem::take(&mut self.lost)
    }
}

/// The number of spans that a response has as rejected; 64-bit integers may be text. Source: "Partial Success" of the OTLP
/// specification 1.9, 2026-11.
fn rejected_spans(response: &[u8]) -> i64 {
    let response: Value = serde_json::from_slice(response).unwrap_or_default();
    let count = &response["partialSuccess"]["rejectedSpans"];
    count.as_i64().or_else(|| count.as_str()?.parse().ok()).unwrap_or_default()
}

/// The beginning of a request's body, up to its spans.
fn preamble(service: &str) -> String {
    let attributes = [("service.name", service), ("service.version", env!("CARGO_PKG_VERSION"))];
    let attributes = attributes.map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}));
    let resource = json!({ "attributes": attributes });
    format!(r#"{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{{"name":"lambda-chat"}},"spans":["#)
}

/// Parses pairs with percent-encoded values; `aws` has none, and only where requests are signed. Source: "Specifying headers
/// via environment variables" of the OTLP exporter specification, 2026-11.
fn parse_headers(text: &str, is_signed: bool) -> Option<Vec<(String, String)>> {
    if text == "aws" {
        return is_signed.then(Vec::new);
    }
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (name.trim(), percent_decode_str(value.trim()).decode_utf8().ok()?);
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        let is_value = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        (is_name && is_value).then(|| (name.to_owned(), value.into_owned()))
    };
    text.split(',').filter(|text| !text.trim().is_empty()).map(pair).collect()
}

/// The region of an endpoint of Amazon for traces.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-OTLPEndpoint.html, 2026-11.
fn region_of(url: &str) -> Option<&str> {
    let host = url.strip_prefix("https://xray.")?.split('/').next()?;
    let region = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-').then_some(region)
}

/// What signs the requests to an endpoint of Amazon, in its own region.
fn signer(settings: &Settings, variable: &str, region: &str) -> Result<Service, SettingError> {
    if !AwsCredentials::are_configured(settings) {
        return Err(SettingError::new("AWS_ACCESS_KEY_ID", format!("an access key id, for {variable}")));
    }
    let mut regional = settings.clone();
    regional.set("AWS_REGION", region);
    Service::from_settings(&regional, "xray", variable)
}

#[cfg(test)]
mod tests;
