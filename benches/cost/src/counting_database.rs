use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request as HttpRequest, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use dynoxide::Database;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, watch};

use crate::images::{Snapshot, WrittenItem};
use crate::request::Request;

/// Timeout for an expected request, even on a slow machine.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(2);

/// An empty DynamoDB in the process with a proxy that counts its requests.
///
/// The database reports the capacity that a request consumes, by rules that its authors took from DynamoDB. The report
/// is checked against the documented rules: for each write at run time, for reads in `tests/units.rs`.
pub struct CountingDatabase {
    /// Base URL of the proxy.
    pub address: String,
    seen: Arc<watch::Sender<Vec<CountedRequest>>>,
}

/// A counted request.
#[derive(Clone, Debug)]
pub struct CountedRequest {
    /// The operation with its units.
    pub request: Request,
    /// The written items.
    pub written_items: Vec<WrittenItem>,
    /// The request body.
    pub body: Value,
}

impl CountedRequest {
    /// Splits the end of a turn's log off the transaction that stores it with the answer, if this is one.
    pub(crate) fn split_off_log_end(&mut self) -> Option<Self> {
        let index = self.request.items.iter().position(|item| item == "put log")?;
        let (item, written) = (self.request.items.remove(index), self.written_items.remove(index));
        self.request.write -= written.write;
        let (operation, items) = (self.request.operation.clone(), vec![item]);
        let request = Request { operation, items, write: written.write, ..Request::default() };
        Some(Self { request, written_items: vec![written], body: Value::Null })
    }
}

#[derive(Clone)]
struct ProxyState {
    http: platform::transport::Client,
    address: String,
    database: Database,
    seen: Arc<watch::Sender<Vec<CountedRequest>>>,
    /// Serialises requests, so that no other request changes an item between the two reads of it.
    serial: Arc<Mutex<()>>,
}

impl CountingDatabase {
    /// Starts the database and the proxy on loopback.
    pub async fn start() -> Self {
        let (listener, backend) = listen().await;
        let database = Database::memory().expect("a database in memory opens");
        tokio::spawn(dynoxide::server::serve_on(listener, database.clone()));
        let (listener, address) = listen().await;
        let seen = Arc::<watch::Sender<Vec<CountedRequest>>>::default();
        let http = platform::transport::build_client().expect("the HTTP client builds");
        let state = ProxyState { http, address: backend, database, seen: Arc::clone(&seen), serial: Arc::default() };
        let routes = Router::new().fallback(forward).with_state(state);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, seen }
    }

    /// Takes the requests since the last call.
    pub fn take(&self) -> Vec<CountedRequest> {
        self.seen.send_replace(Vec::new())
    }

    /// Waits for a request that matches.
    ///
    /// # Panics
    /// If there is no such request within two minutes.
    pub async fn wait_for(&self, what: impl Fn(&Request) -> bool) {
        let is_requested = |seen: &Vec<CountedRequest>| seen.iter().any(|seen| what(&seen.request));
        let mut following = self.seen.subscribe();
        let awaited = tokio::time::timeout(REQUEST_TIMEOUT, following.wait_for(is_requested)).await;
        awaited
            .expect("what a turn has to ask was not asked within two minutes")
            .expect("the layer outlives who waits");
    }
}

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("loopback has a free port");
    let address = format!("http://{}", listener.local_addr().expect("a bound listener has an address"));
    (listener, address)
}

/// Forwards a request; counts it unless it manages tables.
async fn forward(State(state): State<ProxyState>, request: HttpRequest) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a request comes whole");
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
    let _alone = state.serial.lock().await;
    if operation.ends_with("Table") || operation.ends_with("TimeToLive") {
        return to_response(state.send(&head, body).await);
    }
    state.forward_and_count(&head, &operation, &body).await
}

impl ProxyState {
    /// Forwards a request with a capacity report, and records it.
    async fn forward_and_count(&self, head: &Parts, operation: &str, body: &[u8]) -> Response {
        let mut question: Value = serde_json::from_slice(body).expect("DynamoDB speaks JSON");
        question["ReturnConsumedCapacity"] = "INDEXES".into();
        let before = Snapshot::of(&self.database, operation, &question);
        let answer = self.send(head, question.to_string().into()).await;
        let written = before.written_items(&Snapshot::of(&self.database, operation, &question), operation);
        let report = serde_json::from_slice(&answer.2).expect("DynamoDB speaks JSON");
        let request = Request::read(operation, &question, &report);
        request.check_against_rules(&written);
        self.seen.send_modify(|seen| seen.push(CountedRequest { request, written_items: written, body: question }));
        to_response(answer)
    }

    async fn send(&self, head: &Parts, body: Bytes) -> (StatusCode, HeaderMap, Bytes) {
        let mut request = self.http.post(&self.address).body(body);
        for (name, value) in head.headers.iter().filter(|(name, _)| *name != "host" && *name != "content-length") {
            request = request.header(name, value);
        }
        let answer = request.send().await.expect("the database answers");
        let (status, headers) = (answer.status(), answer.headers().clone());
        (status, headers, answer.bytes().await.expect("an answer comes whole"))
    }
}

fn to_response((status, headers, body): (StatusCode, HeaderMap, Bytes)) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
