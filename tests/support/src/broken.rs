use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::database_proxy::forward_to_database;

/// A fault that a [`FaultyProxy`] adds to the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Buffers a stream and sends it as a whole.
    Collects,
    /// Sends the first event, then buffers the rest and sends it as a whole.
    CollectsTheRest,
    /// Never sends the end of a turn.
    NeverEnds,
    /// Sends the end of a turn and keeps the connection open.
    StaysOpen,
    /// Finds no turn to resume (status 204).
    ResumesNothing,
    /// Ignores `Last-Event-ID` and resumes from the start.
    ForgetsThePlace,
    /// Accepts a stop request and does not stop the turn.
    DeafToStops,
    /// Accepts a delete request and deletes nothing.
    Keeps,
    /// Admits callers without a key.
    Open,
    /// Loses the model's tool calls.
    CallsNoTool,
    /// Sends a short answer as one delta.
    JoinsPieces,
}

/// A proxy in front of the product that adds one fault to it.
#[derive(Clone)]
pub struct Broken {
    http: transport::Client,
    behind: String,
    wrong: Wrong,
    /// The API key that the proxy adds to requests without one.
    key: Option<String>,
}

/// Serves a router on a free port of loopback; returns its URL.
pub async fn served(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let address = format!("http://{}", listener.local_addr().expect("a bound listener has an address"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

impl Broken {
    /// Starts a proxy in front of the product at this URL; returns the proxy's URL.
    pub async fn start(behind: &str, wrong: Wrong) -> String {
        Self::with_key(behind, wrong, None).await
    }

    /// Like [`FaultyProxy::start`]; the proxy adds `key` to requests without one.
    pub async fn with_key(behind: &str, wrong: Wrong, key: Option<String>) -> String {
        let broken =
            Self { http: transport::client().expect("a client can be made"), behind: behind.to_owned(), wrong, key };
        served(Router::new().fallback(pass).with_state(broken)).await
    }

    /// Starts a database proxy that acknowledges the transaction at the end of a turn and does not forward it.
    pub async fn database(behind: &str) -> String {
        let state = (transport::client().expect("a client can be made"), behind.to_owned());
        served(Router::new().fallback(lose).with_state(state)).await
    }

    /// The response that the proxy gives without forwarding the request.
    fn own(&self, method: &Method, path: &str) -> Option<(StatusCode, &'static str)> {
        match self.wrong {
            Wrong::ResumesNothing if path.ends_with("/stream") => Some((StatusCode::NO_CONTENT, "")),
            Wrong::DeafToStops if path.ends_with("/stop") => Some((StatusCode::ACCEPTED, r#"{"stopping":true}"#)),
            Wrong::Keeps if method == Method::DELETE => Some((StatusCode::NO_CONTENT, "")),
            _ => None,
        }
    }

    /// The body to forward: [`ProxyFault::DropsToolCalls`] replaces a message that needs a tool call.
    fn asked(&self, body: Bytes) -> Bytes {
        match (self.wrong, str::from_utf8(&body)) {
            (Wrong::CallsNoTool, Ok(text)) => text.replace("What is 37 * 43?", "Count on.").into(),
            _ => body,
        }
    }

    fn request(&self, request: &Request, body: Bytes) -> reqwest::RequestBuilder {
        let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let passed = self.http.request(request.method().clone(), format!("{}{path}", self.behind)).body(body);
        let mut names = vec!["content-type", "x-user-id", "x-api-key", "last-event-id"];
        names.retain(|name| self.wrong != Wrong::ForgetsThePlace || *name != "last-event-id");
        let passed = names.into_iter().fold(passed, |passed, name| {
            request.headers().get(name).into_iter().fold(passed, |passed, value| passed.header(name, value))
        });
        match &self.key {
            Some(key) if !request.headers().contains_key("x-api-key") => passed.header("x-api-key", key),
            _ => passed,
        }
    }

    async fn body(&self, response: reqwest::Response, short: bool) -> Body {
        let streamed = response.headers()["content-type"].as_bytes().starts_with(b"text/event-stream");
        if !streamed {
            return Body::from(response.bytes().await.expect("the product answers"));
        }
        let mut pieces = response.bytes_stream().map(|piece| piece.expect("the product answers"));
        match self.wrong {
            Wrong::JoinsPieces if short => {
                let whole = pieces.collect::<Vec<Bytes>>().await.concat();
                Body::from(joined(&String::from_utf8_lossy(&whole)))
            }
            Wrong::Collects => Body::from(pieces.collect::<Vec<Bytes>>().await.concat()),
            Wrong::CollectsTheRest => {
                let first = pieces.next().await.expect("the product answers");
                let rest = stream::once(async { Bytes::from(pieces.collect::<Vec<Bytes>>().await.concat()) });
                Body::from_stream(stream::iter([first]).chain(rest).map(Ok::<_, std::io::Error>))
            }
            Wrong::NeverEnds => {
                let before = pieces.take_while(|piece| {
                    let ends = String::from_utf8_lossy(piece).contains(r#""type":"done""#);
                    async move { !ends }
                });
                Body::from_stream(before.chain(stream::pending()).map(Ok::<_, std::io::Error>))
            }
            Wrong::StaysOpen => Body::from_stream(pieces.chain(stream::pending()).map(Ok::<_, std::io::Error>)),
            _ => Body::from_stream(pieces.map(Ok::<_, std::io::Error>)),
        }
    }
}

async fn pass(State(broken): State<Broken>, request: Request) -> Response {
    if let Some((status, body)) = broken.own(request.method(), request.uri().path()) {
        return Response::builder().status(status).body(Body::from(body)).expect("the product answers");
    }
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("the product answers");
    let (body, short) = (broken.asked(body.clone()), String::from_utf8_lossy(&body).contains("Count from 1 to 30"));
    let response =
        broken.request(&Request::from_parts(head, Body::empty()), body).send().await.expect("the product answers");
    let mut answer = Response::builder().status(response.status());
    if let Some(kind) = response.headers().get("content-type") {
        answer = answer.header("content-type", kind);
    }
    if response.content_length() == Some(0) || response.headers().get("content-type").is_none() {
        return answer.body(Body::empty()).expect("the product answers");
    }
    answer.body(broken.body(response, short).await).expect("the product answers")
}

/// Merges all content deltas of a stream into one before its end, and renumbers the frames.
fn joined(stream: &str) -> String {
    let (mut words, mut told, mut number) = (String::new(), String::new(), 0);
    for frame in stream.split_inclusive("\n\n") {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (Some(id), Some(data)) = (field("id:"), field("data:")) else {
            told += frame;
            continue;
        };
        let event: Value = serde_json::from_str(data).expect("the product answers");
        if event["type"] == "content" {
            words += event["content"].as_str().expect("the product answers");
            continue;
        }
        let turn = id.rsplit_once('-').expect("the product answers").0;
        let mut tell = |event: &Value| {
            number += 1;
            told.extend([format!("id: {turn}-{number}\ndata: {event}\n\n")]);
        };
        if event["type"] == "done" {
            tell(&json!({"type": "content", "content": std::mem::take(&mut words)}));
        }
        tell(&event);
    }
    told
}

async fn lose(State((http, behind)): State<(transport::Client, String)>, headers: HeaderMap, body: Bytes) -> Response {
    let operation = headers["x-amz-target"].to_str().expect("the product answers");
    if operation.ends_with(".TransactWriteItems") && String::from_utf8_lossy(&body).contains("REMOVE turn, leaseUntil")
    {
        return Response::new(Body::from("{}"));
    }
    forward_to_database(&http, &behind, &headers, body).await
}
