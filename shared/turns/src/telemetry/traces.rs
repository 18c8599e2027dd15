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
use serde_json::json;
use tokio::time::timeout;
use work::lock;

use super::report::TurnReport;
use super::spans::{parse_parent, write_spans};

/// The endpoint of all signals, to which the path of traces is added.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The endpoint of traces as it is, instead of the other one.
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

/// Timeout of a request, and so how long an invocation of Lambda lasts at most after its answer has left.
const SEND_TIMEOUT: Duration = Duration::from_secs(3);

/// How long nothing is sent after a failure.
const PAUSE: Duration = Duration::from_mins(1);

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
}

impl Traces {
    /// Reads `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_HEADERS` and
    /// `OTEL_CAPTURE_CONTENT`. Without an endpoint nothing is computed. With `is_deferred` spans are sent only by
    /// [`Traces::flush`], for a process that is frozen between turns.
    ///
    /// # Errors
    /// A value that is not as its meaning requires, or no credentials for an endpoint of Amazon.
    pub fn from_settings(settings: &Settings, http: &Client, is_deferred: bool) -> Result<Self, SettingError> {
        let captures_content = settings.is_yes("OTEL_CAPTURE_CONTENT")?;
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
        let Some(url) = url else { return Ok(Self::default()) };
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
            tokio::spawn(async move { traces.flush().await });
        }
    }

    /// Sends the spans that wait; returns after some seconds at the latest.
    pub async fn flush(&self) {
        let Some(exporter) = &self.0 else { return };
        // One request at a time: concurrent ones would wait for the same collector.
        let _sending = exporter.sending.lock().await;
        let Some(turns) = lock(&exporter.pending).take(SystemTime::now()) else { return };
        let body = format!("{}{}]}}]}}]}}", exporter.preamble, turns.join(","));
        let late = || Err(FetchError { reason: "no answer in time".to_owned(), is_transient: true });
        if let Err(error) = timeout(SEND_TIMEOUT, exporter.send(body)).await.unwrap_or_else(|_| late()) {
            let lost = lock(&exporter.pending).record_failure(turns, error.is_transient, SystemTime::now());
            tracing::warn!(reason = error.reason, lost, "the spans of turns could not be sent");
        }
    }
}

impl Exporter {
    async fn send(&self, body: String) -> Result<(), FetchError> {
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
        fetch(request, SEND_TIMEOUT, "code").await.map(drop)
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
        self.failed_at = Some(now);
        if is_transient {
            self.bytes += turns.iter().map(String::len).sum::<usize>();
            turns.into_iter().rev().for_each(|spans| self.turns.push_front(spans));
            self.trim();
        } else {
            self.lost += turns.len();
        }
        std::mem::take(&mut self.lost)
    }
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
mod tests {
    use super::*;

    const AWS: [(&str, &str); 3] =
        [("AWS_REGION", "us-east-1"), ("AWS_ACCESS_KEY_ID", "AKIA"), ("AWS_SECRET_ACCESS_KEY", "canary")];
    const AMAZON: (&str, &str) = (ENDPOINT, "https://xray.eu-west-1.amazonaws.com");

    fn read(pairs: &[(&str, &str)]) -> Result<Option<Arc<Exporter>>, String> {
        let settings = Settings::from_pairs(pairs.iter().copied());
        let http = platform::transport::build_client().unwrap();
        Traces::from_settings(&settings, &http, false).map(|traces| traces.0).map_err(|error| error.variable)
    }

    #[tokio::test]
    async fn requests_to_amazon_are_signed_in_its_region() {
        let exact = (TRACES_ENDPOINT, "https://xray.eu-west-1.amazonaws.com/v1/traces");
        for pairs in [&[AMAZON][..], &[AMAZON, (HEADERS, "aws")], &[exact]] {
            let exporter = read(&[&AWS, pairs].concat()).unwrap().unwrap();
            assert_eq!(exporter.url, exact.1);
            let (signer, path) = (exporter.signer.as_ref().unwrap(), exporter.source.1);
            let call = Call { method: Method::POST, path, headers: &[], body: b"{}".to_vec() };
            let request = signer.signed_request(&exporter.http, call, SystemTime::UNIX_EPOCH).await.unwrap();
            let request = request.build().unwrap();
            assert_eq!(request.url().as_str(), exact.1);
            let authorization = request.headers()["authorization"].to_str().unwrap();
            let scope = "AWS4-HMAC-SHA256 Credential=AKIA/19700101/eu-west-1/xray/aws4_request, ";
            assert!(authorization.starts_with(scope), "{authorization}");
        }
    }

    #[test]
    fn other_hosts_get_no_signature() {
        for url in [
            "https://cloud.langfuse.com/api/public/otel",
            "http://xray.eu-west-1.amazonaws.com",
            "https://xray.eu-west-1.amazonaws.com.example",
            "https://xray.eu-west-1.amazonaws.com:8443",
            "https://evil.example/xray.eu-west-1.amazonaws.com",
        ] {
            let exporter = read(&[&AWS[..], &[(ENDPOINT, url)]].concat()).unwrap().unwrap();
            assert!(exporter.signer.is_none(), "{url}");
            assert_eq!(exporter.url, format!("{url}/v1/traces"));
        }
        assert_eq!(region_of("https://xray.cn-north-1.amazonaws.com.cn/v1/traces"), Some("cn-north-1"));
        let collector = (ENDPOINT, "http://127.0.0.1:4318");
        assert_eq!(read(&[collector, (HEADERS, "aws")]).err().as_deref(), Some(HEADERS));
        assert_eq!(read(&[AMAZON]).err().as_deref(), Some("AWS_ACCESS_KEY_ID"));
        assert!(read(&AWS).unwrap().is_none(), "without an endpoint there is nothing to send");
    }

    #[test]
    fn headers_are_pairs_with_percent_encoded_values() {
        let pairs = |text: &str| {
            let owned = parse_headers(text, false)?;
            Some(owned.iter().map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n"))
        };
        let basic = "authorization=Basic%20cGs6c2s=, x-team = a%2Cb,";
        assert_eq!(pairs(basic).as_deref(), Some("authorization: Basic cGs6c2s=\nx-team: a,b"));
        assert_eq!(pairs("authorization=Basic cGs6c2s=").as_deref(), Some("authorization: Basic cGs6c2s="));
        for other in ["canary", "=canary", "a b=canary", "a=%0d%0aCanary: 1", "a=é", "aws"] {
            assert_eq!(pairs(other), None, "{other}");
        }
        assert_eq!(parse_headers("aws", true), Some(Vec::new()));
    }

    #[test]
    fn oldest_spans_are_dropped_beyond_the_limit() {
        let mut pending = Pending::default();
        for turn in ["a", "b", "c"] {
            pending.push(turn.repeat(MAX_PENDING_BYTES * 2 / 5));
        }
        assert_eq!((pending.turns.len(), pending.lost), (2, 1));
        let now = SystemTime::now();
        let turns = pending.take(now).unwrap();
        assert!(turns[0].starts_with('b') && pending.take(now).is_none() && pending.bytes == 0);
        pending.push("d".repeat(MAX_PENDING_BYTES * 2 / 5));
        assert_eq!(pending.record_failure(turns, true, now), 2, "with the one that was lost before");
        assert_eq!((pending.turns.len(), pending.bytes), (2, MAX_PENDING_BYTES * 2 / 5 * 2));
        assert!(pending.turns[0].starts_with('c') && pending.turns[1].starts_with('d'));
    }

    #[test]
    fn nothing_is_sent_shortly_after_a_failure() {
        let (mut pending, now) = (Pending::default(), SystemTime::now());
        pending.push("a".to_owned());
        let turns = pending.take(now).unwrap();
        assert_eq!(pending.record_failure(turns, true, now), 0, "they wait for the next attempt");
        assert_eq!(pending.take(now + PAUSE / 2), None);
        let turns = pending.take(now + PAUSE).unwrap();
        assert_eq!(turns, ["a"]);
        assert_eq!(pending.record_failure(turns, false, now), 1, "the collector rejected them");
        assert_eq!(pending.take(now + PAUSE), None);
    }
}
