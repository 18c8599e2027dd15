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
use support::{FakeLambda, Pieces, served};

/// A fake Lambda that forwards to the version at this address. The first `busy` calls find no instance.
pub(crate) async fn lambda(version: &str, busy: usize) -> FakeLambda {
    let (http, version, busy) = (transport::client().unwrap(), version.to_owned(), Arc::new(Mutex::new(busy)));
    FakeLambda::start(move |event| {
        let (http, version) = (http.clone(), version.clone());
        let mut left = busy.lock().unwrap();
        let was = *left;
        *left = was.saturating_sub(1);
        async move { if was > 0 { None } else { Some(asked(&http, &version, &event).await) } }
    })
    .await
}

/// Forwards an event to the version as a request.
async fn asked(http: &transport::Client, version: &str, event: &Value) -> Pieces {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (path, query) = (text(&event["rawPath"]), text(&event["rawQueryString"]));
    let query = if query.is_empty() { query } else { format!("?{query}") };
    let method = Method::from_bytes(text(&event["requestContext"]["http"]["method"]).as_bytes()).unwrap();
    let headers: BTreeMap<String, String> = serde_json::from_value(event["headers"].clone()).unwrap();
    let asked = http.request(method, format!("{version}{path}{query}"));
    let told = headers.iter().filter(|(name, _)| *name != "host");
    let asked = told.fold(asked, |asked, (name, value)| asked.header(name, value));
    let answer = asked.body(event["body"].as_str().unwrap_or_default().to_owned()).send().await.unwrap();
    let kind = answer.headers().get("content-type").map(|kind| kind.to_str().unwrap()).unwrap_or_default();
    let head = json!({"statusCode": answer.status().as_u16(), "headers": {"content-type": kind}, "cookies": []});
    let head = iter([Bytes::from(head.to_string()), Bytes::from_static(&[0; 8])]);
    head.chain(answer.bytes_stream().map(Result::unwrap)).boxed()
}

/// A fake Lambda that forbids every invocation.
pub(crate) async fn forbidding_lambda() -> String {
    let refusal =
        || async { (StatusCode::FORBIDDEN, [("x-amzn-errortype", "AccessDeniedException:http://internal/")], "{}") };
    served(Router::new().fallback(refusal)).await
}

/// A fake `CodeDeploy` that records reports.
pub(crate) struct CodeDeploy {
    pub(crate) address: String,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    /// Number of calls to fail first.
    deaf: usize,
    outcomes: Vec<Value>,
}

impl CodeDeploy {
    pub(crate) async fn start(deaf: usize) -> Self {
        let told = Arc::new(Mutex::new(Told { deaf, outcomes: Vec::new() }));
        let router = Router::new().route("/", post(note)).with_state(Arc::clone(&told));
        Self { address: served(router).await, told }
    }

    pub(crate) fn told(&self) -> Vec<Value> {
        self.told.lock().unwrap().outcomes.clone()
    }
}

async fn note(State(told): State<Arc<Mutex<Told>>>, headers: HeaderMap, body: Bytes) -> Response {
    assert_eq!(headers["x-amz-target"], "CodeDeploy_20141006.PutLifecycleEventHookExecutionStatus");
    assert_eq!(headers["content-type"], "application/x-amz-json-1.1");
    assert!(headers["authorization"].to_str().unwrap().contains("/codedeploy/aws4_request"));
    let mut told = told.lock().unwrap();
    if told.deaf > 0 {
        told.deaf -= 1;
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    told.outcomes.push(serde_json::from_slice(&body).unwrap());
    "{}".into_response()
}
