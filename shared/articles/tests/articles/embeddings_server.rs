//! An embeddings server whose vectors depend on the texts alone.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The length of the vectors.
const DIMENSIONS: usize = 1024;

/// The key that the server requires.
pub(crate) const KEY: &str = "sk-canary-embeddings";

/// Groups of terms of one meaning: texts with any term of a group point in the same direction.
const MEANINGS: &[&[&str]] = &[
    &["delete", "erase", "erasure", "remove", "forget", "删除", "抹去"],
    &["price", "cost", "money", "expensive", "bill", "费用", "花多少钱"],
    &["crash", "died", "dies", "interrupted", "broke down", "崩溃"],
    &["speed", "latency", "fast", "milliseconds", "benchmark", "快"],
    &["secret", "credential", "api key", "password", "密钥"],
    &["picture of the parts", "code map", "layers", "diagram", "structure"],
];

/// What the server does with a request instead of answering it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Answers with this status, and `Retry-After: 0`.
    Status(u16),
    /// Answers with a vector too few.
    Incomplete,
    /// Never answers.
    Hang,
}

#[derive(Clone, Default)]
pub(crate) struct EmbeddingsServer {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Value>>>,
    faults: Arc<Mutex<VecDeque<Option<Fault>>>>,
    hung: Arc<Notify>,
}

impl EmbeddingsServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self { url: format!("http://{}/v1", listener.local_addr().unwrap()), ..Self::default() };
        let router = Router::new().route("/v1/embeddings", post(answer)).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    /// Sets what happens to the next requests, one each; `None` for an answer.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.faults.lock().unwrap().extend(faults);
    }

    /// Waits until a request hangs; times out if none does.
    pub(crate) async fn hang(&self) {
        tokio::time::timeout(Duration::from_secs(20), self.hung.notified()).await.unwrap();
    }

    /// The texts of each request so far.
    pub(crate) fn inputs(&self) -> Vec<usize> {
        self.requests.lock().unwrap().iter().map(|request| request["input"].as_array().unwrap().len()).collect()
    }
}

async fn answer(State(server): State<EmbeddingsServer>, headers: HeaderMap, Json(request): Json<Value>) -> Response {
    assert_eq!(headers["authorization"], format!("Bearer {KEY}"));
    server.requests.lock().unwrap().push(request.clone());
    let fault = server.faults.lock().unwrap().pop_front().flatten();
    let texts = request["input"].as_array().unwrap();
    let row = |(index, text): (usize, &Value)| json!({"index": index, "embedding": embed(text.as_str().unwrap())});
    let mut rows: Vec<Value> = texts.iter().enumerate().map(row).collect();
    match fault {
        None => {}
        Some(Fault::Status(status)) => {
            let status = StatusCode::from_u16(status).unwrap();
            return (status, [("retry-after", "0")], "canary of the endpoint").into_response();
        }
        Some(Fault::Incomplete) => rows.truncate(texts.len() - 1),
        Some(Fault::Hang) => {
            server.hung.notify_one();
            std::future::pending::<()>().await;
        }
    }
    // Endpoints may answer in any order.
    rows.reverse();
    Json(json!({"object": "list", "data": rows, "model": request["model"]})).into_response()
}

/// A direction for each group of terms in the text, with a little of a direction of its own.
fn embed(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    let mut vector = vec![0.0; DIMENSIONS];
    for (at, terms) in MEANINGS.iter().enumerate() {
        let count = terms.iter().map(|term| text.matches(term).count()).sum::<usize>();
        vector[at] = f32::from(u8::try_from(count.min(4)).unwrap());
    }
    let sum = text.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)));
    vector[MEANINGS.len() + sum % (DIMENSIONS - MEANINGS.len())] = 0.3;
    vector
}
