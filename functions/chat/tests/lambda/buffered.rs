use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::Completion;

use crate::instance::{Instance, events, only};

#[tokio::test]
async fn buffered_response_holds_the_whole_stream() {
    for setting in [("RESPONSE_MODE", "buffer"), ("AWS_SAM_LOCAL", "true")] {
        let instance = Instance::start_with(&[setting]).await;
        instance.model.queue_replies([Completion::of(["你", "好"])]);
        let document = instance.send_message("打个招呼").await.expect_buffered();
        assert_eq!((&document["statusCode"], &document["isBase64Encoded"]), (&json!(200), &json!(false)));
        assert_eq!(document["headers"]["content-type"], "text/event-stream; charset=utf-8");
        let events = events(document["body"].as_str().unwrap());
        assert_eq!(events[0]["type"], "start");
        assert_eq!(only(&events, "done")["finishReason"], "stop");
        instance.function.freeze();
    }
}

#[tokio::test]
async fn routes_without_a_stream_are_documents_too() {
    let instance = Instance::start_with(&[("RESPONSE_MODE", "buffer")]).await;
    for (path, status, kind) in [
        ("/", 200, "text/html; charset=utf-8"),
        ("/assets/icon.svg", 200, "image/svg+xml"),
        ("/healthz", 200, "application/json"),
        ("/nowhere", 404, "application/json"),
    ] {
        let document = instance.call(&HttpEvent::get(path)).await.expect_buffered();
        let reported = (&document["statusCode"], &document["headers"]["content-type"], &document["isBase64Encoded"]);
        assert_eq!(reported, (&json!(status), &json!(kind), &json!(false)), "{path}");
        assert!(document["body"].as_str().is_some_and(|body| !body.is_empty()), "{path}: {document}");
    }
    let health = instance.call(&HttpEvent::get("/healthz")).await.expect_buffered();
    let body: Value = serde_json::from_str(health["body"].as_str().unwrap()).unwrap();
    assert_eq!(body["status"], "ok");
}

#[tokio::test]
async fn compressed_documents_are_sent_as_base64() {
    let instance = Instance::start_with(&[("RESPONSE_MODE", "buffer")]).await;
    for path in ["/", "/openapi.json"] {
        let request = HttpEvent::get(path).header("accept-encoding", "gzip");
        let document = instance.call(&request).await.expect_buffered();
        let sent = (&document["headers"]["content-encoding"], &document["isBase64Encoded"]);
        assert_eq!(sent, (&json!("gzip"), &json!(true)), "{path}");
        // The first bytes of every gzip stream.
        assert!(document["body"].as_str().is_some_and(|body| body.starts_with("H4sI")), "{path}");
    }
}
