//! The checks of a deployment, made of the product, and of versions of it that are broken on purpose: each is caught.

use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use secrecy::ExposeSecret;
use secrets::Secret;
use smoke::{Limits, Outcome, Target, Verdict, Wish};
use support::TestApp;
use tokio::net::TcpListener;

use crate::auth::{database, product};

/// The demo model answers at a pace of its own, in many pieces.
const DEMO: [(&str, &str); 3] = [("OPENAI_MODEL", ""), ("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")];

/// What a version does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    /// It collects a stream and sends it whole.
    Collects,
    /// It sends the first event, and the rest whole.
    CollectsTheRest,
    /// The end of a turn never comes.
    NeverEnds,
    /// The end comes, and the connection stays.
    StaysOpen,
    /// It knows of no turn to be resumed.
    ResumesNothing,
    /// It resumes from the start.
    ForgetsThePlace,
    /// It says that it stops, and does not.
    DeafToStops,
    /// It deletes nothing.
    Keeps,
    /// It lets in whoever has no key.
    Open,
}

/// What stands before the product and does something wrong.
#[derive(Clone)]
struct Front {
    http: transport::Client,
    behind: String,
    wrong: Wrong,
    /// A key that it adds for whoever has none.
    key: Option<String>,
}

async fn served(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

impl Front {
    async fn start(behind: &str, wrong: Wrong) -> String {
        Self::with_key(behind, wrong, None).await
    }

    async fn with_key(behind: &str, wrong: Wrong, key: Option<String>) -> String {
        let front = Self { http: transport::client().unwrap(), behind: behind.to_owned(), wrong, key };
        served(Router::new().fallback(pass).with_state(front)).await
    }

    /// What it answers by itself.
    fn own(&self, method: &Method, path: &str) -> Option<(StatusCode, &'static str)> {
        match self.wrong {
            Wrong::ResumesNothing if path.ends_with("/stream") => Some((StatusCode::NO_CONTENT, "")),
            Wrong::DeafToStops if path.ends_with("/stop") => Some((StatusCode::ACCEPTED, r#"{"stopping":true}"#)),
            Wrong::Keeps if method == Method::DELETE => Some((StatusCode::NO_CONTENT, "")),
            _ => None,
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

    async fn body(&self, response: reqwest::Response) -> Body {
        let streamed = response.headers()["content-type"].as_bytes().starts_with(b"text/event-stream");
        if !streamed {
            return Body::from(response.bytes().await.unwrap());
        }
        let mut pieces = response.bytes_stream().map(Result::unwrap);
        match self.wrong {
            Wrong::Collects => Body::from(pieces.collect::<Vec<Bytes>>().await.concat()),
            Wrong::CollectsTheRest => {
                let first = pieces.next().await.unwrap();
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

async fn pass(State(front): State<Front>, request: Request) -> Response {
    if let Some((status, body)) = front.own(request.method(), request.uri().path()) {
        return Response::builder().status(status).body(Body::from(body)).unwrap();
    }
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let response = front.request(&Request::from_parts(head, Body::empty()), body).send().await.unwrap();
    let mut answer = Response::builder().status(response.status());
    if let Some(kind) = response.headers().get("content-type") {
        answer = answer.header("content-type", kind);
    }
    if response.content_length() == Some(0) || response.headers().get("content-type").is_none() {
        return answer.body(Body::empty()).unwrap();
    }
    answer.body(front.body(response).await).unwrap()
}

/// Patient with a busy machine, but not with what never comes.
fn limits(turn: Duration) -> Limits {
    let short = Duration::from_millis(500);
    Limits { answer: turn, first_event: turn, turn, stop: turn, close: short }
}

const PATIENT: Duration = Duration::from_mins(1);

async fn outcomes(address: &str, key: Option<&str>, turn: Duration) -> Vec<Outcome> {
    let target = Target::new(address, key.map(Secret::by_value)).unwrap();
    let mut said = Vec::new();
    let wish = Wish { model: None, limits: limits(turn) };
    let good = Box::pin(smoke::run(target, wish, |outcome| said.push(outcome.clone()))).await;
    assert_eq!(good, failed(&said).is_empty());
    said
}

fn failed(outcomes: &[Outcome]) -> Vec<&'static str> {
    let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
    failed.map(|outcome| outcome.name).collect()
}

#[tokio::test]
async fn every_check_of_the_product_holds_and_nothing_is_left_behind() {
    let app = TestApp::with(&DEMO).await;
    let outcomes = outcomes(app.base(), None, PATIENT).await;
    let others: Vec<&str> =
        outcomes.iter().filter(|one| !matches!(one.verdict, Verdict::Passed(_))).map(|one| one.name).collect();
    assert_eq!(others, ["access"], "{outcomes:#?}");
    let left = app.user("smoke").get("/api/conversations").await.ok();
    assert_eq!(left["conversations"], serde_json::json!([]));
}

#[tokio::test]
async fn a_version_that_does_something_wrong_is_caught_at_it() {
    let app = TestApp::with(&DEMO).await;
    let cases = [
        (Wrong::Collects, &["streaming", "stop"] as &[&str]),
        (Wrong::CollectsTheRest, &["streaming", "stop"]),
        (Wrong::StaysOpen, &["end", "tool", "resume", "stop"]),
        (Wrong::ResumesNothing, &["resume"]),
        (Wrong::ForgetsThePlace, &["resume"]),
        (Wrong::DeafToStops, &["stop"]),
        (Wrong::Keeps, &["deletion"]),
    ];
    let visits = cases.map(async |(wrong, caught)| {
        let address = Front::start(app.base(), wrong).await;
        let outcomes = outcomes(&address, None, PATIENT).await;
        assert_eq!(failed(&outcomes), caught, "{wrong:?}: {outcomes:#?}");
    });
    join_all(visits).await;
}

#[tokio::test]
async fn a_version_that_lets_strangers_in_is_caught_and_one_that_asks_for_a_key_gets_it() {
    let product = product(&[&DEMO[..], &[("AUTH", "api_key")]].concat()).await;
    let key = product.key("smoke", None).await.text().expose_secret().to_owned();
    let sound = outcomes(product.app.base(), Some(&key), PATIENT).await;
    assert!(sound.iter().all(|one| matches!(one.verdict, Verdict::Passed(_))), "{sound:#?}");
    let address = Front::with_key(product.app.base(), Wrong::Open, Some(key.clone())).await;
    assert_eq!(failed(&outcomes(&address, Some(&key), PATIENT).await), ["access"]);
    let without = outcomes(product.app.base(), None, PATIENT).await;
    assert_eq!(failed(&without), ["access", "first event", "tool", "resume", "stop"], "{without:#?}");
    assert!(!format!("{sound:?}{without:?}").contains(&key));
}

#[tokio::test]
async fn a_version_whose_turns_never_end_is_caught_in_bounded_time() {
    let app = TestApp::with(&DEMO).await;
    let address = Front::start(app.base(), Wrong::NeverEnds).await;
    let outcomes = outcomes(&address, None, Duration::from_secs(5)).await;
    assert_eq!(failed(&outcomes), ["end", "tool", "resume", "stop"], "{outcomes:#?}");
}

#[tokio::test]
async fn a_version_that_loses_the_write_of_an_answer_is_caught() {
    let behind = database().await;
    let losing = Router::new().fallback(lose).with_state((transport::client().unwrap(), behind));
    let endpoint = served(losing).await;
    let app = TestApp::with(&[&DEMO[..], &[("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str())]].concat()).await;
    let outcomes = outcomes(app.base(), None, PATIENT).await;
    let failed = failed(&outcomes);
    assert!(failed.starts_with(&["storage", "resume"]), "{outcomes:#?}");
}

/// A database that says yes to the transaction that ends a turn, and writes nothing.
async fn lose(State((http, behind)): State<(transport::Client, String)>, headers: HeaderMap, body: Bytes) -> Response {
    let operation = headers["x-amz-target"].to_str().unwrap();
    if operation.ends_with(".TransactWriteItems") && String::from_utf8_lossy(&body).contains("REMOVE turn, leaseUntil")
    {
        return Response::new(Body::from("{}"));
    }
    let kept = ["x-amz-target", "content-type", "authorization", "x-amz-date"];
    let request = kept.iter().fold(http.post(&behind).body(body), |request, name| {
        headers.get(*name).into_iter().fold(request, |request, value| request.header(*name, value))
    });
    let answer = request.send().await.unwrap();
    let status = answer.status();
    Response::builder().status(status).body(Body::from(answer.bytes().await.unwrap())).unwrap()
}
