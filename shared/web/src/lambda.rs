//! Converts Lambda invocations to HTTP requests for the routes, and their responses back.
//!
//! It accepts events of payload format 2.0 (function URLs, HTTP APIs) and of format 1.0 (REST APIs). Any other event,
//! such as a warmer or a direct invocation, gets an HTTP `400` like any other bad request. An error to the runtime
//! would count as a crash of the function.

mod event;
mod origin_key;

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
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
use lambda_runtime::layers::TracingLayer;
use lambda_runtime::{Context, FunctionResponse, LambdaEvent, MetadataPrelude, Runtime, StreamResponse, service_fn};
use platform::settings::{SettingError, Settings};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;
use tower::util::MapFutureLayer;

use self::origin_key::OriginKeys;
use crate::request_layer::Invocation;
use crate::{ApiError, SourceHeader};

/// Settings that depend on what is deployed in front of the function.
#[derive(Clone, Debug, Default)]
pub struct LambdaSettings {
    /// Whether responses leave complete, at the end, for an API in front of the function; otherwise they are streamed as they
    /// are produced, for a function URL.
    buffers_responses: bool,
    source_header: SourceHeader,
    origin_keys: OriginKeys,
}

impl LambdaSettings {
    /// Reads `RESPONSE_MODE`, `SOURCE_IP_HEADER`, `ORIGIN_KEY` and `PREVIOUS_ORIGIN_KEY`. The default mode is `buffer` under
    /// `AWS_SAM_LOCAL`, whose emulator supports nothing else, and `stream` otherwise.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let buffers = |text: &str| ["stream", "buffer"].iter().position(|mode| *mode == text).map(|mode| mode == 1);
        let buffers_responses = settings.parse("RESPONSE_MODE", "stream or buffer", buffers)?;
        Ok(Self {
            buffers_responses: buffers_responses.unwrap_or(settings.var("AWS_SAM_LOCAL").is_some()),
            source_header: SourceHeader::from_settings(settings)?,
            origin_keys: OriginKeys::from_settings(settings)?,
        })
    }
}

tokio::task_local! {
    /// The current invocation: an instance may serve several ones concurrently.
    static SENDING: Sending;
}

/// An invocation whose response is produced and sent: its body task, and when Lambda ends it.
#[derive(Clone, Default)]
struct Sending {
    body: TaskTracker,
    end: Arc<OnceLock<Instant>>,
}

/// The year 2001, as the time since 1970. A smaller deadline is a duration.
const EARLIEST_DEADLINE: Duration = Duration::from_secs(1_000_000_000);

/// Serves `router` to the Lambda runtime until the process ends. It handles one invocation at a time, or up to
/// `AWS_LAMBDA_MAX_CONCURRENCY`, which Lambda sets on Managed Instances.
///
/// An invocation ends when its body has been read to the end, even if the runtime no longer receives it. Only then does
/// the function request the next one, and Lambda may freeze the process. Before that it awaits `after_body`, whose work no
/// client waits for, and which must return before the end of the invocation, its argument.
///
/// # Errors
/// Errors from which the runtime cannot recover.
// A client has the whole answer once the runtime has sent it, whatever the runtime does before its next request:
// https://aws.amazon.com/blogs/compute/running-code-after-returning-a-response-from-an-aws-lambda-function/, 2026-11.
pub async fn run<F>(
    router: Router,
    settings: LambdaSettings,
    after_body: impl Fn(Option<Instant>) -> F + Clone + Send + Sync + 'static,
) -> Result<(), lambda_runtime::Error>
where
    F: Future<Output = ()> + Send + 'static,
{
    let handler = service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let (router, settings) = (router.clone(), settings.clone());
        async move {
            _ = SENDING.with(|sending| sending.end.set(deadline(&event.context, SystemTime::now())));
            let response = respond(router, &settings, &event.payload, &event.context).await;
            Ok::<_, Infallible>(if settings.buffers_responses {
                FunctionResponse::BufferedResponse(to_buffered_response(response).await)
            } else {
                FunctionResponse::StreamingResponse(to_stream_response(response))
            })
        }
    });
    let body_end_layer = MapFutureLayer::new(move |sending| {
        let after_body = after_body.clone();
        async move {
            let invocation_end = await_body_end(sending).await;
            after_body(invocation_end).await;
            Ok(())
        }
    });
    Runtime::new(handler).layer(TracingLayer::new()).layer(body_end_layer).run_concurrent().await
}

/// Waits until the body task of an invocation has ended. A response that did not reach the runtime does not end the
/// process. Returns the end of the invocation.
async fn await_body_end(response: impl Future<Output = Result<(), lambda_runtime::Error>>) -> Option<Instant> {
    let sending = Sending::default();
    let result = SENDING.scope(sending.clone(), response).await;
    sending.body.close();
    sending.body.wait().await;
    if result.is_err() {
        tracing::warn!("the answer was not taken to its end");
    }
    sending.end.get().copied()
}

async fn respond(router: Router, settings: &LambdaSettings, event: &RawValue, context: &Context) -> Response {
    match accept_request(settings, event).await {
        Ok(mut request) => {
            request.extensions_mut().insert(Invocation { deadline: deadline(context, SystemTime::now()) });
            router.oneshot(request).await.into_response()
        }
        // The error still passes through the request layer, which adds the id and the error format to every response.
        Err(error) => {
            let respond_with_error = move || async move { error };
            crate::wrap_routes(
                Router::new().route("/", any(respond_with_error)),
                crate::Origins::default(),
                crate::Exposure::Public,
            )
            .oneshot(Request::new(Body::empty()))
            .await
            .into_response()
        }
    }
}

/// The request of an event, if it came through the CDN that the settings require.
async fn accept_request(settings: &LambdaSettings, event: &RawValue) -> Result<Request<Body>, ApiError> {
    let mut request = event::parse_request(event)?;
    settings.origin_keys.check(&mut request).await?;
    settings.source_header.apply_to(&mut request);
    Ok(request)
}

/// Converts the context's deadline, in wall-clock milliseconds since 1970, to the monotonic clock.
///
/// `cargo lambda watch` sends the length of an invocation instead of its end. No real deadline is that early.
fn deadline(context: &Context, now: SystemTime) -> Instant {
    let reported = Duration::from_millis(context.deadline);
    let remaining = if reported < EARLIEST_DEADLINE {
        reported
    } else {
        (SystemTime::UNIX_EPOCH + reported).duration_since(now).unwrap_or_default()
    };
    Instant::now() + remaining
}

#[expect(clippy::field_reassign_with_default, reason = "the type is not exhaustive and has no builder")]
fn to_stream_response(
    response: Response,
) -> StreamResponse<impl Stream<Item = Result<Bytes, Infallible>> + Unpin + Send + use<>> {
    let (head, body) = response.into_parts();
    let (sender, chunks) = mpsc::channel(1);
    SENDING.with(|sending| sending.body.spawn(forward_body(body, sender)));
    let stream = unfold(chunks, |mut chunks| async move { Some((Ok(chunks.recv().await?), chunks)) });
    let mut metadata_prelude = MetadataPrelude::default();
    metadata_prelude.status_code = head.status;
    metadata_prelude.headers = head.headers;
    StreamResponse { metadata_prelude, stream: Box::pin(stream) }
}

/// Forwards a body, and reads it to the end even if the receiver is gone: a turn ends with its body.
///
/// The runtime would write a body error into the response. Our bodies never fail; if one did, it would just end.
async fn forward_body(body: Body, sender: mpsc::Sender<Bytes>) {
    let mut body = body.into_data_stream();
    while let Some(Ok(chunk)) = body.next().await {
        let _disconnected = sender.send(chunk).await;
    }
}

async fn to_buffered_response(response: Response) -> Value {
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let is_text = is_text(&head.headers) && !head.headers.contains_key(header::CONTENT_ENCODING);
    let body = if is_text { String::from_utf8_lossy(&body).into_owned() } else { STANDARD.encode(&body) };
    let headers = head
        .headers
        .keys()
        .map(|name| (name.to_string(), String::from_utf8_lossy(head.headers[name].as_bytes()).into()));
    json!({
        "statusCode": head.status.as_u16(), "headers": headers.collect::<Map<_, _>>(), "body": body,
        "isBase64Encoded": !is_text,
    })
}

fn is_text(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or("text/plain");
    ["text/", "application/json", "image/svg+xml"].iter().any(|prefix| content_type.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceIp;

    fn source_ip_of(setting: Option<&str>, header: &str) -> Option<SourceIp> {
        let settings = Settings::from_pairs(setting.map(|name| ("SOURCE_IP_HEADER", name)));
        let mut request = Request::builder().header("x-viewer-address", header).body(Body::empty()).unwrap();
        request.extensions_mut().insert(SourceIp([192, 0, 2, 1].into()));
        LambdaSettings::from_settings(&settings).unwrap().source_header.apply_to(&mut request);
        request.extensions().get().copied()
    }

    #[test]
    fn f112_source_header_counts_only_if_configured() {
        let platform = Some(SourceIp([192, 0, 2, 1].into()));
        assert_eq!(source_ip_of(Some("X-Viewer-Address"), "203.0.113.9"), Some(SourceIp([203, 0, 113, 9].into())));
        assert_eq!(
            source_ip_of(Some("x-viewer-address"), "2001:db8::1"),
            Some(SourceIp("2001:db8::1".parse().unwrap()))
        );
        assert_eq!(source_ip_of(Some("x-viewer-address"), "203.0.113.9, 203.0.113.8"), platform);
        assert_eq!(source_ip_of(Some("x-other"), "203.0.113.9"), platform);
        assert_eq!(source_ip_of(None, "203.0.113.9"), platform);
        let unusable = Settings::from_pairs([("SOURCE_IP_HEADER", "a b")]);
        assert_eq!(LambdaSettings::from_settings(&unusable).unwrap_err().variable, "SOURCE_IP_HEADER");
    }

    #[tokio::test(start_paused = true)]
    async fn f091_deadline_is_absolute_or_a_duration() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_900_000_000);
        let mut context = Context::default();
        for (deadline_ms, seconds_left) in [(1_900_000_007_000, 7), (1_899_999_999_000, 0), (600_000, 600)] {
            context.deadline = deadline_ms;
            assert_eq!(deadline(&context, now) - Instant::now(), Duration::from_secs(seconds_left));
        }
    }
}
