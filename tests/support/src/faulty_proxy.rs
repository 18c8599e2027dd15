use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::database_proxy::forward_to_database;
use crate::loopback::serve_router;

/// A fault that a [`FaultyProxy`] adds to the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxyFault {
    /// Buffers a stream and sends it as a whole.
    BuffersStream,
    /// Sends the first event, then buffers the rest and sends it as a whole.
    BuffersAfterFirstEvent,
    /// Never sends the end of a turn.
    NeverEnds,
    /// Sends the end of a turn and keeps the connection open.
    KeepsConnectionOpen,
    /// Finds no turn to resume (status 204).
    FindsNoTurn,
    /// Ignores `Last-Event-ID` and resumes from the start.
    IgnoresLastEventId,
    /// Accepts a stop request and does not stop the turn.
    IgnoresStop,
    /// Accepts a delete request and deletes nothing.
    IgnoresDelete,
    /// Admits callers without a key.
    SkipsAuthentication,
    /// Loses the model's tool calls.
    DropsToolCalls,
    /// Sends a short answer as one delta.
    MergesDeltas,
}

/// A proxy in front of the product that adds one fault to it.
#[derive(Clone)]
pub struct FaultyProxy {
    http: platform::transport::Client,
    upstream: String,
    fault: ProxyFault,
    /// The API key that the proxy adds to requests without one.
    key: Option<String>,
}

impl FaultyProxy {
    /// Starts a proxy in front of the product at this URL; returns the proxy's URL.
    pub async fn start(upstream: &str, fault: ProxyFault) -> String {
        Self::with_key(upstream, fault, None).await
    }

    /// Like [`FaultyProxy::start`]; the proxy adds `key` to requests without one.
    pub async fn with_key(upstream: &str, fault: ProxyFault, key: Option<String>) -> String {
        let proxy = Self {
            http: platform::transport::build_client().expect("a client can be made"),
            upstream: upstream.to_owned(),
            fault,
            key,
        };
        serve_router(Router::new().fallback(forward).with_state(proxy)).await
    }

    /// Starts a database proxy that acknowledges the transaction at the end of a turn and does not forward it.
    pub async fn start_lossy_database(upstream: &str) -> String {
        let state = (platform::transport::build_client().expect("a client can be made"), upstream.to_owned());
        serve_router(Router::new().fallback(drop_final_transaction).with_state(state)).await
    }

    /// The response that the proxy gives without forwarding the request.
    fn canned_response(&self, method: &Method, path: &str) -> Option<(StatusCode, &'static str)> {
        match self.fault {
            ProxyFault::FindsNoTurn if path.ends_with("/stream") => Some((StatusCode::NO_CONTENT, "")),
            ProxyFault::IgnoresStop if path.ends_with("/stop") => Some((StatusCode::ACCEPTED, r#"{"stopping":true}"#)),
            ProxyFault::IgnoresDelete if method == Method::DELETE => Some((StatusCode::NO_CONTENT, "")),
            _ => None,
        }
    }

    /// The body to forward: [`ProxyFault::DropsToolCalls`] replaces a message that needs a tool call.
    fn rewrite_body(&self, body: Bytes) -> Bytes {
        match (self.fault, str::from_utf8(&body)) {
            (ProxyFault::DropsToolCalls, Ok(text)) => text.replace("What is 37 * 43?", "Count on.").into(),
            _ => body,
        }
    }

    fn forwarded_request(&self, request: &Request, body: Bytes) -> reqwest::RequestBuilder {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let forwarded = self.http.request(request.method().clone(), format!("{}{path}", self.upstream)).body(body);
        let mut names = vec!["content-type", "x-user-id", "x-api-key", "last-event-id"];
        names.retain(|name| self.fault != ProxyFault::IgnoresLastEventId || *name != "last-event-id");
        let forwarded = names.into_iter().fold(forwarded, |forwarded, name| {
            request.headers().get(name).into_iter().fold(forwarded, |forwarded, value| forwarded.header(name, value))
        });
        match &self.key {
            Some(key) if !request.headers().contains_key("x-api-key") => forwarded.header("x-api-key", key),
            _ => forwarded,
        }
    }

    async fn response_body(&self, response: reqwest::Response, short: bool) -> Body {
        let streamed = response.headers()["content-type"].as_bytes().starts_with(b"text/event-stream");
        if !streamed {
            return Body::from(response.bytes().await.expect("the product answers"));
        }
        let mut chunks = response.bytes_stream().map(|piece| piece.expect("the product answers"));
        match self.fault {
            ProxyFault::MergesDeltas if short => {
                let whole = chunks.collect::<Vec<Bytes>>().await.concat();
                Body::from(merge_deltas(&String::from_utf8_lossy(&whole)))
            }
            ProxyFault::BuffersStream => Body::from(chunks.collect::<Vec<Bytes>>().await.concat()),
            ProxyFault::BuffersAfterFirstEvent => {
                let first = chunks.next().await.expect("the product answers");
                let rest = stream::once(async { Bytes::from(chunks.collect::<Vec<Bytes>>().await.concat()) });
                Body::from_stream(stream::iter([first]).chain(rest).map(Ok::<_, std::io::Error>))
            }
            ProxyFault::NeverEnds => {
                let before = chunks.take_while(|piece| {
                    let ends = String::from_utf8_lossy(piece).contains(r#""type":"done""#);
                    async move { !ends }
                });
                Body::from_stream(before.chain(stream::pending()).map(Ok::<_, std::io::Error>))
            }
            ProxyFault::KeepsConnectionOpen => {
                Body::from_stream(chunks.chain(stream::pending()).map(Ok::<_, std::io::Error>))
            }
            _ => Body::from_stream(chunks.map(Ok::<_, std::io::Error>)),
        }
    }
}

async fn forward(State(proxy): State<FaultyProxy>, request: Request) -> Response {
    if let Some((status, body)) = proxy.canned_response(request.method(), request.uri().path()) {
        return Response::builder().status(status).body(Body::from(body)).expect("the product answers");
    }
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("the product answers");
    let (body, short) =
        (proxy.rewrite_body(body.clone()), String::from_utf8_lossy(&body).contains("Count from 1 to 30"));
    let response = proxy
        .forwarded_request(&Request::from_parts(head, Body::empty()), body)
        .send()
        .await
        .expect("the product answers");
    let mut answer = Response::builder().status(response.status());
    if let Some(kind) = response.headers().get("content-type") {
        answer = answer.header("content-type", kind);
    }
    if response.content_length() == Some(0) || response.headers().get("content-type").is_none() {
        return answer.body(Body::empty()).expect("the product answers");
    }
    answer.body(proxy.response_body(response, short).await).expect("the product answers")
}

/// Merges all content deltas of a stream into one before its end, and renumbers the frames.
fn merge_deltas(stream: &str) -> String {
    let (mut text, mut output, mut number) = (String::new(), String::new(), 0);
    for frame in stream.split_inclusive("\n\n") {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (Some(id), Some(data)) = (field("id:"), field("data:")) else {
            output += frame;
            continue;
        };
        let event: Value = serde_json::from_str(data).expect("the product answers");
        if event["type"] == "content" {
            text += event["content"].as_str().expect("the product answers");
            continue;
        }
        let turn = id.rsplit_once('-').expect("the product answers").0;
        let mut emit = |event: &Value| {
            number += 1;
            output.extend([format!("id: {turn}-{number}\ndata: {event}\n\n")]);
        };
        if event["type"] == "done" {
            emit(&json!({"type": "content", "content": std::mem::take(&mut text)}));
        }
        emit(&event);
    }
    output
}

async fn drop_final_transaction(
    State((http, upstream)): State<(platform::transport::Client, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let operation = headers["x-amz-target"].to_str().expect("the product answers");
    if operation.ends_with(".TransactWriteItems") && String::from_utf8_lossy(&body).contains("REMOVE turn, leaseUntil")
    {
        return Response::new(Body::from("{}"));
    }
    forward_to_database(&http, &upstream, &headers, body).await
}
