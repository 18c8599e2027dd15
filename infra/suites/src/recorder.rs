use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::tool::LOOPBACK;

/// Timeout for a call, even on a slow machine.
const CALL_TIMEOUT: Duration = Duration::from_mins(2);

/// A permission that a call to DynamoDB needs: the action, and the table or `table/index/name`.
pub type Call = (String, String);

/// Proxy of a DynamoDB that records the permissions of all calls.
pub struct PermissionRecorder {
    /// Base URL of the proxy.
    pub address: String,
    calls: Arc<watch::Sender<BTreeSet<Call>>>,
}

#[derive(Clone)]
struct ProxyState {
    http: platform::transport::Client,
    database: String,
    calls: Arc<watch::Sender<BTreeSet<Call>>>,
}

impl PermissionRecorder {
    /// Starts a proxy of the database at this address.
    pub async fn start(database: &str) -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.expect("loopback has a free port");
        let address = format!("http://{}", listener.local_addr().expect("a bound listener has an address"));
        let calls = Arc::<watch::Sender<BTreeSet<Call>>>::default();
        let http = platform::transport::build_client().expect("the HTTP client builds");
        let state = ProxyState { http, database: database.to_owned(), calls: Arc::clone(&calls) };
        let routes = Router::new().fallback(forward_request).with_state(state);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, calls }
    }

    /// The calls so far.
    pub fn calls(&self) -> BTreeSet<Call> {
        self.calls.borrow().clone()
    }

    /// Waits for the first call of an action.
    pub async fn wait_for(&self, action: &str) {
        let mut following = self.calls.subscribe();
        let called = following.wait_for(|calls| calls.iter().any(|(called, _)| called == action));
        timeout(CALL_TIMEOUT, called).await.expect("it is called in time").expect("the recorder outlives who waits");
    }
}

async fn forward_request(State(state): State<ProxyState>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.expect("a request comes whole");
    let target = head.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    let question = serde_json::from_slice(&body).expect("DynamoDB speaks JSON");
    state.calls.send_modify(|calls| calls.extend(permissions(operation, &question)));
    let mut request = state.http.post(&state.database).body(body);
    for (name, value) in head.headers.iter().filter(|(name, _)| *name != "host") {
        request = request.header(name, value);
    }
    let answer = request.send().await.expect("the database answers");
    let mut response = Response::builder().status(answer.status());
    for (name, value) in answer.headers() {
        response = response.header(name, value);
    }
    let body = answer.bytes().await.expect("an answer comes whole");
    response.body(Body::from(body)).expect("what came in can go out")
}

/// Returns the permissions of an operation: for a transaction those of its parts, for a batch its own for each table.
fn permissions(operation: &str, question: &Value) -> Vec<Call> {
    let call = |action: &str, table: &Value| (action.to_owned(), table.as_str().unwrap_or_default().to_owned());
    if let Some(items) = question["TransactItems"].as_array() {
        let parts = items.iter().filter_map(|item| item.as_object()?.iter().next());
        return parts.map(|(part, about)| call(action_of(part), &about["TableName"])).collect();
    }
    if let Some(tables) = question["RequestItems"].as_object() {
        return tables.keys().map(|table| (operation.to_owned(), table.clone())).collect();
    }
    let (action, table) = call(operation, &question["TableName"]);
    match question["IndexName"].as_str() {
        Some(index) => vec![(action, format!("{table}/index/{index}"))],
        None => vec![(action, table)],
    }
}

fn action_of(part: &str) -> &str {
    match part {
        "Put" => "PutItem",
        "Update" => "UpdateItem",
        "Delete" => "DeleteItem",
        "ConditionCheck" => "ConditionCheckItem",
        other => panic!("an unknown part of a transaction: {other}"),
    }
}
