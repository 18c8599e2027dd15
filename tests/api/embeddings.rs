//! `POST /v1/embeddings`: OpenAI's embeddings, by the endpoint that articles use.

use serde_json::{Value, json};
use support::{Completion, FakeEndpoint, Reply, Request, TestApp};

async fn start(endpoint: &FakeEndpoint, more: &[(&str, &str)]) -> TestApp {
    let settings =
        [("EMBEDDINGS_MODEL", "m"), ("EMBEDDINGS_BASE_URL", &*endpoint.url()), ("EMBEDDINGS_API_KEY", "sk-canary")];
    TestApp::start_with(&[&settings, more].concat()).await
}

/// The fields of a request.
fn fields(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// An endpoint whose vectors have the length of their text, the last one first.
async fn start_endpoint() -> FakeEndpoint {
    let endpoint = FakeEndpoint::start_permissive().await;
    endpoint.respond_with(|request| {
        let fields = fields(request);
        let texts = fields["input"].as_array().unwrap().clone();
        let row = |(index, text): (usize, &Value)| {
            let length = text.as_str().unwrap().chars().count();
            let float = fields["encoding_format"] == "float";
            json!({ "index": index, "embedding": if float { json!([length, 0.5]) } else { json!("AAAA") } })
        };
        let rows: Vec<Value> = texts.iter().enumerate().map(row).rev().collect();
        Reply::json(200, &json!({ "object": "list", "data": rows, "usage": { "prompt_tokens": texts.len() } }))
    });
    endpoint
}

#[tokio::test]
async fn texts_are_embedded_in_their_order() {
    let endpoint = start_endpoint().await;
    let app = start(&endpoint, &[]).await;
    let texts: Vec<String> = (1..=25).map(|length| "x".repeat(length)).collect();
    let answer = app.post("/v1/embeddings", &json!({ "model": "m", "input": texts, "dimensions": 2 })).await.ok();
    let expected = |(index, text): (usize, &String)| json!({ "object": "embedding", "index": index, "embedding": [text.len(), 0.5] });
    assert_eq!(answer["data"], texts.iter().enumerate().map(expected).collect::<Value>());
    assert_eq!(answer["usage"], json!({ "prompt_tokens": 25, "total_tokens": 25 }));
    assert_eq!((&answer["object"], &answer["model"]), (&json!("list"), &json!("m")));
    let requests: Vec<Value> = endpoint.requests().iter().map(fields).collect();
    assert!(requests.iter().all(|request| request["dimensions"] == 2 && request["model"] == "m"));
    assert_eq!(requests.len(), 3, "endpoints take ten texts at a time");
    let one = json!({ "model": "m", "input": "电话", "encoding_format": "base64", "user": "u" });
    assert_eq!(app.post("/v1/embeddings", &one).await.ok()["data"][0]["embedding"], "AAAA");
}

#[tokio::test]
async fn embedded_tokens_count_for_usage_and_budgets() {
    let endpoint = start_endpoint().await;
    let app = start(&endpoint, &[("USER_DAILY_TOKENS", "2")]).await;
    let body = json!({ "model": "m", "input": ["a", "b"] });
    app.post("/v1/embeddings", &body).await.ok();
    let usage = app.get("/api/usage").await.ok();
    assert_eq!((&usage["days"][0]["inputTokens"], &usage["days"][0]["turns"]), (&json!(2), &json!(1)), "{usage}");
    let refused = app.post("/v1/embeddings", &body).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
}

#[tokio::test]
async fn personal_data_is_masked_in_texts_too() {
    let endpoint = start_endpoint().await;
    let app = start(&endpoint, &[("MASK", "email")]).await;
    app.post("/v1/embeddings", &json!({ "model": "m", "input": "write to ann@example.com" })).await.ok();
    assert_eq!(fields(&endpoint.requests()[0])["input"], json!(["write to [email]"]));
}

#[tokio::test]
async fn personal_data_is_masked_in_searches_of_articles() {
    let endpoint = start_endpoint().await;
    let app = start(&endpoint, &[("MASK", "email")]).await;
    let added = app.post("/api/admin/articles", &json!({ "title": "Staff", "text": "Ann has a desk." })).await;
    assert_eq!(added.status, 201, "{}", added.text());
    let call = json!({ "name": "search_articles", "arguments": { "query": "desk of ann@example.com" } });
    let call = format!("<tool_call>{call}</tool_call>");
    app.model.queue_replies([Completion::of([call]), Completion::of(["Here."])]);
    assert_eq!(app.send_message("Where?").await.content(), "Here.");
    assert_eq!(fields(endpoint.requests().last().unwrap())["input"], json!(["desk of [email]"]));
}

#[tokio::test]
async fn unconfigured_embeddings_are_not_found() {
    let app = TestApp::start().await;
    let answer = app.post("/v1/embeddings", &json!({ "model": "m", "input": "x" })).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("not_found")));
}

#[tokio::test]
async fn faulty_embedding_requests_name_their_field() {
    let endpoint = start_endpoint().await;
    let app = start(&endpoint, &[]).await;
    for (fields, status, param) in [
        (json!({ "input": "x" }), 400, json!("model")),
        (json!({ "model": "other", "input": "x" }), 404, json!("model")),
        (json!({ "model": "m" }), 400, json!("input")),
        (json!({ "model": "m", "input": "" }), 400, json!("input")),
        (json!({ "model": "m", "input": [] }), 400, json!("input")),
        (json!({ "model": "m", "input": [[1, 2]] }), 400, json!("input")),
        (json!({ "model": "m", "input": vec!["x"; 257] }), 400, json!("input")),
        (json!({ "model": "m", "input": "x", "encoding_format": "int8" }), 400, json!("encoding_format")),
        (json!({ "model": "m", "input": "x", "dimensions": "2" }), 400, json!("dimensions")),
        (json!({ "model": "m", "input": "x", "unknown": 2 }), 400, Value::Null),
    ] {
        let answer = app.post("/v1/embeddings", &fields).await;
        assert_eq!((answer.status, &answer.json()["error"]["param"]), (status, &param), "{fields} {}", answer.text());
    }
    assert!(endpoint.requests().is_empty());
}

#[tokio::test]
async fn failures_of_the_endpoint_are_errors_without_canary() {
    let endpoint = FakeEndpoint::start_permissive().await;
    let app = start(&endpoint, &[]).await;
    for (status, body, expected) in [
        (401, json!({ "error": "canary" }), (502, "upstream_auth")),
        (404, json!({ "error": "canary" }), (502, "upstream_rejected")),
        (400, json!({ "error": "canary" }), (400, "invalid_request")),
        (200, json!({ "data": [{ "embedding": null }] }), (502, "upstream_bad_response")),
        (200, json!({ "data": [] }), (502, "upstream_bad_response")),
    ] {
        endpoint.respond_with(move |_| Reply::json(status, &body));
        let answer = app.post("/v1/embeddings", &json!({ "model": "m", "input": "canary" })).await;
        let found = answer.json()["error"]["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!((answer.status, found.as_str()), expected, "{}", answer.text());
        assert!(!answer.text().contains("canary"), "{}", answer.text());
    }
}

#[tokio::test]
async fn embedding_requests_count_for_the_rate_limit() {
    let endpoint = start_endpoint().await;
    let app = start(&endpoint, &[("CHAT_RATE_LIMIT", "1/60s")]).await;
    let body = json!({ "model": "m", "input": "x" });
    app.post("/v1/embeddings", &body).await.ok();
    let limited = app.post("/v1/embeddings", &body).await;
    assert_eq!((limited.status, &limited.json()["error"]["code"]), (429, &json!("rate_limit_exceeded")));
    assert!(!limited.header("retry-after").is_empty());
}
