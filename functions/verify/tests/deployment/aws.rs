//! Stand-ins for what the hook calls: Lambda, which invokes, and `CodeDeploy`, which wants to know.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream::{iter, once};
use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub(crate) const FUNCTION: &str = "lambda-chat-ChatFunction-AbC123";
pub(crate) const VERSION: &str = "7";

/// Serves it on a free port; gives its address.
pub(crate) async fn served(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// Lambda, where the version is whatever answers at this address.
#[derive(Clone)]
struct Lambda {
    http: transport::Client,
    version: String,
    /// How often there is no instance.
    busy: Arc<Mutex<usize>>,
}

pub(crate) async fn lambda(version: &str) -> String {
    busy_lambda(version, 0).await
}

pub(crate) async fn busy_lambda(version: &str, busy: usize) -> String {
    let path = format!("/2021-11-15/functions/{FUNCTION}/response-streaming-invocations");
    let http = transport::client().unwrap();
    let state = Lambda { http, version: version.to_owned(), busy: Arc::new(Mutex::new(busy)) };
    served(Router::new().route(&path, post(invoke)).with_state(state)).await
}

/// Lambda, for somebody who may not invoke the version.
pub(crate) async fn forbidding_lambda() -> String {
    let refusal =
        || async { (StatusCode::FORBIDDEN, [("x-amzn-errortype", "AccessDeniedException:http://internal/")], "{}") };
    served(Router::new().fallback(refusal)).await
}

async fn invoke(State(lambda): State<Lambda>, request: Request) -> Response {
    assert_eq!(request.uri().query(), Some("Qualifier=7"));
    let signed = request.headers()["authorization"].to_str().unwrap().to_owned();
    assert!(signed.starts_with("AWS4-HMAC-SHA256 ") && signed.contains("/lambda/aws4_request"), "{signed}");
    let busy = {
        let mut busy = lambda.busy.lock().unwrap();
        let was = *busy;
        *busy = was.saturating_sub(1);
        was > 0
    };
    if busy {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    let event: Value =
        serde_json::from_slice(&axum::body::to_bytes(request.into_body(), 1 << 20).await.unwrap()).unwrap();
    let answer = lambda.asked(&event).await;
    let frames = framed(answer).map(Ok::<_, std::io::Error>);
    ([("content-type", "application/vnd.amazon.eventstream")], Body::from_stream(frames)).into_response()
}

impl Lambda {
    /// Asks the version what the event asks.
    async fn asked(&self, event: &Value) -> reqwest_answer::Answer {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let (path, query) = (text(&event["rawPath"]), text(&event["rawQueryString"]));
        let query = if query.is_empty() { query } else { format!("?{query}") };
        let method = Method::from_bytes(text(&event["requestContext"]["http"]["method"]).as_bytes()).unwrap();
        let headers: BTreeMap<String, String> = serde_json::from_value(event["headers"].clone()).unwrap();
        let asked = self.http.request(method, format!("{}{path}{query}", self.version));
        let told = headers.iter().filter(|(name, _)| *name != "host");
        let asked = told.fold(asked, |asked, (name, value)| asked.header(name, value));
        let body = event["body"].as_str().unwrap_or_default().to_owned();
        asked.body(body).send().await.unwrap().into()
    }
}

/// What of an answer goes through Lambda.
mod reqwest_answer {
    use super::{Bytes, Stream, StreamExt};

    pub(super) struct Answer {
        pub(super) status: u16,
        pub(super) content_type: String,
        pub(super) body: std::pin::Pin<Box<dyn Stream<Item = Bytes> + Send>>,
    }

    impl From<reqwest::Response> for Answer {
        fn from(response: reqwest::Response) -> Self {
            let kind = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
            let (status, content_type) = (response.status().as_u16(), kind.unwrap_or_default());
            Self { status, content_type, body: Box::pin(response.bytes_stream().map(Result::unwrap)) }
        }
    }
}

/// The frames of an answer: its head, its body piece by piece, and the end.
fn framed(answer: reqwest_answer::Answer) -> impl Stream<Item = Bytes> {
    let head = json!({"statusCode": answer.status, "headers": {"content-type": answer.content_type}, "cookies": []});
    let head = iter([Bytes::from(head.to_string()), Bytes::from_static(&[0; 8])]);
    let pieces = head.chain(answer.body).map(|piece| frame("PayloadChunk", piece));
    pieces.chain(once(async { frame("InvokeComplete", Bytes::from_static(b"{}")) }))
}

fn frame(kind: &'static str, payload: Bytes) -> Bytes {
    let header = |name: &'static str, value: &'static str| Header::new(name, HeaderValue::String(value.into()));
    let message =
        Message::new(payload).add_header(header(":message-type", "event")).add_header(header(":event-type", kind));
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes.into()
}

/// `CodeDeploy`, and what it was told.
pub(crate) struct CodeDeploy {
    pub(crate) address: String,
    told: Arc<Mutex<Told>>,
}

#[derive(Default)]
struct Told {
    /// How often it does not listen.
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
