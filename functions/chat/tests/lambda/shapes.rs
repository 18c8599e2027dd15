use std::time::Duration;

use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::Completion;

use crate::instance::{Instance, events, only};

const LONG: Duration = Duration::from_mins(5);

/// What other services, people and tests hand to a function.
fn others() -> Vec<Value> {
    // As a load balancer sends it: much like a REST API's, without a resource.
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
async fn f113_events_of_other_shapes_are_bad_requests_and_not_failures() {
    let streaming = Instance::start().await;
    let buffering = Instance::with(&[("RESPONSE_MODE", "buffer")]).await;
    for event in others() {
        let mut answer = streaming.api.invoke(&event, LONG).answer().await.expect_streamed();
        let prelude = answer.prelude().await;
        let body: Value = serde_json::from_str(&answer.rest().await).unwrap();
        assert_eq!((prelude.status, &body["error"]["code"]), (400, &json!("invalid_request")), "{event}");
        assert_eq!(body["error"]["requestId"], prelude.header("x-request-id"), "{event}");
        let document = buffering.api.invoke(&event, LONG).answer().await.expect_buffered();
        assert_eq!(document["statusCode"], 400, "{event}");
    }
}

#[tokio::test]
async fn f105_a_body_in_base64_is_read_and_bad_base64_is_a_bad_request() {
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
async fn f107_paths_are_taken_as_they_are() {
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
async fn an_apis_named_stage_is_not_a_part_of_the_path() {
    let instance = Instance::start().await;
    for (path, status) in [("/prod/healthz", 200), ("/healthz", 200), ("/production/healthz", 404)] {
        let mut answer = instance.call(&HttpEvent::get(path).with_context("stage", "prod")).await.expect_streamed();
        assert_eq!(answer.prelude().await.status, status, "{path}");
    }
}

#[tokio::test]
async fn f113_headers_that_make_no_address_do_no_harm() {
    let instance = Instance::start().await;
    let event = HttpEvent::get("/healthz").header("host", "a b").header("x-forwarded-proto", "::");
    let mut answer = instance.call(&event).await.expect_streamed();
    assert_eq!(answer.prelude().await.status, 200);
}
