//! The way from an invocation to the routes and back.
//!
//! The events are those of payload format 2.0, which function URLs and HTTP APIs send. Anything else (a warmer, a REST
//! API, somebody's direct invocation) gets an HTTP `400` like any other bad request: an error to the runtime would count
//! as a crash of the function.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use conversation::ErrorCode;
use futures_util::{Stream, StreamExt};
use http::{Request, header};
use lambda_http::aws_lambda_events::apigw::{ApiGatewayV2httpRequest, ApiGatewayV2httpResponse};
use lambda_http::lambda_runtime::{self, FunctionResponse, MetadataPrelude, StreamResponse};
use lambda_http::request::LambdaRequest;
use lambda_http::{Context, LambdaEvent, service_fn};
use serde_json::value::RawValue;
use settings::{SettingError, Settings};
use tokio::time::Instant;
use tower::ServiceExt;

use crate::ApiError;

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

/// When the invocation that carries a request ends; an extension of the request.
#[derive(Clone, Copy, Debug)]
pub struct InvocationDeadline(pub Instant);

/// Serves `router` to the runtime until the process ends; `thaw` is told the wall clock at the start of each invocation.
///
/// # Errors
/// What the runtime cannot recover from.
pub async fn run(
    router: Router,
    mode: ResponseMode,
    thaw: impl Fn(SystemTime) + Send + Sync + 'static,
) -> Result<(), lambda_http::Error> {
    let thaw = Arc::new(thaw);
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Box<RawValue>>| {
        let (router, thaw) = (router.clone(), thaw.clone());
        async move {
            thaw(SystemTime::now());
            let response = answer(router, &event.payload, &event.context).await;
            Ok::<_, Infallible>(match mode {
                ResponseMode::Stream => FunctionResponse::StreamingResponse(streamed(response)),
                ResponseMode::Buffer => FunctionResponse::BufferedResponse(buffered(response).await),
            })
        }
    }))
    .await
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
            crate::edge(Router::new().fallback(refuse), crate::Origins::default())
                .oneshot(Request::new(Body::empty()))
                .await
                .into_response()
        }
    }
}

fn request(event: &RawValue) -> Result<Request<Body>, ApiError> {
    let refused = |sentence: &str| ApiError::new(ErrorCode::InvalidRequest, sentence);
    let event: ApiGatewayV2httpRequest =
        serde_json::from_str(event.get()).map_err(|_| refused("The event is not an HTTP request of format 2.0"))?;
    if event.version.as_deref() != Some("2.0") || event.raw_path.is_none() {
        return Err(refused("The event is not an HTTP request of format 2.0"));
    }
    let encoded = event.body.as_deref().filter(|_| event.is_base64_encoded);
    if encoded.is_some_and(|body| STANDARD.decode(body).is_err()) {
        return Err(refused("The body of the event is not valid base64"));
    }
    let request: lambda_http::Request = LambdaRequest::ApiGatewayV2(event).into();
    Ok(request.map(|body| Body::from(body.to_vec())))
}

/// The context counts in wall-clock milliseconds, everything here in the clock that cannot be set.
fn deadline(context: &Context, now: SystemTime) -> Instant {
    let end = SystemTime::UNIX_EPOCH + Duration::from_millis(context.deadline);
    Instant::now() + end.duration_since(now).unwrap_or_default()
}

fn streamed(response: Response) -> StreamResponse<impl Stream<Item = Result<Bytes, Infallible>> + Unpin + Send> {
    let (head, body) = response.into_parts();
    // An error in the body would be written into it by the runtime. Ours never fails; if it did, it would just end.
    let stream = body.into_data_stream().take_while(|chunk| std::future::ready(chunk.is_ok()));
    let stream = stream.filter_map(|chunk| std::future::ready(chunk.ok().map(Ok)));
    let mut metadata_prelude = MetadataPrelude::default();
    metadata_prelude.status_code = head.status;
    metadata_prelude.headers = head.headers;
    StreamResponse { metadata_prelude, stream: Box::pin(stream) }
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

fn is_text(headers: &http::HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("text/plain");
    ["text/", "application/json", "image/svg+xml"].iter().any(|text| kind.starts_with(text))
}
