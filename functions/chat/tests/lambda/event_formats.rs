use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::Completion;

use crate::instance::{INVOCATION_TIME, Instance, events, only};

/// Events of other services and of direct invocations.
fn unsupported_events() -> Vec<Value> {
    // As a load balancer sends it: similar to a REST API's, without a resource.
    let balancer = json!({
        "path": "/healthz", "httpMethod": "GET", "headers": {}, "queryStringParameters": {},
        "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:us-east-1:0:targetgroup/a/b" } },
        "body": "", "isBase64Encoded": false,
    });
    let scheduled = json!({
        "version": "0", "id": "1", "detail-type": "Scheduled Event", "source": "aws.events", "account": "0",
        "time": "2030-01-01T00:00:00Z", "region": "us-east-1", "resources": [], "detail": {},
    });
    let queue = json!({ "Records": [{ "messageId": "1", "body": "{}", "eventSource": "aws:sqs" }] });
    let no_path = json!({ "version": "2.0", "requestContext": { "http": { "method": "GET" } } });
    let empty_path = json!({ "version": "2.0", "rawPath": "", "requestContext": { "http": { "method": "GET" } } });
    let no_method =
        json!({ "version": "2.0", "rawPath": "/healthz", "requestContext": { "http": { "method": "G T" } } });
    vec![
        balancer,
        scheduled,
        queue,
        no_path,
        empty_path,
        no_method,
        json!({}),
        json!([]),
        json!("warm"),
        json!(null),
        json!(7),
    ]
}

#[tokio::test]
async fn f113_unsupported_events_are_bad_requests() {
    let streaming = Instance::start().await;
    let buffering = Instance::start_with(&[("RESPONSE_MODE", "buffer")]).await;
    for event in unsupported_events() {
        let mut answer = streaming.api.invoke(&event, INVOCATION_TIME).answer().await.expect_streamed();
        let prelude = answer.prelude().await;
        let body: Value = serde_json::from_str(&answer.rest().await).unwrap();
        assert_eq!((prelude.status, &body["error"]["code"]), (400, &json!("invalid_request")), "{event}");
        assert_eq!(body["error"]["requestId"], prelude.header("x-request-id"), "{event}");
        let document = buffering.api.invoke(&event, INVOCATION_TIME).answer().await.expect_buffered();
        assert_eq!(document["statusCode"], 400, "{event}");
    }
}

#[tokio::test]
async fn f105_base64_body_is_decoded_or_rejected() {
    let instance = Instance::start().await;
    instance.model.queue_replies([Completion::of(["好"])]);
    let event = HttpEvent::post("/api/chat", &json!({})).with("isBase64Encoded", true);
    let mut answer = instance.call(&event.clone().with("body", "eyJtZXNzYWdlIjoi5L2g5aW9In0=")).await.expect_streamed();
    assert_eq!(answer.prelude().await.status, 200);
    assert_eq!(only(&events(&answer.rest().await), "done")["finishReason"], "stop");
    drop(answer);
    for bad in ["{}", "eyJ", "eyJtZXNzYWdlIjoi5L2g5aW9In0=\u{0}", "–"] {
        let mut answer = instance.call(&event.clone().with("body", bad)).await.expect_streamed();
        assert_eq!(answer.prelude().await.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn f107_paths_are_not_normalised() {
    let instance = Instance::start().await;
    for path in [
        "/api/../healthz",
        "/%2e%2e/healthz",
        "//healthz",
        "/healthz/",
        "/healthz ",
        "/health\\z",
        "/茶",
        "/a\u{0}b",
        "/#",
    ] {
        let mut answer = instance.call(&HttpEvent::get("/").with("rawPath", path)).await.expect_streamed();
        assert_eq!(answer.prelude().await.status, 404, "{path:?}");
        answer.rest().await;
    }
    let mut answer = instance.call(&HttpEvent::get("/").with("rawPath", "/healthz?x")).await.expect_streamed();
    assert_eq!(answer.prelude().await.status, 404, "a question mark in a path begins no query");
}

#[tokio::test]
async fn named_stage_is_not_part_of_the_path() {
    let instance = Instance::start().await;
    for (path, status) in [("/prod/healthz", 200), ("/healthz", 200), ("/production/healthz", 404)] {
        let mut answer = instance.call(&HttpEvent::get(path).with_context("stage", "prod")).await.expect_streamed();
        assert_eq!(answer.prelude().await.status, status, "{path}");
    }
}

#[tokio::test]
async fn f113_headers_without_a_valid_address_are_harmless() {
    let instance = Instance::start().await;
    let event = HttpEvent::get("/healthz").header("host", "a b").header("x-forwarded-proto", "::");
    let mut answer = instance.call(&event).await.expect_streamed();
    assert_eq!(answer.prelude().await.status, 200);
}
