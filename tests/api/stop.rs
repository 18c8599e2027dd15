//! Turns that a caller stops, or deletes with their conversation, at their own or another instance.

use serde_json::{Value, json};
use support::{Answer, Client, Completion, FakeTavily, Gate, TestApp, within};

use crate::auth::database;
use crate::{call, half_said};

/// Starts two instances on one database; returns them and its URL.
async fn two_instances() -> (TestApp, TestApp, String) {
    let database = database().await;
    let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.as_str())];
    (TestApp::with(&settings).await, TestApp::with(&settings).await, database)
}

async fn stop(client: &Client, id: &str) -> (u16, Value) {
    let answer = client.send("POST", &format!("/api/conversations/{id}/stop"), &[], "").await;
    (answer.status, answer.json())
}

fn stopping(yes: bool) -> (u16, Value) {
    (if yes { 202 } else { 200 }, json!({ "stopping": yes }))
}

/// The content, the status and the finish reason of the stored answer.
async fn stored(client: &Client, id: &str) -> Value {
    let message = client.conversation(id).await["messages"].as_array().unwrap().last().unwrap().clone();
    json!([message["content"], message["status"], message.get("finishReason")])
}

#[tokio::test]
async fn stop_at_own_instance_keeps_partial_text() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = half_said(&app, &gate).await;
    assert_eq!(stop(&app, &id).await, stopping(true));
    let turn = turn.rest().await;
    app.model.hung_up(1).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "stopped"));
    let usage = turn.of("usage")[0].clone();
    assert!(usage["inputTokens"].as_u64() > Some(0) && usage["outputTokens"].as_u64() > Some(0), "{usage}");
    assert_eq!(usage["estimated"], true);
    assert_eq!(stored(&app, &id).await, json!(["半句", "complete", "stopped"]));
    assert_eq!(stop(&app, &id).await, stopping(false), "it is over");
    app.model.replies([Completion::of(["好。"])]);
    assert_eq!(
        app.go_on(&id, "又").await.finish_reason(),
        "stop",
        "the conversation is free when the stream has ended"
    );
    let talk = app.model.asked(2).await.talk();
    let told: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(told, ["说", "半句", "又"]);
    assert_eq!(stored(&app, &id).await, json!(["好。", "complete", null]));
}

#[tokio::test]
async fn stop_at_other_instance_ends_the_turn() {
    let (app, other, _) = two_instances().await;
    let gate = Gate::new();
    let (turn, id) = half_said(&app, &gate).await;
    for _ in 0..2 {
        assert_eq!(stop(&other, &id).await, stopping(true), "a second time it is the same");
    }
    let turn = turn.rest().await;
    app.model.hung_up(1).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "stopped"));
    assert_eq!(stored(&other, &id).await, json!(["半句", "complete", "stopped"]));
    assert_eq!(stop(&other, &id).await, stopping(false));
    other.model.replies([Completion::of(["好。"])]);
    assert_eq!(other.go_on(&id, "又").await.finish_reason(), "stop", "the next turn is not the one that was stopped");
}

#[tokio::test]
async fn all_subscribers_receive_the_stop() {
    let (app, other, _) = two_instances().await;
    let gate = Gate::new();
    app.model.replies([Completion::new().text("半句").wait(&gate).end()]);
    let waits = [app.client(), app.client(), other.client()].map(|client| tokio::spawn(document(client)));
    gate.reached().await;
    let id = app.get("/api/conversations").await.ok()["conversations"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(stop(&other, &id).await, stopping(true));
    let mut told = Vec::new();
    for wait in waits {
        told.push(wait.await.unwrap().ok());
    }
    assert_eq!(told[0]["finishReason"], "stopped");
    assert_eq!(told[0]["content"], "半句");
    assert!(told.iter().all(|one| *one == told[0]), "{told:?}");
    assert_eq!(document(other.client()).await.ok(), told[0], "and whoever asks later");
}

/// Sends the same request with the same key.
async fn document(client: Client) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    client.send("POST", "/api/chat", &headers, json!({ "message": "说", "stream": false }).to_string()).await
}

#[tokio::test]
async fn turn_can_be_stopped_before_first_token() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.replies([Completion::of(["好。"]).held(&gate)]);
    let mut turn = app.open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.reached().await;
    assert_eq!(stop(&app, &id).await, stopping(true));
    let turn = turn.rest().await;
    app.model.hung_up(1).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("", "stopped"));
    assert_eq!(stored(&app, &id).await, json!(["", "complete", "stopped"]));
}

#[tokio::test]
async fn turn_can_be_stopped_during_a_tool_call() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.replies([Completion::of([call("天气")])]);
    let held = gate.clone();
    app.search.answer(move |body| FakeTavily::found(body).held(&held));
    let mut turn = app.open(&json!({ "message": "天气如何？" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.reached().await;
    assert_eq!(stop(&app, &id).await, stopping(true));
    let turn = turn.rest().await;
    assert_eq!(turn.finish_reason(), "stopped");
    let usage = turn.of("usage")[0].clone();
    assert!(usage["inputTokens"].as_u64() > Some(0) && usage["outputTokens"].as_u64() > Some(0), "{usage}");
    let message = app.conversation(&id).await["messages"][1].clone();
    let called = json!([message["toolCalls"][0]["ok"], message["toolCalls"][0]["summary"], message["finishReason"]]);
    assert_eq!(called, json!([false, "not finished", "stopped"]));
    gate.open_for_good();
    app.model.replies([Completion::of(["好。"])]);
    assert_eq!(app.go_on(&id, "又").await.content(), "好。");
}

#[tokio::test]
async fn f150_deletion_at_other_instance_ends_the_turn() {
    let (app, other, database) = two_instances().await;
    let gate = Gate::new();
    app.model.replies([
        Completion::of([call("天气")]),
        Completion::new().text("半句").wait(&gate).text("，整句。").end(),
        Completion::of(["新的。"]),
    ]);
    let client = app.client();
    let turn = tokio::spawn(async move { document(client).await });
    gate.reached().await;
    let id = app.get("/api/conversations").await.ok()["conversations"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(other.delete(&format!("/api/conversations/{id}")).await.status, 204);
    assert_eq!(turn.await.unwrap().ok()["finishReason"], "stopped");
    app.model.hung_up(1).await;
    for instance in [&app, &other] {
        assert_eq!(instance.get(&format!("/api/conversations/{id}")).await.error().0, 404);
        assert_eq!(instance.get("/api/conversations").await.ok()["conversations"], json!([]));
        assert_eq!(instance.get("/api/admin/executions").await.ok()["executions"], json!([]));
    }
    for table in ["lambda-chat-data", "lambda-chat-ephemeral"] {
        assert!(!everything(&database, table).await.contains(&id), "{table}");
    }
    assert_ne!(document(app.client()).await.ok()["conversationId"], id, "its key leads nowhere");
}

/// All items of a table as JSON.
pub(crate) async fn everything(database: &str, table: &str) -> String {
    ask(database, "Scan", &json!({ "TableName": table })).await
}

/// Sends an operation to the database; returns its response.
pub(crate) async fn ask(database: &str, operation: &str, request: &Value) -> String {
    let signed =
        "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
    let call = transport::client().unwrap().post(database).header("authorization", signed);
    let call = call.header("x-amz-target", format!("DynamoDB_20120810.{operation}"));
    let call = call.header("x-amz-date", "20260101T000000Z").header("content-type", "application/x-amz-json-1.0");
    let answer = within("a response of the database", call.body(request.to_string()).send()).await.unwrap();
    let status = answer.status();
    let text = within("a body of the database", answer.text()).await.unwrap();
    assert_eq!(status, 200, "{text}");
    text
}
