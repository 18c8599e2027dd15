//! Fakes of the services that the hook calls: Lambda, which forwards to a version over HTTP, and `CodeDeploy`, which
//! receives the result.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::StreamExt;
use futures_util::stream::iter;
use serde_json::{Value, json};
use support::{FakeLambda, ResponseChunks, serve_router};

/// A fake Lambda that forwards to the version at this address. The first `busy` calls find no instance.
pub(crate) async fn lambda(version: &str, busy: usize) -> FakeLambda {
    let (http, version, busy) =
        (platform::transport::build_client().unwrap(), version.to_owned(), Arc::new(Mutex::new(busy)));
    FakeLambda::start(move |event| {
        let (http, version) = (http.clone(), version.clone());
        let mut left = busy.lock().unwrap();
        let was = *left;
        *left = was.saturating_sub(1);
        async move { if was > 0 { None } else { Some(forward_event(&http, &version, &event).await) } }
    })
    .await
}

/// Forwards an event to the version as a request.
async fn forward_event(http: &platform::transport::Client, version: &str, event: &Value) -> ResponseChunks {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (path, query) = (text(&event["rawPath"]), text(&event["rawQueryString"]));
    let query = if query.is_empty() { query } else { format!("?{query}") };
    let method = Method::from_bytes(text(&event["requestContext"]["http"]["method"]).as_bytes()).unwrap();
    let headers: BTreeMap<String, String> = serde_json::from_value(event["headers"].clone()).unwrap();
    let builder = http.request(method, format!("{version}{path}{query}"));
    let forwarded = headers.iter().filter(|(name, _)| *name != "host");
    let builder = forwarded.fold(builder, |builder, (name, value)| builder.header(name, value));
    let response = builder.body(event["body"].as_str().unwrap_or_default().to_owned()).send().await.unwrap();
    let content_type = response.headers().get("content-type").map(|kind| kind.to_str().unwrap()).unwrap_or_default();
    let head =
        json!({"statusCode": response.status().as_u16(), "headers": {"content-type": content_type}, "cookies": []});
    let head = iter([Bytes::from(head.to_string()), Bytes::from_static(&[0; 8])]);
    head.chain(response.bytes_stream().map(Result::unwrap)).boxed()
}

/// A fake Lambda that forbids every invocation.
pub(crate) async fn forbidding_lambda() -> String {
    let refusal =
        || async { (StatusCode::FORBIDDEN, [("x-amzn-errortype", "AccessDeniedException:http://internal/")], "{}") };
    serve_router(Router::new().fallback(refusal)).await
}

/// A fake `CodeDeploy` that records reports.
pub(crate) struct CodeDeploy {
    pub(crate) address: String,
    state: Arc<Mutex<CodeDeployState>>,
}

#[derive(Default)]
struct CodeDeployState {
    /// Number of calls to fail first.
    failures_left: usize,
    reports: Vec<Value>,
}

impl CodeDeploy {
    pub(crate) async fn start(failures: usize) -> Self {
        let state = Arc::new(Mutex::new(CodeDeployState { failures_left: failures, reports: Vec::new() }));
        let router = Router::new().route("/", post(record_report)).with_state(Arc::clone(&state));
        Self { address: serve_router(router).await, state }
    }

    pub(crate) fn reports(&self) -> Vec<Value> {
        self.state.lock().unwrap().reports.clone()
    }
}

async fn record_report(State(state): State<Arc<Mutex<CodeDeployState>>>, headers: HeaderMap, body: Bytes) -> Response {
    assert_eq!(headers["x-amz-target"], "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus");
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    assert!(headers["authorization"].to_str().unwrap().contains("/codedeploy/aws4_request"));
    let mut state = state.lock().unwrap();
    if state.failures_left > 0 {
        state.failures_left -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    state.reports.push(serde_json::from_slice(&body).unwrap());
    "{}".into_response()
}
