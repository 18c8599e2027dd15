//! Repeated requests with `Idempotency-Key`.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, Gate, TestApp};

const KEYED_HEADERS: [(&str, &str); 2] = [("content-type", "application/json"), ("idempotency-key", "once")];

/// Runs a turn whose response is one document, always with the same key.
async fn send(client: &Client, body: &Value) -> ApiResponse {
    client.send("POST", "/api/chat", &KEYED_HEADERS, body.to_string()).await
}

fn request_body(text: &str) -> Value {
    json!({ "message": text, "stream": false })
}

#[tokio::test]
async fn f098_repeat_of_finished_turn_replays_it() {
    let mut app = TestApp::start_on_disk().await;
    app.model.queue_replies([Completion::of(["答"])]);
    let first = send(&app, &request_body("问")).await.ok();
    assert_eq!(send(&app, &request_body("问")).await.ok(), first);
    app.restart().await;
    assert_eq!(send(&app, &request_body("问")).await.ok(), first, "also by another process");
    let id = first["conversationId"].as_str().unwrap();
    assert_eq!(app.conversation(id).await["conversation"]["messageCount"], 2);
}

#[tokio::test]
async fn f098_repeat_of_running_turn_subscribes_to_it() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
    let client = app.client();
    let first = tokio::spawn(async move { send(&client, &request_body("问")).await });
    gate.wait_until_reached().await;
    let client = app.client();
    let second = tokio::spawn(async move { send(&client, &request_body("问")).await });
    gate.open();
    let (first, second) = (first.await.unwrap().ok(), second.await.unwrap().ok());
    assert_eq!(first["content"], "半句，整句。");
    assert_eq!(second, first);
}

#[tokio::test]
async fn f098_simultaneous_repeats_share_one_turn() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["一。"])]);
    let id = app.send_message("问").await.conversation_id();
    let next = json!({ "message": "又问", "stream": false, "conversationId": id });
    for (key, body) in [("new", request_body("又问")), ("next", next)] {
        let gate = Gate::new();
        app.model.queue_replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
        let sent = (0..8).map(|_| {
            let (client, body) = (app.client(), body.to_string());
            let headers = [("content-type", "application/json"), ("idempotency-key", key)];
            tokio::spawn(async move { client.send("POST", "/api/chat", &headers, body).await })
        });
        let sent: Vec<_> = sent.collect();
        gate.wait_until_reached().await;
        gate.open();
        for sent in sent {
            assert_eq!(sent.await.unwrap().ok()["content"], "半句，整句。", "{key}");
        }
    }
    assert_eq!(app.model.requests().len(), 3);
    assert_eq!(app.conversation(&id).await["conversation"]["messageCount"], 4);
}

#[tokio::test]
async fn f098_keys_are_per_caller_and_reject_other_requests() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["答"]));
    let first = send(&app, &request_body("问")).await.ok();
    assert_eq!(send(&app, &request_body("别的")).await.error(), (409, "idempotency_mismatch".to_owned()));
    let other = send(&app.as_user("bob"), &request_body("别的")).await.ok();
    assert_ne!(other["conversationId"], first["conversationId"]);
}

#[tokio::test]
async fn f098_rejected_request_leaves_its_key_free() {
    let app = TestApp::start().await;
    let lost = json!({ "message": "问", "stream": false, "conversationId": "01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    assert_eq!(send(&app, &lost).await.error(), (404, "not_found".to_owned()));
    app.model.queue_replies([Completion::of(["答"])]);
    assert_eq!(send(&app, &request_body("问")).await.ok()["content"], "答");
}

#[tokio::test]
async fn f150_deleted_conversation_frees_its_keys() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["答"]));
    let first = send(&app, &request_body("问")).await.ok();
    app.delete(&format!("/api/conversations/{}", first["conversationId"].as_str().unwrap())).await;
    let again = send(&app, &request_body("另一个")).await.ok();
    assert_ne!(again["conversationId"], first["conversationId"]);
}

#[tokio::test]
async fn invalid_key_is_rejected() {
    let app = TestApp::start().await;
    let long = "k".repeat(256);
    for key in ["", &long] {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        let refused = app.send("POST", "/api/chat", &headers, request_body("问").to_string()).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    }
}
