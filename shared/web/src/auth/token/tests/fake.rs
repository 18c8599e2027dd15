use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use http::{StatusCode, Uri};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// An issuer on loopback that serves the test's documents and records the requests.
#[derive(Clone)]
pub(super) struct Fake {
    pub(super) url: String,
    state: Arc<Mutex<Script>>,
}

#[derive(Default)]
struct Script {
    /// Discovery document and keys; `None` while the issuer fails.
    documents: Option<(String, String)>,
    asked: Vec<String>,
}

impl Fake {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let fake = Self { url: format!("http://{}", listener.local_addr().unwrap()), state: Arc::default() };
        let routes = Router::new().fallback(answer).with_state(fake.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        fake
    }

    pub(super) fn publishes(&self, keys: &[Value]) {
        let discovery = json!({"issuer": self.url, "jwks_uri": format!("{}/keys", self.url)});
        self.says(&discovery.to_string(), &json!({ "keys": keys }).to_string());
    }

    pub(super) fn says(&self, discovery: &str, keys: &str) {
        self.state.lock().unwrap().documents = Some((discovery.to_owned(), keys.to_owned()));
    }

    pub(super) fn fails(&self) {
        self.state.lock().unwrap().documents = None;
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }
}

async fn answer(State(fake): State<Fake>, uri: Uri) -> (StatusCode, String) {
    let mut script = fake.state.lock().unwrap();
    script.asked.push(uri.path().to_owned());
    match (&script.documents, uri.path()) {
        (Some((discovery, _)), "/.well-known/openid-configuration") => (StatusCode::OK, discovery.clone()),
        (Some((_, keys)), "/keys") => (StatusCode::OK, keys.clone()),
        _ => (StatusCode::SERVICE_UNAVAILABLE, String::new()),
    }
}
