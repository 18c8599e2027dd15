//! `POST /api/conversations/{id}/regenerate`: a new answer to the last message.

use serde_json::{Value, json};
use support::{Answer, Client, Completion, FakeModel, Gate, MODEL, Reply, TestApp};

async fn again(client: &Client, id: &str, body: &Value) -> Answer {
    client.post(&format!("/api/conversations/{id}/regenerate"), body).await
}

/// Creates a conversation with these messages, each answered by `答` and the message.
async fn conversation(app: &TestApp, texts: &[&str]) -> String {
    app.model.answer(|request| Completion::of([format!("答{}", request.last())]));
    let mut id: Option<String> = None;
    for text in texts {
        let turn = match &id {
            None => app.ask(text).await,
            Some(id) => app.go_on(id, text).await,
        };
        id = Some(turn.conversation_id());
    }
    id.unwrap()
}

/// The content and the status of each message.
async fn shown(client: &Client, id: &str) -> Vec<Value> {
    let whole = client.conversation(id).await;
    let messages = whole["messages"].as_array().unwrap();
    assert_eq!(whole["conversation"]["messageCount"], messages.len());
    messages.iter().map(|message| json!([message["content"], message["status"]])).collect()
}

fn complete(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| json!([text, "complete"])).collect()
}

#[tokio::test]
async fn new_answer_replaces_the_last_one() {
    let app = TestApp::start().await;
    let id = conversation(&app, &["一", "二"]).await;
    let (asked, before) = (app.model.requests().len(), app.conversation(&id).await["messages"][2].clone());
    app.model.replies([Completion::of(["新的"])]);
    let turn = app.open_again(&id, &json!({})).await.rest().await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("新的", "stop"));
    assert_eq!(turn.conversation_id(), id);
    assert_eq!(turn.of("title").len(), 0, "a conversation gets its title once");
    let talk = app.model.asked(asked + 1).await.talk();
    let told: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(told, ["一", "答一", "二"], "the model does not see the answer that it is to replace");
    assert_eq!(shown(&app, &id).await, complete(&["一", "答一", "二", "新的"]));
    let messages = app.conversation(&id).await["messages"].clone();
    assert_eq!(messages[2], before, "the user's message is the same one");
    assert_eq!(messages[3]["id"], turn.message_id());
    app.go_on(&id, "三").await;
    let talk = app.model.asked(asked + 2).await.talk();
    let told: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(told, ["一", "答一", "二", "新的", "三"]);
}

#[tokio::test]
async fn response_formats_and_errors_match_chat() {
    let app = TestApp::start().await;
    let id = conversation(&app, &["一"]).await;
    let path = format!("/api/conversations/{id}/regenerate");
    let without_a_body = app.send("POST", &path, &[], "").await;
    assert_eq!(without_a_body.header("content-type"), "text/event-stream; charset=utf-8");
    assert!(without_a_body.text().contains(r#""type":"content","content":"答一""#), "{}", without_a_body.text());
    let accumulated = app.post(&format!("{path}?sse=accumulated"), &json!({})).await;
    assert!(accumulated.text().contains(r#""content":"答一","thinking":"""#), "{}", accumulated.text());
    let document = again(&app, &id, &json!({ "stream": false })).await.ok();
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
    assert_eq!(again(&app, &id, &json!({ "modelType": "nobody" })).await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(shown(&app, &id).await, complete(&["一", "答一"]));
}

#[tokio::test]
async fn another_model_may_regenerate_the_answer() {
    let second = FakeModel::start().await;
    let entry = json!({ "name": "second", "baseUrl": second.url(), "model": MODEL, "apiKeyVar": "OPENAI_API_KEY" });
    let app = TestApp::with(&[("MODELS", &json!([entry]).to_string())]).await;
    let id = conversation(&app, &["一"]).await;
    second.replies([Completion::of(["乙的回答"])]);
    let document = again(&app, &id, &json!({ "modelType": "second", "stream": false })).await.ok();
    assert_eq!((&document["model"], &document["content"]), (&json!("second"), &json!("乙的回答")));
    let whole = app.conversation(&id).await;
    assert_eq!((&whole["messages"][1]["model"], &whole["conversation"]["model"]), (&json!("second"), &json!("second")));
}

#[tokio::test]
async fn failed_regeneration_keeps_the_previous_answer() {
    let app = TestApp::start().await;
    let id = conversation(&app, &["一"]).await;
    app.model.replies([Reply::status(401)]);
    let turn = app.open_again(&id, &json!({})).await.rest().await;
    assert_eq!(turn.error_code(), "upstream_auth");
    assert_eq!(shown(&app, &id).await, complete(&["一", "答一"]));
    app.model.replies([Reply::status(401)]);
    assert_eq!(again(&app, &id, &json!({ "stream": false })).await.error().1, "upstream_auth");
    app.go_on(&id, "二").await;
    assert_eq!(shown(&app, &id).await, complete(&["一", "答一", "二", "答二"]));
    let talk = app.model.requests().last().unwrap().talk();
    let told: Vec<&str> = talk.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(told, ["一", "答一", "二"]);
}

#[tokio::test]
async fn failed_or_stopped_turn_can_be_regenerated() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.replies([Reply::status(401)]);
    let failed = app.ask("一").await;
    let id = failed.conversation_id();
    assert_eq!(shown(&app, &id).await[1], json!(["", "interrupted"]));
    app.model.replies([Completion::new().text("半句").wait(&gate).end()]);
    let mut running = app.open_again(&id, &json!({})).await;
    running.until("content").await;
    assert_eq!(shown(&app, &id).await[1], json!(["", "running"]), "the running answer is shown");
    assert_eq!(app.post(&format!("/api/conversations/{id}/stop"), &json!({})).await.status, 202);
    assert_eq!(running.rest().await.finish_reason(), "stopped");
    assert_eq!(shown(&app, &id).await, complete(&["一", "半句"]));
    app.model.replies([Completion::of(["整句。"])]);
    again(&app, &id, &json!({ "stream": false })).await.ok();
    assert_eq!(shown(&app, &id).await, complete(&["一", "整句。"]));
}

#[tokio::test]
async fn f099_regeneration_during_a_turn_is_rejected() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.replies([Completion::new().text("半句").wait(&gate).text("，整句。").end()]);
    let mut turn = app.open(&json!({ "message": "一" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.reached().await;
    let refused = again(&app, &id, &json!({})).await;
    assert_eq!(refused.error(), (409, "turn_in_progress".to_owned()));
    assert!(refused.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0));
    gate.open();
    turn.rest().await;
    for unknown in ["01J00000000000000000000000", "x"] {
        assert_eq!(again(&app, unknown, &json!({})).await.error(), (404, "not_found".to_owned()));
    }
    assert_eq!(again(&app.user("mallory"), &id, &json!({})).await.error(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn f098_idempotency_key_covers_regeneration() {
    let app = TestApp::start().await;
    let id = conversation(&app, &["一"]).await;
    let other = conversation(&app, &["二"]).await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    let send = async |id: &str| {
        let path = format!("/api/conversations/{id}/regenerate");
        app.send("POST", &path, &headers, r#"{"stream":false}"#).await
    };
    app.model.replies([Completion::of(["新的"])]);
    let first = send(&id).await.ok();
    assert_eq!(first["content"], "新的");
    assert_eq!(send(&id).await.ok(), first);
    assert_eq!(send(&other).await.error(), (409, "idempotency_mismatch".to_owned()));
    again(&app, &id, &json!({ "stream": false })).await.ok();
    assert_eq!(send(&id).await.ok(), first, "also when yet another answer stands for it by now");
    assert_eq!(shown(&app, &id).await, complete(&["一", "答一"]));
}

#[tokio::test]
async fn regeneration_counts_against_the_turn_limit() {
    let app = TestApp::with(&[("CHAT_RATE_LIMIT", "1/60s")]).await;
    let id = conversation(&app, &["一"]).await;
    let refused = again(&app, &id, &json!({})).await;
    assert_eq!(refused.error(), (429, "rate_limited".to_owned()));
    assert_eq!(shown(&app, &id).await, complete(&["一", "答一"]));
}
