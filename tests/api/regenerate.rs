//! `POST /api/conversations/{id}/regenerate`: a new answer to the last message.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeModel, Gate, MODEL, Reply, TestApp};

async fn regenerate(client: &Client, id: &str, body: &Value) -> ApiResponse {
    client.post(&format!("/api/conversations/{id}/regenerate"), body).await
}

/// Creates a conversation with these messages, each answered by `答` and the message.
async fn create_conversation(app: &TestApp, texts: &[&str]) -> String {
    app.model.respond_with(|request| Completion::of([format!("答{}", request.last_message())]));
    let mut id: Option<String> = None;
    for text in texts {
        let turn = match &id {
            None => app.send_message(text).await,
            Some(id) => app.follow_up(id, text).await,
        };
        id = Some(turn.conversation_id());
    }
    id.unwrap()
}

/// The content and the status of each message.
async fn read_messages(client: &Client, id: &str) -> Vec<Value> {
    let whole = client.conversation(id).await;
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(whole["conversation"]["messageCount"], messages.len());
    messages.iter().map(|message| json!([message["content"], message["status"]])).collect()
}

fn complete_rows(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!([text, "complete"])).collect()
}

#[tokio::test]
async fn new_answer_replaces_the_last_one() {
    let app = TestApp::start().await;
    let id = create_conversation(&app, &["一", "二"]).await;
    let (request_count, before) = (app.model.requests().len(), app.conversation(&id).await["messages"][2].clone());
    app.model.queue_replies([Completion::of(["新的"])]);
    let turn = app.regenerate(&id, &json!({})).await.read_to_end().await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("新的", "stop"));
    assert_eq!(turn.conversation_id(), id);
    assert_eq!(turn.events_of("title").len(), 0, "a conversation gets its title once");
    let talk = app.model.wait_for_request(request_count + 1).await.dialogue();
    let texts: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["一", "答一", "二"], "the model does not see the answer that it is to replace");
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "答一", "二", "新的"]));
    let messages = app.conversation(&id).await["messages"].clone();
    assert_eq!(messages[2], before, "the user's message is the same one");
    assert_eq!(messages[3]["id"], turn.message_id());
    app.follow_up(&id, "三").await;
    let talk = app.model.wait_for_request(request_count + 2).await.dialogue();
    let texts: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["一", "答一", "二", "新的", "三"]);
}

#[tokio::test]
async fn response_formats_and_errors_match_chat() {
    let app = TestApp::start().await;
    let id = create_conversation(&app, &["一"]).await;
    let path = format!("/api/conversations/{id}/regenerate");
    let without_a_body = app.send("POST", &path, &[], "").await;
    assert_eq!(without_a_body.header("content-type"), "text/event-stream; charset=utf-8");
    assert!(without_a_body.text().contains(r#""type":"content","content":"答一""#), "{}", without_a_body.text());
    let accumulated = app.post(&format!("{path}?sse=accumulated"), &json!({})).await;
    assert!(accumulated.text().contains(r#""content":"答一","thinking":"""#), "{}", accumulated.text());
    let document = regenerate(&app, &id, &json!({ "stream": false })).await.ok();
    assert_eq!((&document["content"], &document["finishReason"]), (&json!("答一"), &json!("stop")));
    let json: &[_] = &[("content-type", "application/json")];
    let wrong = [
        ("", &[] as &[_], "{}", (415, "unsupported_media_type")),
        ("", json, "[]", (400, "invalid_request")),
        ("", json, r#"{"stream":1}"#, (400, "invalid_request")),
        ("", &[("x-agent-id", "nobody")] as &[_], "", (400, "invalid_request")),
        ("?sse=all", &[] as &[_], "", (400, "invalid_request")),
    ];
    for (query, headers, body, (status, code)) in wrong {
        let refused = app.send("POST", &format!("{path}{query}"), headers, body).await;
        assert_eq!(refused.error(), (status, code.to_owned()), "{query} {headers:?} {body}");
    }
    assert_eq!(
        regenerate(&app, &id, &json!({ "modelType": "nobody" })).await.error(),
        (400, "invalid_request".to_owned())
    );
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "答一"]));
}

#[tokio::test]
async fn another_model_may_regenerate_the_answer() {
    let second = FakeModel::start().await;
    let entry = json!({ "name": "second", "baseUrl": second.url(), "model": MODEL, "apiKeyVar": "OPENAI_API_KEY" });
    let app = TestApp::start_with(&[("MODELS", &json!([entry]).to_string())]).await;
    let id = create_conversation(&app, &["一"]).await;
    second.queue_replies([Completion::of(["乙的回答"])]);
    let document = regenerate(&app, &id, &json!({ "modelType": "second", "stream": false })).await.ok();
    assert_eq!((&document["model"], &document["content"]), (&json!("second"), &json!("乙的回答")));
    let whole = app.conversation(&id).await;
    assert_eq!((&whole["messages"][1]["model"], &whole["conversation"]["model"]), (&json!("second"), &json!("second")));
}

#[tokio::test]
async fn failed_regeneration_keeps_the_previous_answer() {
    let app = TestApp::start().await;
    let id = create_conversation(&app, &["一"]).await;
    app.model.queue_replies([Reply::status(401)]);
    let turn = app.regenerate(&id, &json!({})).await.read_to_end().await;
    assert_eq!(turn.error_code(), "upstream_auth");
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "答一"]));
    app.model.queue_replies([Reply::status(401)]);
    assert_eq!(regenerate(&app, &id, &json!({ "stream": false })).await.error().1, "upstream_auth");
    app.follow_up(&id, "二").await;
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "答一", "二", "答二"]));
    let talk = app.model.requests().last().unwrap().dialogue();
    let texts: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["一", "答一", "二"]);
}

#[tokio::test]
async fn failed_or_stopped_turn_can_be_regenerated() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Reply::status(401)]);
    let failed = app.send_message("一").await;
    let id = failed.conversation_id();
    assert_eq!(read_messages(&app, &id).await[1], json!(["", "failed"]));
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).end()]);
    let mut running = app.regenerate(&id, &json!({})).await;
    running.read_until("content").await;
    assert_eq!(read_messages(&app, &id).await[1], json!(["", "running"]), "the running answer is shown");
    assert_eq!(app.post(&format!("/api/conversations/{id}/stop"), &json!({})).await.status, 202);
    assert_eq!(running.read_to_end().await.finish_reason(), "stopped");
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "半句"]));
    app.model.queue_replies([Completion::of(["整句。"])]);
    regenerate(&app, &id, &json!({ "stream": false })).await.ok();
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "整句。"]));
}

#[tokio::test]
async fn f099_regeneration_during_a_turn_is_rejected() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
    let mut turn = app.open(&json!({ "message": "一" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    let refused = regenerate(&app, &id, &json!({})).await;
    assert_eq!(refused.error(), (409, "turn_in_progress".to_owned()));
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
    gate.open();
    turn.read_to_end().await;
    for unknown in ["01J00000000000000000000000", "x"] {
        assert_eq!(regenerate(&app, unknown, &json!({})).await.error(), (404, "not_found".to_owned()));
    }
    assert_eq!(regenerate(&app.as_user("mallory"), &id, &json!({})).await.error(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn f098_idempotency_key_covers_regeneration() {
    let app = TestApp::start().await;
    let id = create_conversation(&app, &["一"]).await;
    let other = create_conversation(&app, &["二"]).await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    let send = async |id: &str| {
        let path = format!("/api/conversations/{id}/regenerate");
        app.send("POST", &path, &headers, r#"{"stream":false}"#).await
    };
    app.model.queue_replies([Completion::of(["新的"])]);
    let first = send(&id).await.ok();
    assert_eq!(first["content"], "新的");
    assert_eq!(send(&id).await.ok(), first);
    assert_eq!(send(&other).await.error(), (409, "idempotency_mismatch".to_owned()));
    regenerate(&app, &id, &json!({ "stream": false })).await.ok();
    assert_eq!(send(&id).await.ok(), first, "also when yet another answer stands for it by now");
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "答一"]));
}

#[tokio::test]
async fn regeneration_counts_against_the_turn_limit() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/60s")]).await;
    let id = create_conversation(&app, &["一"]).await;
    let refused = regenerate(&app, &id, &json!({})).await;
    assert_eq!(refused.error(), (429, "rate_limited".to_owned()));
    assert_eq!(read_messages(&app, &id).await, complete_rows(&["一", "答一"]));
}
