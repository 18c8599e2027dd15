//! The way from an invocation to the routes and back.
//!
//! The events are those of payload format 2.0, which function URLs and HTTP APIs send. Anything else (a warmer, a REST
//! API, somebody's direct invocation) gets an HTTP `400` like any other bad request: an error to the runtime would count
//! as a crash of the function.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use conversation::ErrorCode;
use futures_util::{Stream, StreamExt, stream::unfold};
use http::{HeaderMap, Request, header};
use lambda_http::aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use lambda_http::lambda_runtime::layers::TracingLayer;
use lambda_http::lambda_runtime::{FunctionResponse, MetadataPrelude, Runtime, StreamResponse};
use lambda_http::{Context, LambdaEvent, service_fn};
use serde_json::value::RawValue;
use settings::{SettingError, Settings};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tower::util::ThenLayer;

use crate::{ApiError, SourceIp};

/// How answers leave a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseMode {
    /// As they are made: what a function URL with response streaming takes.
    Stream,
    /// Whole, at the end: what an API in front of the function takes.
    Buffer,
}

impl ResponseMode {
    /// `RESPONSE_MODE`; `buffer` by default under `AWS_SAM_LOCAL`, whose emulator takes nothing else.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let parse = |text: &str| match text {
            "stream" => Some(Self::Stream),
            "buffer" => Some(Self::Buffer),
            _ => None,
        };
        let default = if settings.var("AWS_SAM_LOCAL").is_some() { Self::Buffer } else { Self::Stream };
        Ok(settings.parsed("RESPONSE_MODE", "stream or buffer", parse)?.unwrap_or(default))
    }
}

/// The year 2001, since 1970.
const EARLIEST_END: Duration = Duration::from_secs(1_000_000_000);

/// When the invocation that carries a request ends; an extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct InvocationDeadline(pub Instant);

/// Serves `router` to the runtime until the process ends.
///
/// An invocation is over when its body has been read to the end, even if nobody takes it any more: only then is the next
/// one asked for, and the process may be frozen.
///
/// # Errors
/// What the runtime cannot recover from.
pub async fn run(router: Router, mode: ResponseMode) -> Result<(), lambda_http::Error> {
    let bodies = TaskTracker::new();
    // A closed tracker is one that can be waited for; it still takes tasks.
    bodies.close();
    let running = bodies.clone();
    let handler = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let (router, bodies) = (router.clone(), bodies.clone());
        async move {
            let response = answer(router, &event.payload, &event.context).await;
            Ok::<_, Infallible>(match mode {
                ResponseMode::Stream => FunctionResponse::StreamingResponse(streamed(response, &bodies)),
                ResponseMode::Buffer => FunctionResponse::BufferedResponse(buffered(response).await),
            })
        }
    });
    let ended = move |sent| over(sent, running.clone());
    Runtime::new(handler).layer(TracingLayer::new()).layer(ThenLayer::new(ended)).run().await
}

/// Waits for the end of an invocation; an answer that did not reach the runtime is no reason to end the process.
async fn over(sent: Result<(), lambda_http::Error>, bodies: TaskTracker) -> Result<(), lambda_http::Error> {
    bodies.wait().await;
    if sent.is_err() {
        tracing::warn!("the answer was not taken to its end");
    }
    Ok(())
}

async fn answer(router: Router, event: &RawValue, context: &Context) -> Response {
    match request(event) {
        Ok(mut request) => {
            request.extensions_mut().insert(InvocationDeadline(deadline(context, SystemTime::now())));
            router.oneshot(request).await.into_response()
        }
        // The routes are asked all the same: they give every answer its id and its form.
        Err(refusal) => {
            let refuse = move || async move { refusal };
            crate::edge(Router::new().route("/", any(refuse)), crate::Origins::default(), crate::Reach::Anyone)
                .oneshot(Request::new(Body::empty()))
                .await
                .into_response()
        }
    }
}

fn request(event: &RawValue) -> Result<Request<Body>, ApiError> {
    let refused = |sentence: &str| ApiError::new(ErrorCode::InvalidRequest, sentence);
    let unknown = || refused("The event is not an HTTP request of format 2.0");
    let event: ApiGatewayV2httpRequest = serde_json::from_str(event.get()).map_err(|_| unknown())?;
    let path = event.raw_path.filter(|_| event.version.as_deref() == Some("2.0")).ok_or_else(unknown)?;
    let path = encoded(without_stage(&path, event.request_context.stage.as_deref()));
    let target = match event.raw_query_string.filter(|query| !query.is_empty()) {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let body = event.body.unwrap_or_default();
    let body = if event.is_base64_encoded {
        STANDARD.decode(body).map_err(|_| refused("The body of the event is not valid base64"))?
    } else {
        body.into_bytes()
    };
    let request = Request::builder().method(event.request_context.http.method).uri(target).body(Body::from(body));
    let mut request = request.map_err(|_| unknown())?;
    *request.headers_mut() = event.headers;
    if let Some(address) = event.request_context.http.source_ip.and_then(|text| text.parse().ok()) {
        request.extensions_mut().insert(SourceIp(address));
    }
    Ok(request)
}

/// An API's named stage stands before the path; a function URL has none.
fn without_stage<'p>(path: &'p str, stage: Option<&str>) -> &'p str {
    let rest = stage.and_then(|stage| path.strip_prefix('/')?.strip_prefix(stage));
    rest.filter(|rest| rest.starts_with('/')).unwrap_or(path)
}

/// The path as a request line holds it, without being resolved: what stands in front may have decoded it.
fn encoded(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !b"\"#<>?^`{|}".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The context counts in wall-clock milliseconds, everything here in the clock that cannot be set.
///
/// `cargo lambda watch` gives the length of an invocation instead of its end; no end lies so early.
fn deadline(context: &Context, now: SystemTime) -> Instant {
    let told = Duration::from_millis(context.deadline);
    let left = if told < EARLIEST_END {
        told
    } else {
        (SystemTime::UNIX_EPOCH + told).duration_since(now).unwrap_or_default()
    };
    Instant::now() + left
}

#[expect(clippy::field_reassign_with_default, reason = "the type is not exhaustive and has no builder")]
fn streamed(
    response: Response,
    bodies: &TaskTracker,
) -> StreamResponse<impl Stream<Item = Result<Bytes, Infallible>> + Unpin + Send + use<>> {
    let (head, body) = response.into_parts();
    let (sender, chunks) = mpsc::channel(1);
    bodies.spawn(read_to_the_end(body, sender));
    let stream = unfold(chunks, |mut chunks| async move { Some((Ok(chunks.recv().await?), chunks)) });
    let mut metadata_prelude = MetadataPrelude::default();
    metadata_prelude.status_code = head.status;
    metadata_prelude.headers = head.headers;
    StreamResponse { metadata_prelude, stream: Box::pin(stream) }
}

/// Passes a body on, and reads it to its end also when nobody takes it any more: a turn ends with its body.
///
/// An error in the body would be written into it by the runtime. Ours never fails; if it did, it would just end.
async fn read_to_the_end(body: Body, sender: mpsc::Sender<Bytes>) {
    let mut body = body.into_data_stream();
    while let Some(Ok(chunk)) = body.next().await {
        let _gone = sender.send(chunk).await;
    }
}

async fn buffered(response: Response) -> ApiGatewayV2httpResponse {
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let mut answer = ApiGatewayV2httpResponse::default();
    answer.status_code = i64::from(head.status.as_u16());
    answer.is_base64_encoded = !is_text(&head.headers);
    answer.body = Some(if answer.is_base64_encoded {
        lambda_http::Body::Text(STANDARD.encode(&body))
    } else {
        lambda_http::Body::Text(String::from_utf8_lossy(&body).into_owned())
    });
    answer.headers = head.headers;
    answer
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("text/plain");
    ["text/", "application/json", "image/svg+xml"].iter().any(|text| kind.starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn f091_the_deadline_is_the_end_of_the_invocation_or_its_length() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let mut context = Context::default();
        for (told, left) in [(1_900_000_007_000, 7), (1_899_999_999_000, 0), (600_000, 600)] {
            context.deadline = told;
            assert_eq!(deadline(&context, now) - Instant::now(), Duration::from_secs(left));
        }
    }
}
