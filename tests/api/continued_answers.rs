//! `POST /api/conversations/{id}/continue`: more of an answer that ended early.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, Gate, Reply, TestApp};

use crate::resume::{TwoInstances, read_frames};
use crate::search_call;

async fn continue_answer(client: &Client, id: &str, body: Value) -> ApiResponse {
    client.post(&format!("/api/conversations/{id}/continue"), &body).await
}

async fn last_message(client: &Client, id: &str) -> Value {
    client.conversation(id).await["messages"].as_array().unwrap().last().unwrap().clone()
}

fn cut_reply(text: &str) -> Reply {
    Completion::new().text(text).finish("length").usage(10, 5).done().reply()
}

fn dialogue(app: &TestApp, request: usize) -> Vec<String> {
    app.model.requests()[request].dialogue().into_iter().map(|(_, text)| text).collect()
}

#[tokio::test]
async fn cut_answer_grows_until_it_is_complete() {
    let app = TestApp::start().await;
    app.model.queue_replies([cut_reply("从前有"), cut_reply("一座山"), Completion::of(["，山里有庙。"])]);
    let first = app.send_message("讲").await;
    let id = first.conversation_id();
    let before = last_message(&app, &id).await;
    assert_eq!((first.finish_reason(), &before["finishReason"]), ("length", &json!("length")));
    let second = app.continue_answer(&id, &json!({})).await.read_to_end().await;
    assert_eq!((&second.0[0]["continues"], second.message_id()), (&json!(true), first.message_id()));
    assert_eq!((second.content().as_str(), second.finish_reason()), ("一座山", "length"));
    assert_eq!(second.events_of("usage")[0]["inputTokens"], 10, "its frames have only what is new");
    assert_eq!(second.events_of("title").len(), 0);
    let sent = dialogue(&app, 1);
    assert_eq!((sent[0].as_str(), sent[1].as_str(), sent.len()), ("讲", "从前有", 3));
    let document = continue_answer(&app, &id, json!({ "messageId": first.message_id(), "stream": false })).await.ok();
    assert_eq!((&document["content"], &document["continues"]), (&json!("，山里有庙。"), &json!(true)));
    assert_eq!(dialogue(&app, 2)[1], "从前有一座山");
    let message = last_message(&app, &id).await;
    assert_eq!((&message["content"], &message["status"]), (&json!("从前有一座山，山里有庙。"), &json!("complete")));
    assert_eq!((&message["usage"]["inputTokens"], message.get("finishReason")), (&json!(30), None));
    assert_eq!(
        (&message["id"], &message["createdAt"], message.get("siblings")),
        (&before["id"], &before["createdAt"], None)
    );
    assert_eq!(app.conversation(&id).await["conversation"]["messageCount"], 2);
    assert_eq!(continue_answer(&app, &id, json!({})).await.error(), (400, "invalid_request".to_owned()));
    app.model.queue_replies([Completion::of(["好。"])]);
    app.follow_up(&id, "又").await;
    assert_eq!(dialogue(&app, 3), ["讲", "从前有一座山，山里有庙。", "又"]);
}

#[tokio::test]
async fn calls_sources_and_thinking_are_kept() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    app.model.queue_replies([
        Completion::new().thinking("想").text("查。").text(&search_call("天气")).end(),
        Completion::new().text("今天").wait(&gate).end(),
        Completion::new().thinking("再想").text("晴[1]。").text(&search_call("风")).end(),
        Completion::of(["有风[2]。"]),
    ]);
    let mut turn = app.open(&json!({ "message": "天气？" })).await;
    let id = turn.next().await.unwrap()["conversationId"].as_str().unwrap().to_owned();
    gate.wait_until_reached().await;
    assert_eq!(app.post(&format!("/api/conversations/{id}/stop"), &json!({})).await.status, 202);
    turn.read_to_end().await;
    let before = last_message(&app, &id).await;
    let more = app.continue_answer(&id, &json!({})).await.read_to_end().await;
    assert_eq!(more.events_of("tool_call").len(), 1);
    let request = app.model.requests()[2].clone();
    let has_results =
        |request: &support::ModelRequest| request.dialogue().iter().any(|(_, text)| text.contains("<search_results>"));
    assert!(has_results(&request), "the model has the results of the part before");
    assert!(request.dialogue().iter().any(|(_, text)| text == "今天"), "{:?}", request.dialogue());
    let message = last_message(&app, &id).await;
    let text = format!("{}{}", before["content"].as_str().unwrap(), more.content());
    assert_eq!((message["content"].as_str().unwrap(), &message["thinking"]), (text.as_str(), &json!("想再想")));
    let calls = message["toolCalls"].as_array().unwrap();
    assert_eq!((calls.len(), &calls[0]), (2, &before["toolCalls"][0]));
    let position = usize::try_from(calls[1]["position"]["text"].as_u64().unwrap()).unwrap();
    assert!(text.chars().take(position).collect::<String>().ends_with("晴[1]。"), "{text} {position}");
    let sources: Vec<u64> =
        message["sources"].as_array().unwrap().iter().map(|source| source["index"].as_u64().unwrap()).collect();
    assert!(sources.starts_with(&[1, 2]), "{sources:?}");
    let records = app.get(&format!("/api/admin/executions?message={}", message["id"].as_str().unwrap())).await.ok();
    assert_eq!(records["executions"].as_array().unwrap().len(), 2, "each call has one record: {records}");
    app.model.queue_replies([Completion::of(["好。"])]);
    app.follow_up(&id, "又").await;
    assert!(has_results(app.model.requests().last().unwrap()));
}

#[tokio::test]
async fn only_answers_that_ended_early_are_continued() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"]), Reply::status(401), cut_reply("半")]);
    let id = app.send_message("一").await.conversation_id();
    let invalid = (400, "invalid_request".to_owned());
    assert_eq!(continue_answer(&app, &id, json!({})).await.error(), invalid, "complete");
    let question = app.conversation(&id).await["messages"][0]["id"].clone();
    assert_eq!(continue_answer(&app, &id, json!({ "messageId": question })).await.error(), invalid);
    app.follow_up(&id, "二").await;
    assert_eq!(continue_answer(&app, &id, json!({})).await.error(), invalid, "failed at the provider");
    assert_eq!(continue_answer(&app, &id, json!({ "messageId": 1 })).await.error(), invalid);
    let cut = app.follow_up(&id, "三").await.message_id();
    let gate = Gate::new();
    app.model.queue_replies([Completion::new().text("句").wait(&gate).end(), Completion::of(["。"])]);
    let mut running = app.continue_answer(&id, &json!({})).await;
    running.read_until("content").await;
    assert_eq!(last_message(&app, &id).await["status"], "running");
    assert_eq!(continue_answer(&app, &id, json!({})).await.error(), (409, "turn_in_progress".to_owned()));
    assert_eq!(app.post(&format!("/api/conversations/{id}/stop"), &json!({})).await.status, 202);
    assert_eq!(running.read_to_end().await.finish_reason(), "stopped");
    gate.open();
    let stopped = last_message(&app, &id).await;
    assert_eq!(json!([stopped["content"], stopped["finishReason"]]), json!(["半句", "stopped"]));
    let mallory = app.as_user("mallory");
    assert_eq!(continue_answer(&mallory, &id, json!({ "messageId": cut })).await.error().0, 404);
    continue_answer(&app, &id, json!({ "messageId": cut, "stream": false })).await.ok();
    assert_eq!(last_message(&app, &id).await["content"], "半句。");
}

#[tokio::test]
async fn answer_on_another_branch_is_continued_there() {
    let app = TestApp::start().await;
    app.model.queue_replies([cut_reply("半"), Completion::of(["整句。"]), Completion::of(["句。"])]);
    let first = app.send_message("一").await;
    let id = first.conversation_id();
    app.regenerate(&id, &json!({})).await.read_to_end().await;
    assert_eq!(last_message(&app, &id).await["content"], "整句。");
    continue_answer(&app, &id, json!({ "messageId": first.message_id(), "stream": false })).await.ok();
    let shown = last_message(&app, &id).await;
    assert_eq!((&shown["content"], &shown["id"]), (&json!("半句。"), &json!(first.message_id())));
    assert_eq!(shown["siblings"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn continued_turn_is_resumed_and_replayed() {
    let two = TwoInstances::start().await;
    two.first.model.queue_replies([cut_reply("半")]);
    let id = two.first.send_message("说").await.conversation_id();
    let gate = Gate::new();
    two.first.model.queue_replies([Completion::new().text("句").wait(&gate).text("，完。").end()]);
    let mut turn = two.first.continue_answer(&id, &json!({})).await;
    turn.read_until("content").await;
    let last = turn.last_id();
    let mut other = two.second.resume(&id, None).await.unwrap();
    let start = other.next().await.unwrap();
    assert_eq!((&start["continues"], &start["messageId"]), (&json!(true), &last_message(&two.second, &id).await["id"]));
    gate.open();
    let content = |frames: Vec<(String, Value)>| -> String {
        frames.iter().filter_map(|(_, event)| event["content"].as_str()).collect()
    };
    assert_eq!(content(read_frames(turn).await), "，完。");
    assert_eq!(content(read_frames(other).await), "句，完。");
    for app in [&two.first, &two.second] {
        let rest = app.resume(&id, Some(&last)).await.unwrap();
        assert_eq!(content(read_frames(rest).await), "，完。");
        assert_eq!(last_message(app, &id).await["content"], "半句，完。");
    }
}

#[tokio::test]
async fn f098_repeated_requests_get_their_own_part() {
    let two = TwoInstances::start().await;
    two.first.model.queue_replies([cut_reply("一"), cut_reply("二"), Completion::of(["三。"])]);
    let send = async |app: &TestApp, path: &str, key: &str, body: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        app.send("POST", path, &headers, body).await
    };
    let chat = r#"{"message":"数","stream":false}"#;
    let first = send(&two.first, "/api/chat", "a", chat).await.ok();
    let path = format!("/api/conversations/{}/continue", first["conversationId"].as_str().unwrap());
    let more = r#"{"stream":false}"#;
    let second = send(&two.first, &path, "b", more).await.ok();
    let third = send(&two.first, &path, "c", more).await.ok();
    for app in [&two.first, &two.second] {
        for (path, key, body, before) in
            [("/api/chat", "a", chat, &first), (path.as_str(), "b", more, &second), (path.as_str(), "c", more, &third)]
        {
            let repeated = send(app, path, key, body).await.ok();
            for field in ["content", "messageId", "finishReason", "usage"] {
                assert_eq!(repeated[field], before[field], "{key} {field}");
            }
        }
        assert_eq!(send(app, &path, "a", more).await.error(), (409, "idempotency_mismatch".to_owned()));
    }
    assert_eq!(two.first.model.requests().len(), 3);
}
