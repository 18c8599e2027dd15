use std::time::Duration;

use serde_json::{Value, json};
use support::Completion;

use crate::instance::{Instance, events, only};

/// A request as a REST API sends it: payload format 1.0.
fn event(method: &str, path: &str, headers: &Value, query: &Value, body: Option<&str>) -> Value {
    json!({
        "resource": "/{proxy+}", "path": path, "httpMethod": method, "headers": null, "multiValueHeaders": headers,
        "queryStringParameters": null, "multiValueQueryStringParameters": query,
        "pathParameters": { "proxy": path }, "stageVariables": null,
        "requestContext": {
            "accountId": "000000000000", "apiId": "abcdefghij", "httpMethod": method, "path": format!("/v1{path}"),
            "stage": "v1", "identity": { "sourceIp": "203.0.113.9", "userAgent": "test" },
        },
        "body": body, "isBase64Encoded": false,
    })
}

async fn answer(instance: &Instance, event: &Value) -> (u16, String) {
    let mut answer = instance.api.invoke(event, Duration::from_mins(5)).answer().await.expect_streamed();
    (answer.prelude().await.status, answer.rest().await)
}

#[tokio::test]
async fn rest_api_event_starts_a_turn() {
    let instance = Instance::start().await;
    instance.model.queue_replies([Completion::of(["你好"])]);
    let headers =
        json!({ "Content-Type": ["application/json"], "X-User-Id": ["小王"], "bad name": ["x"], "X": ["\n"] });
    let chat = event("POST", "/api/chat", &headers, &json!(null), Some(r#"{"message": "打个招呼"}"#));
    let (status, body) = answer(&instance, &chat).await;
    assert_eq!((status, &only(&events(&body), "content")["content"]), (200, &json!("你好")));
    let first = json!({ "Content-Type": ["application/json"], "X-User-Id": ["ann"] });
    let chat = event("POST", "/api/chat", &first, &json!(null), Some("{"));
    assert_eq!(answer(&instance, &chat).await.0, 400);
}

#[tokio::test]
async fn rest_api_path_and_query_are_converted() {
    let instance = Instance::start().await;
    let none = json!(null);
    for (path, query, status) in [
        ("/healthz", none.clone(), 200),
        ("/v1/healthz", none.clone(), 404),
        ("/api/usage", json!({ "days": ["7"] }), 200),
        ("/api/usage", json!({ "days": ["x"] }), 400),
        ("/api/conversations", json!({ "cursor": ["不 & #"], "limit": ["5"] }), 400),
        ("/api/conversations", json!({ "li&mit": ["0"] }), 200),
        ("/茶", none.clone(), 404),
    ] {
        assert_eq!(answer(&instance, &event("GET", path, &none, &query, None)).await.0, status, "{path} {query}");
    }
}

#[tokio::test]
async fn rest_api_buffered_response_is_one_document() {
    let instance = Instance::start_with(&[("RESPONSE_MODE", "buffer")]).await;
    let health = event("GET", "/healthz", &json!(null), &json!(null), None);
    let document = instance.api.invoke(&health, Duration::from_mins(5)).answer().await.expect_buffered();
    assert_eq!((&document["statusCode"], &document["isBase64Encoded"]), (&json!(200), &json!(false)));
}
