use std::pin::Pin;
use std::sync::Arc;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use futures_util::stream::{BoxStream, once};
use futures_util::{Stream, StreamExt};
use serde_json::Value;

use crate::loopback::serve_router;

/// The chunks that a function writes, from its head to its end.
pub type ResponseChunks = BoxStream<'static, Bytes>;

type Function = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Option<ResponseChunks>> + Send>> + Send + Sync>;

/// The part of Lambda's API that invokes one version of one function and streams its response.
pub struct FakeLambda {
    /// The URL of the API.
    pub address: String,
}

impl FakeLambda {
    /// The function's name.
    pub const FUNCTION: &'static str = "lambda-chat-ChatFunction-AbC123";
    /// The version that can be invoked.
    pub const VERSION: &'static str = "7";

    /// Starts the API; `function` handles an event, and returns `None` when no instance is free (status 429).
    pub async fn start<F>(function: impl Fn(Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<ResponseChunks>> + Send + 'static,
    {
        let function: Function = Arc::new(move |event| Box::pin(function(event)));
        let path = format!("/2021-11-15/functions/{}/response-streaming-invocations", Self::FUNCTION);
        Self { address: serve_router(Router::new().route(&path, post(invoke)).with_state(function)).await }
    }
}

async fn invoke(State(function): State<Function>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    assert_eq!(head.uri.query(), Some("Qualifier=7"), "another version is invoked");
    let signed = head.headers["authorization"].to_str().expect("a header of text");
    assert!(signed.starts_with("AWS4-HMAC-SHA256 ") && signed.contains("/lambda/aws4_request"), "{signed}");
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a whole request");
    let Some(pieces) = function(serde_json::from_slice(&body).expect("an event is JSON")).await else {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    };
    let frames = encode_stream(pieces).map(Ok::<_, std::io::Error>);
    ([("content-type", "application/vnd.amazon.eventstream")], Body::from_stream(frames)).into_response()
}

fn encode_stream(pieces: ResponseChunks) -> impl Stream<Item = Bytes> {
    let end = once(async { encode_frame("InvokeComplete", Bytes::from_static(b"{}")) });
    pieces.map(|piece| encode_frame("PayloadChunk", piece)).chain(end)
}

fn encode_frame(kind: &'static str, payload: Bytes) -> Bytes {
    let header = |name: &'static str, value: &'static str| Header::new(name, HeaderValue::String(value.into()));
    let message = Message::new(payload).add_header(header(":message-type", "event"));
    let mut bytes = Vec::new();
    write_message_to(&message.add_header(header(":event-type", kind)), &mut bytes).expect("a frame can be written");
    bytes.into()
}
