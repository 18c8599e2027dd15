//! `check` with an embeddings endpoint.

use serde_json::json;
use support::{FakeEndpoint, FakeTavily, Reply};

use crate::check::{ANSWER, NOTES, STREAMING, TOOLS, WINDOW, WORKS, check, failed, good_model, passed, report};

const KEY: &str = "sk-canary-embeddings";

fn vector() -> Reply {
    Reply::json(200, &json!({ "data": [{ "index": 0, "embedding": [0.5, -0.25, 0.125] }] }))
}

/// The output of a good model and search, and this line for the embeddings endpoint.
fn report_with(line: &str, conclusion: &str) -> String {
    let good = report(&[ANSWER, STREAMING, TOOLS, WINDOW].concat(), "");
    format!("{good}embeddings (m-1 at 127.0.0.1:N)\n{line}\n{conclusion}")
}

/// Runs `check` with an embeddings endpoint at this address.
async fn check_at(address: &str, more: &[(&str, &str)]) -> crate::program::Run {
    let (model, search) = (good_model().await, FakeTavily::start().await);
    let settings = [("EMBEDDINGS_MODEL", "m-1"), ("EMBEDDINGS_BASE_URL", address), ("EMBEDDINGS_API_KEY", KEY)];
    let run = check(&model, &search, &[&settings, more].concat()).await;
    assert!(!format!("{run:?}").contains("canary"), "{run:?}");
    run
}

#[tokio::test]
async fn embeddings_endpoint_is_checked_with_one_request() {
    let endpoint = FakeEndpoint::start_permissive().await;
    endpoint.respond_with(|_| vector());
    let line = "  ok      embeddings 3 dimensions, after N s";
    assert_eq!(check_at(&format!("{}/v1", endpoint.url()), &[]).await, passed(&report_with(line, WORKS)));
    let requests = endpoint.requests();
    assert_eq!((requests.len(), &*requests[0].path), (1, "/v1/embeddings"));
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {KEY}"));
    let body = requests[0].json();
    assert_eq!((&body["model"], body["input"].as_array().unwrap().len()), (&json!("m-1"), 1));
}

#[tokio::test]
async fn embeddings_failures_name_what_to_set() {
    let wrong_path = "127.0.0.1:N does not speak this protocol: set EMBEDDINGS_BASE_URL";
    for (reply, text) in [
        (Reply::status(401), "the key was rejected: set EMBEDDINGS_API_KEY"),
        (
            Reply::status(404),
            "the server has no model `m-1` (HTTP 404): set EMBEDDINGS_MODEL, or EMBEDDINGS_BASE_URL if its path is wrong",
        ),
        (
            Reply::status(400),
            "the request was rejected (HTTP 400): set EMBEDDINGS_MODEL to a model for embeddings, which `m-1` may not be",
        ),
        (
            Reply::status(402),
            "the account has no balance or quota left (HTTP 402): top it up, or set EMBEDDINGS_API_KEY to another account's",
        ),
        (
            Reply::status(429),
            "too many requests, or the quota is used up: try again later, or set EMBEDDINGS_API_KEY to another account's",
        ),
        (
            Reply::status(503),
            "127.0.0.1:N cannot be reached or is broken: start the server, set EMBEDDINGS_BASE_URL, or try again later",
        ),
        (Reply::json(200, &json!({ "data": [] })), wrong_path),
        (Reply::status(200).bytes("canary"), wrong_path),
    ] {
        let endpoint = FakeEndpoint::start_permissive().await;
        endpoint.respond_with(move |_| reply.clone());
        let expected = report_with(&format!("  FAILED  embeddings {text}"), "");
        assert_eq!(check_at(&endpoint.url(), &[]).await, failed(&expected));
        assert_eq!(endpoint.requests().len(), 1, "no retry");
    }
}

#[tokio::test]
async fn unreachable_embeddings_endpoint_fails() {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/v1", closed.local_addr().unwrap());
    drop(closed);
    let line = "  FAILED  embeddings 127.0.0.1:N cannot be reached, the connection is refused: start the server, or set \
                EMBEDDINGS_BASE_URL";
    assert_eq!(check_at(&address, &[]).await, failed(&report_with(line, "")));
}

#[tokio::test]
async fn check_without_embeddings_has_no_such_section() {
    let (model, search) = (good_model().await, FakeTavily::start().await);
    let run = check(&model, &search, &[]).await;
    assert!(!run.output.contains("embeddings") && !run.output.contains(NOTES), "{run:?}");
}
