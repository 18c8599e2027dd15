use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, RequestOrigin, new_id};
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use tokio::time::Instant;
use tracing::Instrument;

use crate::error::write_error_body;
use crate::loopback_guard::require_loopback;
use crate::{ApiError, Origins};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Source: Server Timing, a draft of the W3C.
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Maximum length of a header `traceparent` that is read, in bytes; version 00 has 55.
const MAX_TRACE_PARENT: usize = 256;

/// The invocation that carries a request; an extension of it.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// When the invocation ends.
    pub(crate) deadline: Instant,
}

/// Which clients may reach the routes at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposure {
    /// Every client; authentication decides the rest.
    Public,
    /// Programs on this machine and the server's own pages, for a server without authentication.
    LoopbackOnly,
}

/// Wraps routes in the layer that every response needs: a request id, errors in one JSON format unless the routes set
/// another, `OPTIONS` and CORS, safe headers, and a panic as a `500`.
pub fn wrap_routes(routes: Router, origins: Origins, exposure: Exposure) -> Router {
    let routes = routes.fallback(|| async { ApiError::from(ErrorCode::NotFound) });
    let routes = match exposure {
        Exposure::Public => routes,
        Exposure::LoopbackOnly => routes.layer(from_fn_with_state(origins.clone(), require_loopback)),
    };
    routes.layer(from_fn_with_state(origins, request_layer))
}

async fn request_layer(State(origins): State<Origins>, mut request: Request, next: Next) -> Response {
    let request_id = new_id();
    let deadline = request.extensions_mut().remove().map(|Invocation { deadline }| deadline.into_std());
    let received_at = Instant::now().into_std();
    let trace_parent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
    let trace_parent = trace_parent.filter(|text| text.len() <= MAX_TRACE_PARENT).map(str::to_owned);
    let origin = RequestOrigin { request_id, received_at, deadline, trace_parent, admitted_after: Arc::default() };
    request.extensions_mut().insert(origin.clone());
    // Error level, so that no log filter removes the id from the lines.
    let span = tracing::error_span!("request", requestId = origin.request_id);
    handle(origins, &origin, request, next).instrument(span).await
}

async fn handle(origins: Origins, context: &RequestOrigin, request: Request, next: Next) -> Response {
    let origin = origins.allowed_origin(request.headers()).cloned();
    let preflight = request.method() == Method::OPTIONS;
    let response = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let response = response.unwrap_or_else(|_| {
        tracing::error!("a handler panicked");
        ApiError::from(ErrorCode::Internal).into_response()
    });
    let mut response = if preflight { to_options_response(response) } else { response };
    write_error_body(&mut response, &context.request_id);
    origins.set_headers(&mut response, origin, preflight);
    set_safe_headers(response.headers_mut(), &context.request_id);
    set_server_timing(response.headers_mut(), context);
    response
}

/// Turns the router's `405` to an `OPTIONS` request into a `204` with the allowed methods: the router has no `OPTIONS`
/// handler.
fn to_options_response(response: Response) -> Response {
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    let mut granted = StatusCode::NO_CONTENT.into_response();
    if let Some(allow) = response.headers().get(header::ALLOW) {
        granted.headers_mut().insert(header::ALLOW, allow.clone());
    }
    granted
}

/// Sets how long the request took until its turn began, in milliseconds. What follows is the model's and the tools' time.
fn set_server_timing(headers: &mut HeaderMap, context: &RequestOrigin) {
    let took = context.admitted_after.get().map(|took| format!("admission;dur={:.1}", took.as_secs_f64() * 1e3));
    if let Some(value) = took.and_then(|text| HeaderValue::try_from(text).ok()) {
        headers.insert(SERVER_TIMING, value);
    }
}

fn set_safe_headers(headers: &mut HeaderMap, request_id: &str) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::{get, post};
    use domain::Failure;
    use http_body_util::BodyExt;
    use platform::settings::Settings;
    use serde_json::{Value, json};
    use tower::ServiceExt;

    use super::*;
    use crate::ErrorFormat;

    fn app() -> Router {
        let settings = Settings::from_pairs([("ALLOWED_ORIGINS", "https://a.example")]);
        let routes = Router::new()
            .route("/fine", get(|| async { "fine" }))
            .route(
                "/busy",
                post(|| async { ApiError::from(Failure::from(ErrorCode::RateLimited).with_retry_after(3)) }),
            )
            .route("/panic", get(|| async { Vec::<&str>::new().pop().expect("canary-text") }));
        wrap_routes(routes, Origins::from_settings(&settings).unwrap(), Exposure::Public)
    }

    async fn send(method: &str, path: &str) -> (StatusCode, HeaderMap, Value) {
        let request = Request::builder().method(method).uri(path).header("origin", "https://a.example");
        let (head, body) = app().oneshot(request.body(Body::empty()).unwrap()).await.unwrap().into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        (head.status, head.headers, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    #[tokio::test]
    async fn errors_share_one_format_with_request_id() {
        let (status, headers, body) = send("POST", "/busy").await;
        assert_eq!((status, &headers["retry-after"]), (StatusCode::TOO_MANY_REQUESTS, &HeaderValue::from(3)));
        let expected = json!({"error": {
            "code": "rate_limited",
            "message": "Too many requests. Please wait a moment.",
            "retryable": true,
            "requestId": headers["x-request-id"].to_str().unwrap(),
        }});
        assert_eq!(body, expected);
    }

    #[tokio::test]
    async fn custom_error_format_applies_only_to_its_routes() {
        const PLAIN_TEXT: ErrorFormat =
            ErrorFormat { content_type: "text/plain", render: |failure, _| failure.message.clone().into_bytes() };
        let busy = || post(|| async { ApiError::from(ErrorCode::RateLimited) });
        let routes =
            PLAIN_TEXT.apply_to(Router::new().route("/plain", busy())).merge(Router::new().route("/native", busy()));
        let app = wrap_routes(routes, Origins::from_settings(&Settings::default()).unwrap(), Exposure::Public);
        let send = async |method: &str, path: &str| {
            let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
            let (head, body) = app.clone().oneshot(request).await.unwrap().into_parts();
            let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
            (head.status.as_u16(), head.headers["content-type"].to_str().unwrap().to_owned(), text)
        };
        let plain = |status, text: &str| (status, "text/plain".to_owned(), text.to_owned());
        assert_eq!(send("POST", "/plain").await, plain(429, "Too many requests. Please wait a moment."));
        assert_eq!(send("GET", "/plain").await, plain(405, "This path does not support that method."));
        for (method, path, status) in [("POST", "/native", 429), ("GET", "/native", 405), ("GET", "/nowhere", 404)] {
            let (found, content_type, _) = send(method, path).await;
            assert_eq!((found, content_type.as_str()), (status, "application/json"), "{method} {path}");
        }
    }

    #[tokio::test]
    async fn f107_unknown_path_is_not_found() {
        for path in ["/", "/fine/", "//fine", "/FINE", "/%2e%2e/fine", "/fin%65%2f"] {
            let (status, _, body) = send("GET", path).await;
            assert_eq!((status, &body["error"]["code"]), (StatusCode::NOT_FOUND, &json!("not_found")), "{path}");
        }
    }

    #[tokio::test]
    async fn f108_wrong_method_gets_allow_header() {
        let (status, headers, body) = send("DELETE", "/fine").await;
        assert_eq!(
            (status, &headers["allow"]),
            (StatusCode::METHOD_NOT_ALLOWED, &HeaderValue::from_static("GET,HEAD"))
        );
        assert_eq!(body["error"]["code"], "method_not_allowed");
        assert_eq!(send("HEAD", "/fine").await.0, StatusCode::OK);
    }

    #[tokio::test]
    async fn f109_options_lists_allowed_methods() {
        let (status, headers, _) = send("OPTIONS", "/busy").await;
        assert_eq!((status, &headers["allow"]), (StatusCode::NO_CONTENT, &HeaderValue::from_static("POST")));
        assert_eq!(headers["access-control-allow-origin"], "https://a.example");
        assert_eq!(headers["vary"], "origin");
        assert_eq!(send("OPTIONS", "/nowhere").await.0, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn panic_becomes_500_without_details() {
        let (status, _, body) = send("GET", "/panic").await;
        assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(!body.to_string().contains("canary"));
    }
}
