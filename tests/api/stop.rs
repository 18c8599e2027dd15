//! Turns that a caller stops, or deletes with their conversation, at their own or another instance.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeTavily, Gate, TestApp, with_timeout};

use crate::auth::start_database;
use crate::{search_call, start_half_answer};

/// Starts two instances on one database; returns them and its URL.
async fn start_two_instances() -> (TestApp, TestApp, String) {
    let database = start_database().await;
    let settings = [("AWS_ENDPOINT_URL_DYNAMODB", database.as_str())];
    (TestApp::start_with(&settings).await, TestApp::start_with(&settings).await, database)
}

async fn send_stop(client: &Client, id: &str) -> (u16, Value) {
    let answer = client.send("POST", &format!("/api/conversations/{id}/stop"), &[], "").await;
    (answer.status, answer.json())
}

fn stop_response(yes: bool) -> (u16, Value) {
    (if yes { 202 } else { 200 }, json!({ "stopping": yes }))
}

/// The content, the status and the finish reason of the stored answer.
async fn stored_answer(client: &Client, id: &str) -> Value {
    let message = client.conversation(id).await["messages"].as_array().unwrap().last().unwrap().clone();
    json!([message["content"], message["status"], message.get("finishReason")])
}

#[tokio::test]
async fn stop_at_own_instance_keeps_partial_text() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    assert_eq!(send_stop(&app, &id).await, stop_response(true));
    let turn = turn.read_to_end().await;
    app.model.wait_for_hang_ups(1).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "stopped"));
    let usage = turn.events_of("usage")[0].clone();
    assert!(usage["inputTokens"].as_u64() > Some(0) && usage["outputTokens"].as_u64() > Some(0), "{usage}");
    assert_eq!(usage["estimated"], true);
    assert_eq!(stored_answer(&app, &id).await, json!(["半句", "complete", "stopped"]));
    assert_eq!(send_stop(&app, &id).await, stop_response(false), "it is over");
    app.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(
        app.follow_up(&id, "又").await.finish_reason(),
        "stop",
        "the conversation is free when the stream has ended"
    );
    let talk = app.model.wait_for_request(2).await.dialogue();
    let texts: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["说", "半句", "又"]);
    assert_eq!(stored_answer(&app, &id).await, json!(["好。", "complete", null]));
}

#[tokio::test]
async fn stop_at_other_instance_ends_the_turn() {
    let (app, other, _) = start_two_instances().await;
    let gate = Gate::new();
    let (turn, id) = start_half_answer(&app, &gate).await;
    for _ in 0..2 {
        assert_eq!(send_stop(&other, &id).await, stop_response(true), "a second time it is the same");
    }
    let turn = turn.read_to_end().await;
    app.model.wait_for_hang_ups(1).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("半句", "stopped"));
    assert_eq!(stored_answer(&other, &id).await, json!(["半句", "complete", "stopped"]));
    assert_eq!(send_stop(&other, &id).await, stop_response(false));
    other.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(
        other.follow_up(&id, "又").await.finish_reason(),
        "stop",
        "the next turn is not the one that was stopped"
    );
}

#[tokio::test]
async fn all_subscribers_receive_the_stop() {
    let (app, other, _) = start_two_instances().await;
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).end()]);
    let waits = [app.client(), app.client(), other.client()].map(|client| tokio::spawn(send_keyed_request(client)));
    gate.wait_until_reached().await;
    let id = app.get("/api/conversations").await.ok()["conversations"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(send_stop(&other, &id).await, stop_response(true));
    let mut documents = Vec::new();
    for wait in waits {
        documents.push(wait.await.unwrap().ok());
    }
    assert_eq!(documents[0]["finishReason"], "stopped");
    assert_eq!(documents[0]["content"], "半句");
    assert!(documents.iter().all(|one| *one == documents[0]), "{documents:?}");
    assert_eq!(send_keyed_request(other.client()).await.ok(), documents[0], "and a later request");
}

/// Sends the same request with the same key.
async fn send_keyed_request(client: Client) -> ApiResponse {
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    client.send("POST", "/api/chat", &headers, json!({ "message": "说", "stream": false }).to_string()).await
}

#[tokio::test]
async fn turn_can_be_stopped_before_first_token() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::of(["好。"]).wait_before_head(&gate)]);
    let mut turn = app.open(&json!({ "message": "说" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    assert_eq!(send_stop(&app, &id).await, stop_response(true));
    let turn = turn.read_to_end().await;
    app.model.wait_for_hang_ups(1).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("", "stopped"));
    assert_eq!(stored_answer(&app, &id).await, json!(["", "complete", "stopped"]));
}

#[tokio::test]
async fn turn_can_be_stopped_during_a_tool_call() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::of([search_call("天气")])]);
    let held = gate.clone();
    app.search.respond_with(move |body| FakeTavily::search_reply(body).wait_before_head(&held));
    let mut turn = app.open(&json!({ "message": "天气如何？" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    assert_eq!(send_stop(&app, &id).await, stop_response(true));
    let turn = turn.read_to_end().await;
    assert_eq!(turn.finish_reason(), "stopped");
    let usage = turn.events_of("usage")[0].clone();
    assert!(usage["inputTokens"].as_u64() > Some(0) && usage["outputTokens"].as_u64() > Some(0), "{usage}");
    let result = turn.events_of("tool_result")[0];
    assert_eq!(
        json!([result["ok"], result["summary"], result["error"]["code"]]),
        json!([false, "not finished", "failed"])
    );
    let message = app.conversation(&id).await["messages"][1].clone();
    let call_state =
        json!([message["toolCalls"][0]["ok"], message["toolCalls"][0]["summary"], message["finishReason"]]);
    assert_eq!(call_state, json!([false, "not finished", "stopped"]));
    gate.open_permanently();
    app.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(app.follow_up(&id, "又").await.content(), "好。");
}

#[tokio::test]
async fn f150_deletion_at_other_instance_ends_the_turn() {
    let (app, other, database) = start_two_instances().await;
    let gate = Gate::new();
    app.model.queue_replies([
        Completion::of([search_call("天气")]),
        Completion::new().text("半句").wait(&gate).text("，整句。").end(),
        Completion::of(["新的。"]),
    ]);
    let client = app.client();
    let turn = tokio::spawn(async move { send_keyed_request(client).await });
    gate.wait_until_reached().await;
    let id = app.get("/api/conversations").await.ok()["conversations"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(other.delete(&format!("/api/conversations/{id}")).await.status, 204);
    assert_eq!(turn.await.unwrap().ok()["finishReason"], "stopped");
    app.model.wait_for_hang_ups(1).await;
    for instance in [&app, &other] {
        assert_eq!(instance.get(&format!("/api/conversations/{id}")).await.error().0, 404);
        assert_eq!(instance.get("/api/conversations").await.ok()["conversations"], json!([]));
        assert_eq!(instance.get("/api/admin/executions").await.ok()["executions"], json!([]));
    }
    for table in ["lambda-chat-data", "lambda-chat-ephemeral"] {
        assert!(!scan_table(&database, table).await.contains(&id), "{table}");
    }
    assert_ne!(send_keyed_request(app.client()).await.ok()["conversationId"], id, "its key leads nowhere");
}

/// All items of a table as JSON.
pub(crate) async fn scan_table(database: &str, table: &str) -> String {
    call_database(database, "Scan", &json!({ "TableName": table })).await
}

/// Sends an operation to the database; returns its response.
pub(crate) async fn call_database(database: &str, operation: &str, request: &Value) -> String {
    let signed =
        "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
    let call = platform::transport::build_client().unwrap().post(database).header("authorization", signed);
    let call = call.header("x-amz-target", format!("DynamoDB_20120810.{operation}"));
    let call = call.header("x-amz-date", "20260101T000000Z").header("content-type", "application/x-amz-json-1.0");
    let answer = with_timeout("a response of the database", call.body(request.to_string()).send()).await.unwrap();
    let status = answer.status();
    let text = with_timeout("a body of the database", answer.text()).await.unwrap();
    assert_eq!(status, 200, "{text}");
    text
}
