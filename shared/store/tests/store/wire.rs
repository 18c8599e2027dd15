//! A proxy between the SDK and the database that loses responses, rejects calls and counts them.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

use crate::support::database;

/// What the wire does with one call.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The call waits on the wire until the gate opens.
    Held(Gate),
    /// The database executes the call, and its response waits on the wire until the gate opens.
    HeldResponse(Gate),
    /// The database executes the call, and its response is lost.
    LostResponse,
    /// The database never receives the call; the response is this error code.
    Refused(&'static str),
    /// A transaction is cancelled before it begins, for this reason at its first item.
    Cancelled(&'static str),
    /// The database gets the first half of a batch; the other half is unprocessed.
    HalfBatch,
}

/// Holds one call on the wire, so that something else can happen first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate {
    arrived: Arc<Notify>,
    opened: Arc<Notify>,
}

impl Gate {
    /// Waits until the call is at the gate; times out if it never arrives.
    pub(crate) async fn arrival(&self) {
        tokio::time::timeout(Duration::from_secs(20), self.arrived.notified()).await.unwrap();
    }

    /// Lets the call through.
    pub(crate) fn open(&self) {
        self.opened.notify_one();
    }
}

/// Forwards calls, except for the configured faults.
#[derive(Clone)]
pub(crate) struct Wire {
    /// The database's own address, without the wire.
    pub(crate) database: String,
    client: platform::transport::Client,
    seen: Arc<Mutex<Vec<String>>>,
    faults: Arc<Mutex<HashMap<&'static str, VecDeque<Fault>>>>,
}

impl Wire {
    /// A wire to a new database, and its address.
    pub(crate) async fn new() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let (database, client) = (database().await, platform::transport::build_client().unwrap());
        let wire = Self { database, client, seen: Arc::default(), faults: Arc::default() };
        let router = Router::new().fallback(pass).with_state(wire.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (wire, endpoint)
    }

    /// Sets the faults of the next calls of an operation, one each.
    pub(crate) fn fail(&self, operation: &'static str, faults: &[Fault]) {
        self.faults.lock().unwrap().entry(operation).or_default().extend(faults.iter().cloned());
    }

    /// The operations called since the last call of this function.
    pub(crate) fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    fn next_fault(&self, operation: &str) -> Option<Fault> {
        self.seen.lock().unwrap().push(operation.to_owned());
        self.faults.lock().unwrap().get_mut(operation)?.pop_front()
    }

    async fn forward(&self, headers: &HeaderMap, body: Bytes) -> (StatusCode, String) {
        let mut request = self.client.post(&self.database).body(body);
        for name in ["x-amz-target", "content-type", "authorization", "x-amz-date"] {
            request = request.header(name, &headers[name]);
        }
        let answer = request.send().await.unwrap();
        (answer.status(), answer.text().await.unwrap())
    }

    async fn half_batch(&self, headers: &HeaderMap, body: &[u8]) -> (StatusCode, String) {
        let mut request: Value = serde_json::from_slice(body).unwrap();
        let table = &mut request["RequestItems"]["data"];
        let (requests, unprocessed) = match table.get("Keys") {
            Some(_) => (&mut table["Keys"], "UnprocessedKeys"),
            None => (table, "UnprocessedItems"),
        };
        let requests = requests.as_array_mut().unwrap();
        let left = requests.split_off(requests.len() / 2);
        let mut answer = json!({});
        if !requests.is_empty() {
            let (status, text) = self.forward(headers, request.to_string().into()).await;
            assert_eq!(status, StatusCode::OK);
            answer = serde_json::from_str(&text).unwrap();
        }
        let left = if unprocessed == "UnprocessedKeys" { json!({ "Keys": left }) } else { json!(left) };
        answer[unprocessed] = json!({ "data": left });
        (StatusCode::OK, answer.to_string())
    }
}

async fn pass(State(wire): State<Wire>, headers: HeaderMap, body: Bytes) -> (StatusCode, String) {
    let target = headers["x-amz-target"].to_str().unwrap();
    let operation = target.rsplit('.').next().unwrap();
    match wire.next_fault(operation) {
        None => wire.forward(&headers, body).await,
        Some(Fault::Held(gate)) => {
            gate.arrived.notify_one();
            gate.opened.notified().await;
            wire.forward(&headers, body).await
        }
        Some(Fault::HeldResponse(gate)) => {
            let answer = wire.forward(&headers, body).await;
            gate.arrived.notify_one();
            gate.opened.notified().await;
            answer
        }
        Some(Fault::HalfBatch) => wire.half_batch(&headers, &body).await,
        Some(Fault::Refused(code)) => (StatusCode::BAD_REQUEST, json!({ "__type": code }).to_string()),
        Some(Fault::Cancelled(reason)) => {
            let reasons = json!([{ "Code": reason }, { "Code": "None" }]);
            let error = json!({ "__type": "TransactionCanceledException", "CancellationReasons": reasons });
            (StatusCode::BAD_REQUEST, error.to_string())
        }
        Some(Fault::LostResponse) => {
            wire.forward(&headers, body).await;
            (StatusCode::INTERNAL_SERVER_ERROR, String::new())
        }
    }
}
