//! The product with a key for the checks, and this binary's model at an address.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use futures_util::stream::unfold;
use platform::settings::Settings;
use runtime_api::{Function, HttpEvent, RuntimeApi};
use secrecy::ExposeSecret;
use serde_json::json;
use store::{ApiKey, NewKey, Store, TableNames};
use support::{TestApp, serve_router};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// The caller of the key.
const CALLER: &str = "deployment-check";

/// More time than any answer of the model takes.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);

pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_verify")
}

/// Serves an empty database; returns its address.
pub(crate) async fn database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()));
    endpoint
}

/// The product as deployed: callers have keys, and one model is only for the checks.
pub(crate) struct Product {
    pub(crate) app: TestApp,
    pub(crate) key: String,
    _model: ScriptedModel,
}

impl Product {
    pub(crate) async fn start() -> Self {
        Self::start_with_database_proxy(&database().await, |database| async { database }).await
    }

    /// Starts the product with a proxy in front of its database, in which the key is created.
    pub(crate) async fn start_with_database_proxy<F: Future<Output = String>>(
        database: &str,
        between: impl FnOnce(String) -> F,
    ) -> Self {
        let key = ApiKey::generate().unwrap().text().expose_secret().to_owned();
        let model = ScriptedModel::start(&key).await;
        let row = json!([{
            "name": CALLER,
            "model": CALLER,
            "baseUrl": model.address,
            "apiKeyVar": "CHECK_API_KEY",
            "tools": "native",
            "onlyFor": CALLER,
        }]);
        let seen = between(database.to_owned()).await;
        let settings = [
            ("AUTH", "api_key"),
            ("AWS_ENDPOINT_URL_DYNAMODB", &seen),
            ("EXTRA_MODELS", &row.to_string()),
            ("CHECK_API_KEY", &key),
        ];
        let app = TestApp::start_with(&settings).await;
        store_key(database, &key).await;
        Self { app, key, _model: model }
    }
}

/// Stores the key in the product's database.
async fn store_key(database: &str, key: &str) {
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", database)]);
    let store = Store::new(&store::sdk_config(&settings).unwrap(), TableNames::from_settings(&settings).unwrap());
    let new = NewKey { owner: CALLER.to_owned(), administrator: false, ..NewKey::default() };
    store.keys.create(&ApiKey::parse(key).unwrap(), &new, SystemTime::now()).await.unwrap();
}

/// This binary as a model at an address, like a Lambda function URL. Each request uses one instance, and a client that
/// disconnects does not stop it.
pub(crate) struct ScriptedModel {
    pub(crate) address: String,
    _instances: Vec<Function>,
}

impl ScriptedModel {
    pub(crate) async fn start(key: &str) -> Self {
        let api = Arc::new(RuntimeApi::start().await);
        let instances = (0..3).map(|_| Function::start(binary(), &api.address(), [("CHECK_API_KEY", key)]));
        let instances = instances.collect();
        let address = serve_router(Router::new().fallback(forward).with_state(Arc::clone(&api))).await;
        Self { address, _instances: instances }
    }
}

async fn forward(State(api): State<Arc<RuntimeApi>>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let event =
        HttpEvent::new(head.method.as_str(), head.uri.path()).with("body", String::from_utf8(body.to_vec()).unwrap());
    let event =
        head.headers.iter().fold(event, |event, (name, value)| event.header(name.as_str(), value.to_str().unwrap()));
    let mut response_stream = api.invoke(&event, ANSWER_TIMEOUT).answer().await.expect_streamed();
    let prelude = response_stream.prelude().await;
    let (sender, chunks) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Some(chunk) = response_stream.chunk().await {
            let _gone = sender.send(chunk);
        }
    });
    let pieces =
        unfold(chunks, |mut pieces| async move { Some((Ok::<_, std::io::Error>(pieces.recv().await?), pieces)) });
    let response = Response::builder().status(prelude.status).header("content-type", prelude.header("content-type"));
    response.body(Body::from_stream(pieces)).unwrap()
}
