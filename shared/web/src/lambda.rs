//! Converts Lambda invocations to HTTP requests for the routes, and their responses back.
//!
//! It accepts events of payload format 2.0 (function URLs, HTTP APIs) and of format 1.0 (REST APIs). Any other event,
//! such as a warmer or a direct invocation, gets an HTTP `400` like any other bad request. An error to the runtime
//! would count as a crash of the function.

mod event;

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream::unfold};
use http::{HeaderMap, Request, header};
use lambda_http::aws_lambda_events::apigw::ApiGatewayV2httpResponse;
use lambda_http::lambda_runtime::layers::TracingLayer;
use lambda_http::lambda_runtime::{FunctionResponse, MetadataPrelude, Runtime, StreamResponse};
use lambda_http::{Context, LambdaEvent, service_fn};
use serde_json::value::RawValue;
use settings::{SettingError, Settings};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tower::util::MapFutureLayer;

use crate::SourceHeader;

/// How responses leave a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseMode {
    /// Streamed as they are produced, for a function URL with response streaming.
    Stream,
    /// Complete, at the end, for an API in front of the function.
    Buffer,
}

impl ResponseMode {
    /// Reads `RESPONSE_MODE`. The default is `buffer` under `AWS_SAM_LOCAL`, whose emulator supports nothing else, and
    /// `stream` otherwise.
    fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let parse = |text: &str| match text {
            "stream" => Some(Self::Stream),
            "buffer" => Some(Self::Buffer),
            _ => None,
        };
        let default = if settings.var("AWS_SAM_LOCAL").is_some() { Self::Buffer } else { Self::Stream };
        Ok(settings.parsed("RESPONSE_MODE", "stream or buffer", parse)?.unwrap_or(default))
    }
}

/// Settings that depend on what is deployed in front of the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Front {
    mode: ResponseMode,
    source: SourceHeader,
}

impl Front {
    /// Reads `RESPONSE_MODE` and `SOURCE_IP_HEADER`.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self { mode: ResponseMode::from_settings(settings)?, source: SourceHeader::from_settings(settings)? })
    }
}

tokio::task_local! {
    /// Tracks the body task of the current invocation: an instance may serve several invocations concurrently.
    static BODY: TaskTracker;
}

/// The year 2001, as the time since 1970. A smaller deadline is a duration.
const EARLIEST_END: Duration = Duration::from_secs(1_000_000_000);

/// The invocation that carries a request.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// When the invocation ends.
    pub deadline: Instant,
    /// Its trace, in the format of `X-Amzn-Trace-Id`.
    pub trace: Option<String>,
}

/// Serves `router` to the Lambda runtime until the process ends. It handles one invocation at a time, or up to
/// `AWS_LAMBDA_MAX_CONCURRENCY`, which Lambda sets on Managed Instances.
///
/// An invocation ends when its body has been read to the end, even if the runtime no longer receives it. Only then does
/// the function request the next one, and Lambda may freeze the process.
///
/// # Errors
/// Errors from which the runtime cannot recover.
pub async fn run(router: Router, front: Front) -> Result<(), lambda_http::Error> {
    let handler = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let (router, front) = (router.clone(), front.clone());
        async move {
            let response = answer(router, &front, &event.payload, &event.context).await;
            Ok::<_, Infallible>(match front.mode {
                ResponseMode::Stream => FunctionResponse::StreamingResponse(streamed(response)),
                ResponseMode::Buffer => FunctionResponse::BufferedResponse(buffered(response).await),
            })
        }
    });
    let to_the_end = MapFutureLayer::new(to_the_end);
    Runtime::new(handler).layer(TracingLayer::new()).layer(to_the_end).run_concurrent().await
}

/// Waits until the body task of an invocation has ended. A response that did not reach the runtime does not end the
/// process.
async fn to_the_end(sending: impl Future<Output = Result<(), lambda_http::Error>>) -> Result<(), lambda_http::Error> {
    let body = TaskTracker::new();
    let sent = BODY.scope(body.clone(), sending).await;
    body.close();
    body.wait().await;
    if sent.is_err() {
        tracing::warn!("the answer was not taken to its end");
    }
    Ok(())
}

async fn answer(router: Router, front: &Front, event: &RawValue, context: &Context) -> Response {
    match event::request(event) {
        Ok(mut request) => {
            front.source.mark(&mut request);
            let (deadline, trace) = (deadline(context, SystemTime::now()), context.xray_trace_id.clone());
            request.extensions_mut().insert(Invocation { deadline, trace });
            router.oneshot(request).await.into_response()
        }
        // The error still passes through the request layer, which adds the id and the error format to every response.
        Err(refusal) => {
            let refuse = move || async move { refusal };
            crate::edge(Router::new().route("/", any(refuse)), crate::Origins::default(), crate::Reach::Anyone)
                .oneshot(Request::new(Body::empty()))
                .await
                .into_response()
        }
    }
}

/// Converts the context's deadline, in wall-clock milliseconds since 1970, to the monotonic clock.
///
/// `cargo lambda watch` sends the length of an invocation instead of its end. No real deadline is that early.
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
) -> StreamResponse<impl Stream<Item = Result<Bytes, Infallible>> + Unpin + Send + use<>> {
    let (head, body) = response.into_parts();
    let (sender, chunks) = mpsc::channel(1);
    BODY.with(|tracker| tracker.spawn(read_to_the_end(body, sender)));
    let stream = unfold(chunks, |mut chunks| async move { Some((Ok(chunks.recv().await?), chunks)) });
    let mut metadata_prelude = MetadataPrelude::default();
    metadata_prelude.status_code = head.status;
    metadata_prelude.headers = head.headers;
    StreamResponse { metadata_prelude, stream: Box::pin(stream) }
}

/// Forwards a body, and reads it to the end even if the receiver is gone: a turn ends with its body.
///
/// The runtime would write a body error into the response. Our bodies never fail; if one did, it would just end.
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
    use crate::SourceIp;

    fn seen(setting: Option<&str>, header: &str) -> Option<SourceIp> {
        let settings = Settings::from_pairs(setting.map(|name| ("SOURCE_IP_HEADER", name)));
        let mut request = Request::builder().header("x-viewer-address", header).body(Body::empty()).unwrap();
        request.extensions_mut().insert(SourceIp([192, 0, 2, 1].into()));
        Front::from_settings(&settings).unwrap().source.mark(&mut request);
        request.extensions().get().copied()
    }

    #[test]
    fn f112_source_header_counts_only_if_configured() {
        let platform = Some(SourceIp([192, 0, 2, 1].into()));
        assert_eq!(seen(Some("X-Viewer-Address"), "203.0.113.9"), Some(SourceIp([203, 0, 113, 9].into())));
        assert_eq!(seen(Some("x-viewer-address"), "2001:db8::1"), Some(SourceIp("2001:db8::1".parse().unwrap())));
        assert_eq!(seen(Some("x-viewer-address"), "203.0.113.9, 203.0.113.8"), platform);
        assert_eq!(seen(Some("x-other"), "203.0.113.9"), platform);
        assert_eq!(seen(None, "203.0.113.9"), platform);
        let unusable = Settings::from_pairs([("SOURCE_IP_HEADER", "a b")]);
        assert_eq!(Front::from_settings(&unusable).unwrap_err().variable, "SOURCE_IP_HEADER");
    }

    #[tokio::test(start_paused = true)]
    async fn f091_deadline_is_absolute_or_a_duration() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let mut context = Context::default();
        for (told, left) in [(1_900_000_007_000, 7), (1_899_999_999_000, 0), (600_000, 600)] {
            context.deadline = told;
            assert_eq!(deadline(&context, now) - Instant::now(), Duration::from_secs(left));
        }
    }
}
