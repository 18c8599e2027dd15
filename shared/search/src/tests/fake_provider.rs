//! Tavily and Amazon's web search on loopback.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

/// The fake provider's reaction to a request.
#[derive(Clone, Debug)]
pub(super) enum FakeReply {
    /// One page that names the query and the number of the request.
    Found,
    /// The same page with this score.
    Scored(f64),
    /// A page's text, or that it cannot be read.
    Page(&'static str),
    Unreadable,
    /// No page.
    Nothing,
    /// This status with an error in the body.
    Status(u16),
    /// 429 with a `retry-after` of so many seconds.
    TooFast(u32),
    /// 503 with so many seconds in the body.
    Unavailable(u32),
    /// A body without an end, a piece at a time.
    Endless,
    /// A body that breaks off.
    Cut,
    /// Nothing, ever.
    Silent,
}

/// The provider on loopback; it replies `Found` when the script has ended.
#[derive(Clone)]
pub(super) struct Provider {
    pub(super) url: String,
    state: Arc<Shared>,
}

struct Shared {
    script: Mutex<VecDeque<FakeReply>>,
    requests: Mutex<Vec<(HeaderMap, Value)>>,
    count: watch::Sender<usize>,
    gate: Semaphore,
}

impl Provider {
    pub(super) async fn start() -> Self {
        let provider = Self::gated().await;
        provider.open();
        provider
    }

    /// Starts a provider that holds every request back until it is opened.
    pub(super) async fn gated() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (script, requests) = (Mutex::default(), Mutex::default());
        let state = Arc::new(Shared { script, requests, count: watch::Sender::new(0), gate: Semaphore::new(0) });
        let routes = Router::new()
            .route("/search", post(answer))
            .route("/extract", post(answer))
            .route("/web-search/web-search.v1/invoke", post(answer))
            .with_state(Arc::clone(&state));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { url, state }
    }

    pub(super) fn open(&self) {
        self.state.gate.add_permits(1000);
    }

    pub(super) fn script(&self, replies: impl IntoIterator<Item = FakeReply>) {
        self.state.script.lock().unwrap().extend(replies);
    }

    pub(super) fn requests(&self) -> Vec<(HeaderMap, Value)> {
        self.state.requests.lock().unwrap().clone()
    }

    pub(super) fn count(&self) -> usize {
        self.requests().len()
    }

    pub(super) async fn wait_for_requests(&self, times: usize) {
        self.state.count.subscribe().wait_for(|&count| count >= times).await.unwrap();
    }
}

async fn answer(State(state): State<Arc<Shared>>, headers: HeaderMap, Json(body): Json<Value>) -> Response<Body> {
    let aws_query = body["searchQuery"].as_str().map(str::to_owned);
    let query = body["query"].as_str().unwrap_or_default().to_owned();
    let url = body["urls"][0].clone();
    let number = {
        let mut requests = state.requests.lock().unwrap();
        requests.push((headers, body));
        requests.len()
    };
    state.count.send_replace(number);
    state.gate.acquire().await.unwrap().forget();
    let reply = state.script.lock().unwrap().pop_front().unwrap_or(FakeReply::Found);
    match reply {
        FakeReply::Found if aws_query.is_some() => aws_page(&aws_query.unwrap_or_default(), number),
        FakeReply::Found => page(&query, number, 0.9),
        FakeReply::Scored(score) => page(&query, number, score),
        FakeReply::Page(text) => {
            let row = json!({"url": url, "raw_content": text});
            whole(200, &json!({"results": [row], "failed_results": [], "usage": {"credits": 1}}))
        }
        FakeReply::Unreadable => {
            let row = json!({"url": url, "error": "upstream words"});
            whole(200, &json!({"results": [], "failed_results": [row]}))
        }
        FakeReply::Nothing => whole(200, &json!({"results": [], "answer": null})),
        FakeReply::Status(status) => whole(status, &json!({"detail": {"error": "upstream words"}})),
        FakeReply::TooFast(seconds) => {
            let mut response = whole(429, &json!({"detail": "upstream words"}));
            response.headers_mut().insert("retry-after", seconds.into());
            response
        }
        FakeReply::Unavailable(seconds) => {
            whole(503, &json!({"message": "upstream words", "retryAfterSeconds": seconds}))
        }
        FakeReply::Endless => streamed(Ok(Bytes::from(vec![b' '; 64 * 1024]))),
        FakeReply::Cut => streamed(Err(std::io::ErrorKind::ConnectionReset.into())),
        FakeReply::Silent => std::future::pending().await,
    }
}

fn page(query: &str, number: usize, score: f64) -> Response<Body> {
    let row = json!({"title": query, "url": "https://example.com/", "content": format!("{number}"), "score": score});
    whole(200, &json!({"query": query, "answer": "A", "results": [row], "usage": {"credits": 3}}))
}

fn aws_page(query: &str, number: usize) -> Response<Body> {
    let nameless = json!({"text": "a page without an address"});
    let row = json!({"title": query, "url": "https://example.com/", "text": format!("aws {number}"),
        "publishedAt": "2026-11-24T08:00:00Z"});
    whole(200, &json!({"results": [nameless, row]}))
}

fn whole(status: u16, body: &Value) -> Response<Body> {
    Response::builder().status(status).body(Body::from(body.to_string())).unwrap()
}

fn streamed(chunk: Result<Bytes, std::io::Error>) -> Response<Body> {
    let chunks = futures_util::stream::unfold(Some(chunk), async |chunk| match chunk? {
        Ok(bytes) => Some((Ok(bytes.clone()), Some(Ok(bytes)))),
        Err(error) => Some((Err(error), None)),
    });
    Response::new(Body::from_stream(Box::pin(chunks)))
}
