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

/// How long a request is waited for that a slow machine makes late, and a defect never.
const PATIENCE: Duration = Duration::from_mins(2);

/// An empty DynamoDB in the process, behind a layer that counts what is asked of it.
///
/// The database says itself what a request consumes, by rules that its authors took from the real one. What it says of
/// writes is held against the documented rules each time, and of reads in `tests/units.rs`.
pub struct Counted {
    /// Where the layer listens.
    pub address: String,
    seen: Arc<watch::Sender<Vec<Seen>>>,
}

/// A request that was counted.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What was asked.
    pub request: Request,
    /// The items that it wrote.
    pub written: Vec<Written>,
    /// The request itself.
    pub question: Value,
}

impl Seen {
    /// Takes the end of a turn's log out of the transaction that stores it with the answer, if it is one.
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
    /// One request at a time, so that nobody else changes an item between two looks at it.
    alone: Arc<Mutex<()>>,
}

impl Counted {
    /// Starts both on loopback.
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

    /// What was asked since the last time.
    pub fn take(&self) -> Vec<Seen> {
        self.seen.send_replace(Vec::new())
    }

    /// Waits until something like this was asked.
    ///
    /// # Panics
    /// When it is not asked within two minutes.
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

/// Passes a request on; counts it unless it is about a table.
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
    /// Has a request say what it consumes, and notes it.
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
