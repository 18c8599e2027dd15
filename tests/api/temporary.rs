//! Temporary conversations: in no list and no export, and gone after a day.

use std::time::{Duration, SystemTime};

use domain::{Language, Owner, new_id};
use serde_json::{Value, json};
use store::{NewTurn, Target, UserInput};
use support::{Completion, Gate, TestApp};

use crate::auth::{start_database, start_with_store};
use crate::search_call;
use crate::stop::scan_table;

async fn start_temporary(app: &TestApp, message: &str) -> String {
    let turn = app.chat(&json!({ "message": message, "temporary": true })).await;
    assert_eq!(turn.finish_reason(), "stop");
    turn.conversation_id()
}

#[tokio::test]
async fn temporary_conversation_is_in_no_list_or_export() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["茶是一种饮料。"])]);
    let id = start_temporary(&app, "茶是什么？").await;
    for query in ["", "?archived=true", "?pinned=true", "?pinned=false"] {
        let list = app.get(&format!("/api/conversations{query}")).await.ok();
        assert_eq!(list, json!({ "conversations": [], "nextCursor": null }), "{query}");
    }
    let export = app.get("/api/me/export").await.text();
    let kinds: Vec<Value> =
        export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].take()).collect();
    assert_eq!(kinds, ["export", "day", "end"], "usage counts, and no call is recorded");
    assert!(app.get("/api/admin/executions").await.ok()["executions"].as_array().unwrap().is_empty());
    let export = app.get(&format!("/api/conversations/{id}/export?format=json")).await;
    assert_eq!(export.error(), (404, "not_found".to_owned()));
    let read = app.conversation(&id).await;
    assert_eq!(read["messages"][1]["content"], "茶是一种饮料。");
    let times = ["createdAt", "expiresAt"].map(|name| read["conversation"][name].as_str().unwrap()[11..16].to_owned());
    assert_eq!(times[0], times[1], "a day later");
}

#[tokio::test]
async fn temporary_conversation_continues_for_its_owner() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = start_temporary(&app, "一").await;
    for temporary in [true, false] {
        let body = json!({ "message": "又", "conversationId": id, "temporary": temporary });
        assert_eq!(app.chat(&body).await.finish_reason(), "stop");
    }
    assert_eq!(app.regenerate(&id, &json!({})).await.read_to_end().await.finish_reason(), "stop");
    let path = format!("/api/conversations/{id}");
    assert_eq!(app.post(&format!("{path}/stop"), &json!({})).await.ok(), json!({ "stopping": false }));
    let bob = app.as_user("bob");
    assert_eq!(bob.get(&path).await.status, 404);
    assert_eq!(bob.delete(&path).await.status, 404);
    for change in [json!({ "pinned": true }), json!({ "title": "x" })] {
        assert_eq!(app.patch(&path, &change).await.status, 404, "there is no list for it");
    }
    assert_eq!(app.delete(&path).await.status, 204);
    assert_eq!(app.get(&path).await.status, 404);
}

#[tokio::test]
async fn kept_conversation_does_not_become_temporary() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.send_message("一").await.conversation_id();
    let body = json!({ "message": "二", "conversationId": id, "temporary": true });
    assert_eq!(app.post("/api/chat", &body).await.error(), (400, "invalid_request".to_owned()));
    let body = json!({ "message": "二", "temporary": "yes" });
    assert_eq!(app.post("/api/chat", &body).await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.conversation(&id).await["conversation"]["messageCount"], 2);
}

#[tokio::test]
async fn expired_conversation_answers_like_a_missing_one() {
    let started = start_with_store(&[]).await;
    let begun = SystemTime::now() - Duration::from_hours(24);
    let turn = NewTurn {
        attachments: Vec::new(),
        conversation_id: None,
        chat_id: None,
        turn_id: new_id(),
        user_message_id: new_id(),
        assistant_message_id: new_id(),
        input: UserInput::Message("茶是什么？".to_owned()),
        target: Target::End,
        model: "openai".to_owned(),
        language: Language::Zh,
        title: "茶是什么？".to_owned(),
        temporary: true,
        request: None,
        idempotency: None,
    };
    let owner = Owner::unverified("local");
    let id = started.store.conversations.begin(&owner, &turn, begun).await.unwrap().conversation_id;
    let (app, path) = (&started.app, format!("/api/conversations/{id}"));
    let message = json!({ "message": "又", "conversationId": id, "temporary": true });
    for answer in [
        app.get(&path).await,
        app.get(&format!("{path}/stream")).await,
        app.post(&format!("{path}/stop"), &json!({})).await,
        app.post(&format!("{path}/regenerate"), &json!({})).await,
        app.post("/api/chat", &message).await,
        app.delete(&path).await,
    ] {
        assert_eq!(answer.error(), (404, "not_found".to_owned()));
    }
}

#[tokio::test]
async fn f150_deleted_temporary_turn_leaves_nothing() {
    let (database, gate) = (start_database().await, Gate::new());
    let app = TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    app.model.queue_replies([Completion::new().text("一").wait(&gate).text("二").end()]);
    let headers = [("content-type", "application/json"), ("idempotency-key", "one")];
    let body = json!({ "message": "茶是什么？", "temporary": true }).to_string();
    let client = app.client();
    let sent = tokio::spawn(async move { client.send("POST", "/api/chat", &headers, body).await });
    gate.wait_until_reached().await;
    let ids = scan_table(&database, "lambda-chat-data").await;
    let id = ids.split("#C#").nth(1).unwrap()[..26].to_owned();
    assert_eq!(app.delete(&format!("/api/conversations/{id}")).await.status, 204);
    gate.open();
    assert_eq!(sent.await.unwrap().status, 200);
    for table in ["lambda-chat-data", "lambda-chat-ephemeral"] {
        assert!(!scan_table(&database, table).await.contains(&id), "{table}");
    }
    let usage = app.get("/api/usage").await.ok();
    assert_eq!(usage["today"]["turns"], 1);
}
