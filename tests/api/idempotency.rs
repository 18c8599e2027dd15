//! A request that comes twice: `Idempotency-Key`.

use serde_json::{Value, json};
use support::{Answer, Client, Completion, Gate, TestApp};

const KEY: [(&str, &str); 2] = [("content-type", "application/json"), ("idempotency-key", "once")];

/// A turn answered by one document, sent with the same key each time.
async fn send(client: &Client, body: &Value) -> Answer {
    client.send("POST", "/api/chat", &KEY, body.to_string()).await
}

fn question(text: &str) -> Value {
    json!({ "message": text, "stream": false })
}

#[tokio::test]
async fn f098_a_repeat_of_a_finished_turn_says_the_same_and_asks_nobody() {
    let mut app = TestApp::on_disk().await;
    app.model.replies([Completion::of(["答"])]);
    let first = send(&app, &question("问")).await.ok();
    assert_eq!(send(&app, &question("问")).await.ok(), first);
    app.restart().await;
    assert_eq!(send(&app, &question("问")).await.ok(), first, "also by another process");
    let id = first["conversationId"].as_str().unwrap();
    assert_eq!(app.conversation(id).await["conversation"]["messageCount"], 2);
}

#[tokio::test]
async fn f098_a_repeat_of_a_running_turn_attaches_to_it() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
    let client = app.client();
    let first = tokio::spawn(async move { send(&client, &question("问")).await });
    gate.reached().await;
    let client = app.client();
    let second = tokio::spawn(async move { send(&client, &question("问")).await });
    gate.open();
    let (first, second) = (first.await.unwrap().ok(), second.await.unwrap().ok());
    assert_eq!(first["content"], "半句，整句。");
    assert_eq!(second, first);
}

#[tokio::test]
async fn f098_the_key_of_another_request_is_refused_and_keys_are_each_callers_own() {
    let app = TestApp::start().await;
    app.model.answer(|_| Completion::of(["答"]));
    let first = send(&app, &question("问")).await.ok();
    assert_eq!(send(&app, &question("别的")).await.error(), (409, "idempotency_mismatch".to_owned()));
    let other = send(&app.user("bob"), &question("别的")).await.ok();
    assert_ne!(other["conversationId"], first["conversationId"]);
}

#[tokio::test]
async fn f098_a_request_that_was_refused_leaves_its_key_free() {
    let app = TestApp::start().await;
    let lost = json!({ "message": "问", "stream": false, "conversationId": "01ARZ3NDEKTSV4RRFFQ69G5FAV" });
    assert_eq!(send(&app, &lost).await.error(), (404, "not_found".to_owned()));
    app.model.replies([Completion::of(["答"])]);
    assert_eq!(send(&app, &question("问")).await.ok()["content"], "答");
}

#[tokio::test]
async fn f150_a_deleted_conversation_takes_its_keys_along() {
    let app = TestApp::start().await;
    app.model.answer(|_| Completion::of(["答"]));
    let first = send(&app, &question("问")).await.ok();
    app.delete(&format!("/api/conversations/{}", first["conversationId"].as_str().unwrap())).await;
    let again = send(&app, &question("另一个")).await.ok();
    assert_ne!(again["conversationId"], first["conversationId"]);
}

#[tokio::test]
async fn a_key_that_cannot_be_one_is_refused() {
    let app = TestApp::start().await;
    let long = "k".repeat(256);
    for key in ["", &long] {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        let refused = app.send("POST", "/api/chat", &headers, question("问").to_string()).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    }
}
