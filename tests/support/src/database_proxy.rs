use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::json;
use tokio::sync::watch;

use crate::loopback::serve_router;
use crate::{Gate, with_timeout};

/// The headers of a DynamoDB request that a proxy forwards.
const FORWARDED_HEADERS: [&str; 4] = ["x-amz-target", "content-type", "authorization", "x-amz-date"];

/// A proxy in front of a DynamoDB endpoint that records operations and rejects those that a test chooses.
///
/// It rejects an operation with a `ValidationException`. An *event write* is a write that holds events of a turn's log,
/// with the turn's answer or without it.
pub struct DatabaseProxy {
    url: String,
    shared: Arc<ProxyState>,
}

/// What the proxy and its request handler share.
struct ProxyState {
    http: platform::transport::Client,
    upstream: String,
    event_writes: watch::Sender<usize>,
    rules: Mutex<ProxyRules>,
}

/// The recorded operations, and the rules for rejections.
struct ProxyRules {
    operations: Vec<String>,
    /// The number of event writes that succeed; later ones fail.
    allowed_event_writes: usize,
    /// The number of the next reads of events that fail.
    failing_event_reads: usize,
    /// Where set, event writes with an answer fail, and the event write after such a failure waits at this gate.
    separate: Option<Gate>,
    /// Whether the last event write failed because it held an answer.
    rejected_with_answer: bool,
    /// Whether transactions are forwarded and then rejected.
    loses_transactions: bool,
    /// The operation that fails, and how many of its next calls succeed before that.
    rejected: Option<(&'static str, usize)>,
}

impl DatabaseProxy {
    /// Starts a proxy in front of the DynamoDB endpoint at this URL; it rejects nothing yet.
    pub async fn start(upstream: &str) -> Self {
        let shared = Arc::new(ProxyState {
            http: platform::transport::build_client().expect("a client can be made"),
            upstream: upstream.to_owned(),
            event_writes: watch::Sender::new(0),
            rules: Mutex::new(ProxyRules {
                operations: Vec::new(),
                allowed_event_writes: usize::MAX,
                failing_event_reads: 0,
                separate: None,
                rejected_with_answer: false,
                loses_transactions: false,
                rejected: None,
            }),
        });
        let url = serve_router(Router::new().fallback(handle).with_state(Arc::clone(&shared))).await;
        Self { url, shared }
    }

    /// The URL of the proxy.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The URL of the database itself, for access that the proxy does not record.
    pub fn upstream(&self) -> &str {
        &self.shared.upstream
    }

    /// The number of event writes so far, including those over the limit of [`DatabaseProxy::limit_event_writes`].
    pub fn event_writes(&self) -> usize {
        *self.shared.event_writes.borrow()
    }

    /// Waits for `count` event writes.
    pub async fn wait_for_event_writes(&self, count: usize) {
        let mut changes = self.shared.event_writes.subscribe();
        let reached = with_timeout("writes of events", changes.wait_for(|now| *now >= count)).await;
        reached.expect("the counter outlives its subscribers");
    }

    /// The names of the operations since the last call, such as `Query`.
    pub fn take_operations(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.rules().operations)
    }

    /// Lets `count` event writes succeed, counted from the start; later ones fail.
    pub fn limit_event_writes(&self, count: usize) {
        self.shared.rules().allowed_event_writes = count;
    }

    /// Makes the next `count` reads of events fail.
    pub fn fail_event_reads(&self, count: usize) {
        self.shared.rules().failing_event_reads = count;
    }

    /// The number of reads of events that have yet to fail.
    pub fn failing_event_reads(&self) -> usize {
        self.shared.rules().failing_event_reads
    }

    /// Makes all transactions fail after they were applied, as if their responses were lost.
    pub fn lose_transactions(&self) {
        self.shared.rules().loses_transactions = true;
    }

    /// Makes all calls of an operation fail.
    pub fn reject(&self, operation: &'static str) {
        self.reject_after(0, operation);
    }

    /// Makes the calls of an operation fail after this many more have succeeded.
    pub fn reject_after(&self, count: usize, operation: &'static str) {
        self.shared.rules().rejected = Some((operation, count));
    }

    /// Makes event writes with an answer fail; the event write after such a failure waits at the gate.
    pub fn separate_events(&self, gate: Gate) {
        self.shared.rules().separate = Some(gate);
    }
}

impl ProxyState {
    fn rules(&self) -> MutexGuard<'_, ProxyRules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether to forward this operation; may wait at the gate of [`DatabaseProxy::separate_events`].
    async fn accept(&self, operation: &str, body: &[u8]) -> bool {
        let gate = self.rules().separate.clone();
        if let Some(gate) = gate.filter(|_| is_event_write(operation, body)) {
            let has_answer = !operation.ends_with(".BatchWriteItem");
            let was_rejected = std::mem::replace(&mut self.rules().rejected_with_answer, has_answer);
            if has_answer {
                return false;
            }
            if was_rejected {
                gate.pass().await;
            }
        }
        self.record(operation, body)
    }

    /// Records an operation and returns whether to forward it.
    fn record(&self, operation: &str, body: &[u8]) -> bool {
        let mut rules = self.rules();
        let name = operation.rsplit('.').next().unwrap_or_default();
        rules.operations.push(name.to_owned());
        if let Some((rejected, count)) = &mut rules.rejected
            && *rejected == name
        {
            let Some(left) = count.checked_sub(1) else { return false };
            *count = left;
        }
        if rules.failing_event_reads > 0 && operation.ends_with(".Query") && contains(body, b"#S#") {
            rules.failing_event_reads -= 1;
            return false;
        }
        if !is_event_write(operation, body) {
            return true;
        }
        self.event_writes.send_modify(|count| *count += 1);
        *self.event_writes.borrow() <= rules.allowed_event_writes
    }
}

fn is_event_write(operation: &str, body: &[u8]) -> bool {
    operation.contains("Write") && contains(body, b"\"events\":")
}

fn contains(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|part| part == text)
}

async fn handle(State(shared): State<Arc<ProxyState>>, headers: HeaderMap, body: Bytes) -> Response {
    let operation = headers["x-amz-target"].to_str().expect("operations are ASCII").to_owned();
    let is_forwarded = shared.accept(&operation, &body).await;
    let is_lost = shared.rules().loses_transactions && operation.ends_with(".TransactWriteItems");
    if is_forwarded && is_lost {
        forward_to_database(&shared.http, &shared.upstream, &headers, body.clone()).await;
    }
    if !is_forwarded || is_lost {
        let error = json!({ "__type": "com.amazonaws.dynamodb.v20120810#ValidationException" }).to_string();
        let response = Response::builder().status(StatusCode::BAD_REQUEST).body(Body::from(error));
        return response.expect("the response is well formed");
    }
    forward_to_database(&shared.http, &shared.upstream, &headers, body).await
}

/// Forwards a DynamoDB request and returns the database's response.
pub(crate) async fn forward_to_database(
    http: &platform::transport::Client,
    upstream: &str,
    headers: &HeaderMap,
    body: Bytes,
) -> Response {
    let request = FORWARDED_HEADERS.iter().fold(http.post(upstream).body(body), |request, name| {
        headers.get(*name).into_iter().fold(request, |request, value| request.header(*name, value))
    });
    let response = request.send().await.expect("the database responds");
    let status = response.status();
    let body = response.bytes().await.expect("the database's response has an end");
    Response::builder().status(status).body(Body::from(body)).expect("the response is well formed")
}
