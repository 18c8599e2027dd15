//! DynamoDB's HTTP interface in front of the embedded database, for other programs on this machine.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::calls::CallSender;
use super::operations::{self, TARGET};

const JSON: &str = "application/x-amz-json-1.0";

/// Size limit of a body, as in DynamoDB.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// Timeout for the head of a request, and for an idle connection; the SDK drops its own connections earlier.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);

const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Limit of concurrent connections; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 256;

/// Host name by which Docker Desktop's containers reach their host.
const DOCKER_HOST_NAME: &str = "host.docker.internal";

/// A header that only browsers send, with every request.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

#[derive(Clone, Copy, Debug)]
pub(super) enum Guard {
    /// The listener itself admits only the owner of the data folder.
    OwnerOnly,
    /// Any program on this machine, but no page in a browser.
    NoBrowsers,
}

/// Serves the database to the connections of a listener that `admits` accepts; `stop` ends them.
pub(super) async fn serve<L: Listener>(
    mut listener: L,
    calls: CallSender,
    guard: Guard,
    admits: fn(&L::Io) -> bool,
    stop: CancellationToken,
) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let slot = Arc::clone(&slots).acquire_owned().await;
        // It waits when the system has no free descriptors.
        let (stream, _) = listener.accept().await;
        if !admits(&stream) {
            continue;
        }
        let calls = calls.clone();
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            let calls = &calls;
            let service =
                service_fn(|request| async move { Ok::<_, Infallible>(respond(request, guard, calls).await) });
            let mut http = http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
            // Connection errors are for the client to report.
            let _ended = http.serve_connection(TokioIo::new(stream), service).await;
            drop(slot);
        }));
    }
}

async fn respond(request: Request<Incoming>, guard: Guard, calls: &CallSender) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    if matches!(guard, Guard::NoBrowsers) && !is_from_local_program(&head.headers) {
        return refusal(StatusCode::FORBIDDEN, "Only programs of this machine may use the database, and no web page.");
    }
    if head.method != Method::POST || !is_json(&head.headers) {
        return refusal(StatusCode::NOT_FOUND, "DynamoDB takes POST requests with JSON.");
    }
    let target = head.headers.get(TARGET).and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = operations::operation_named(target);
    let body = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_BODY_BYTES).collect()).await;
    let Ok(Ok(body)) = body else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large, or it did not come to its end.");
    };
    match calls.call(operation, body.to_bytes().into()).await {
        Ok(Answer { status, json, .. }) => {
            response(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), json)
        }
        Err(_) => refusal(StatusCode::SERVICE_UNAVAILABLE, "The database ended."),
    }
}

/// Whether a request is not from a browser, and its `Host` is this machine (no DNS rebinding).
fn is_from_local_program(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    let is_own = host.is_some_and(is_this_machine) && hosts.next().is_none();
    is_own && !headers.contains_key(ORIGIN) && !headers.contains_key(SEC_FETCH_SITE)
}

/// Whether a `Host` is a loopback address or name, or Docker's name of this machine, with a port or without.
fn is_this_machine(host: &str) -> bool {
    let name = host.split_once(':').map_or(host, |(name, _)| name);
    let host =
        if name.eq_ignore_ascii_case(DOCKER_HOST_NAME) { host.replacen(name, "localhost", 1) } else { host.to_owned() };
    platform::transport::is_loopback_host(&host)
}

/// Whether the content type is JSON; pages can send other types without a CORS preflight.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let essence = value.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case(JSON) || essence.eq_ignore_ascii_case("application/json")
}

fn refusal(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    response(status, serde_json::json!({ "message": message }).to_string().into_bytes())
}

fn response(status: StatusCode, json: Vec<u8>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(json));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_admitted(headers: &[(&'static str, &str)]) -> bool {
        let headers =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap()));
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        is_from_local_program(&map)
    }

    #[test]
    fn f144_only_local_hosts_are_admitted() {
        for host in ["127.0.0.1:8000", "127.0.0.1", "127.9.9.9:1", "localhost:8000", "LocalHost", "[::1]:8000", "[::1]"]
        {
            assert!(is_admitted(&[("host", host)]), "{host}");
        }
        assert!(is_admitted(&[("host", "host.docker.internal:8000")]));
        for host in [
            "",
            "evil.example:8000",
            "127.0.0.1.evil.example",
            "evil.example@127.0.0.1",
            "localhost.evil.example:1",
            "[localhost]:1",
            "127.0.0.1:abc",
            "127.0.0.1:99999",
            "127.0.0.1:+80",
            "host.docker.internal.evil.example",
            "127.0.0.1:",
            "0.0.0.0:8000",
            "10.0.0.1",
            "[::ffff:10.0.0.1]",
            "::1:8000",
        ] {
            assert!(!is_admitted(&[("host", host)]), "{host}");
        }
        assert!(!is_admitted(&[]));
        assert!(!is_admitted(&[("host", "127.0.0.1"), ("host", "evil.example")]));
    }

    #[test]
    fn f144_browser_pages_are_rejected() {
        for (name, value) in [
            ("origin", "http://evil.example"),
            ("origin", "http://127.0.0.1:8000"),
            ("origin", "null"),
            ("sec-fetch-site", "same-origin"),
            ("sec-fetch-site", "none"),
        ] {
            assert!(!is_admitted(&[("host", "127.0.0.1:8000"), (name, value)]), "{name}: {value}");
        }
    }
}
