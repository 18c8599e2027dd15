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

use crate::images::{Images, Written};
use crate::request::Request;

/// Timeout for an expected request, even on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// An empty DynamoDB in the process with a proxy that counts its requests.
///
/// The database reports the capacity that a request consumes, by rules that its authors took from DynamoDB. The report
/// is checked against the documented rules: for each write at run time, for reads in `tests/units.rs`.
pub struct Counted {
    /// Base URL of the proxy.
    pub address: String,
    seen: Arc<watch::Sender<Vec<Seen>>>,
}

/// A counted request.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The operation with its units.
    pub request: Request,
    /// The written items.
    pub written: Vec<Written>,
    /// The request body.
    pub question: Value,
}

impl Seen {
    /// Splits the end of a turn's log off the transaction that stores it with the answer, if this is one.
    pub(crate) fn end_of_log(&mut self) -> Option<Self> {
        let place = self.request.items.iter().position(|item| item == "put log")?;
        let (item, written) = (self.request.items.remove(place), self.written.remove(place));
        self.request.write -= written.write;
        let (operation, items) = (self.request.operation.clone(), vec![item]);
        let request = Request { operation, items, write: written.write, ..Request::default() };
        Some(Self { request, written: vec![written], question: Value::Null })
    }
}

#[derive(Clone)]
struct Passing {
    http: transport::Client,
    address: String,
    database: Database,
    seen: Arc<watch::Sender<Vec<Seen>>>,
    /// Serialises requests, so that no other request changes an item between the two reads of it.
    alone: Arc<Mutex<()>>,
}

impl Counted {
    /// Starts the database and the proxy on loopback.
    pub async fn start() -> Self {
        let (listener, behind) = listen().await;
        let database = Database::memory().expect("a database in memory opens");
        tokio::spawn(dynoxide::server::serve_on(listener, database.clone()));
        let (listener, address) = listen().await;
        let seen = Arc::<watch::Sender<Vec<Seen>>>::default();
        let http = transport::client().expect("the HTTP client builds");
        let passing = Passing { http, address: behind, database, seen: Arc::clone(&seen), alone: Arc::default() };
        let routes = Router::new().fallback(pass).with_state(passing);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, seen }
    }

    /// Takes the requests since the last call.
    pub fn take(&self) -> Vec<Seen> {
        self.seen.send_replace(Vec::new())
    }

    /// Waits for a request that matches.
    ///
    /// # Panics
    /// If there is no such request within two minutes.
    pub async fn until(&self, what: impl Fn(&Request) -> bool) {
        let asked = |seen: &Vec<Seen>| seen.iter().any(|seen| what(&seen.request));
        let mut following = self.seen.subscribe();
        let awaited = tokio::time::timeout(PATIENCE, following.wait_for(asked)).await;
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
async fn pass(State(passing): State<Passing>, request: HttpRequest) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a request comes whole");
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
    let _alone = passing.alone.lock().await;
    if operation.ends_with("Table") || operation.ends_with("TimeToLive") {
        return answered(passing.send(&head, body).await);
    }
    passing.counted(&head, &operation, &body).await
}

impl Passing {
    /// Forwards a request with a capacity report, and records it.
    async fn counted(&self, head: &Parts, operation: &str, body: &[u8]) -> Response {
        let mut question: Value = serde_json::from_slice(body).expect("DynamoDB speaks JSON");
        question["ReturnConsumedCapacity"] = "INDEXES".into();
        let before = Images::of(&self.database, operation, &question);
        let answer = self.send(head, question.to_string().into()).await;
        let written = before.became(&Images::of(&self.database, operation, &question), operation);
        let said = serde_json::from_slice(&answer.2).expect("DynamoDB speaks JSON");
        let request = Request::read(operation, &question, &said);
        request.check(&written);
        self.seen.send_modify(|seen| seen.push(Seen { request, written, question }));
        answered(answer)
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

fn answered((status, headers, body): (StatusCode, HeaderMap, Bytes)) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}
