use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use http::{StatusCode, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// An issuer on loopback that serves the test's documents and records the requests.
#[derive(Clone)]
pub(super) struct FakeIssuer {
    pub(super) url: String,
    state: Arc<Mutex<FakeState>>,
}

#[derive(Default)]
struct FakeState {
    /// Discovery document and keys; `None` while the issuer fails.
    documents: Option<(String, String)>,
    requests: Vec<String>,
}

impl FakeIssuer {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Self { url: format!("http://{}", listener.local_addr().unwrap()), state: Arc::default() };
        let routes = Router::new().fallback(respond).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        fake
    }

    pub(super) fn publish(&self, keys: &[Value]) {
        let discovery = json!({"issuer": self.url, "jwks_uri": format!("{}/keys", self.url)});
        self.serve(&discovery.to_string(), &json!({ "keys": keys }).to_string());
    }

    pub(super) fn serve(&self, discovery: &str, keys: &str) {
        self.state.lock().unwrap().documents = Some((discovery.to_owned(), keys.to_owned()));
    }

    pub(super) fn fail(&self) {
        self.state.lock().unwrap().documents = None;
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }
}

async fn respond(State(fake): State<FakeIssuer>, uri: Uri) -> (StatusCode, String) {
    let mut state = fake.state.lock().unwrap();
    state.requests.push(uri.path().to_owned());
    match (&state.documents, uri.path()) {
        (Some((discovery, _)), "/.well-known/openid-configuration") => (StatusCode::OK, discovery.clone()),
        (Some((_, keys)), "/keys") => (StatusCode::OK, keys.clone()),
        _ => (StatusCode::SERVICE_UNAVAILABLE, String::new()),
    }
}
