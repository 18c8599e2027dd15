//! What happens to files when messages, conversations and users are deleted.

use std::path::Path;

use serde_json::{Value, json};
use support::{Completion, TestApp};

use super::{png, uploaded};

/// The number of stored contents.
fn stored(app: &TestApp) -> usize {
    count(&app.folder().join("attachments"))
}

fn count(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { count(&entry.path()) } else { 1 }).sum()
}

async fn start() -> TestApp {
    let app = TestApp::start_on_disk().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    app
}

async fn send(app: &TestApp, conversation: Option<&str>, ids: &[&str]) -> String {
    let mut body = json!({ "message": "看", "attachments": ids });
    if let Some(id) = conversation {
        body["conversationId"] = id.into();
    }
    let turn = app.chat(&body).await;
    assert_eq!(turn.finish_reason(), "stop");
    turn.conversation_id()
}

#[tokio::test]
async fn files_are_deleted_with_their_last_message() {
    let app = start().await;
    let (picture, text) = (uploaded(&app, "a.png", png()).await, uploaded(&app, "a.txt", "a").await);
    let first = send(&app, None, &[&picture, &text]).await;
    let second = send(&app, None, &[&picture]).await;
    assert_eq!(stored(&app), 3, "a picture, and a document with its text");
    assert_eq!(app.delete(&format!("/api/conversations/{first}")).await.status, 204);
    assert_eq!(stored(&app), 1);
    assert_eq!(app.get(&format!("/api/attachments/{text}")).await.status, 404);
    assert_eq!(app.get(&format!("/api/attachments/{picture}")).await.status, 200);
    let other = uploaded(&app, "b.txt", "b").await;
    send(&app, Some(&second), &[&other, &picture]).await;
    let messages = app.conversation(&second).await["messages"].clone();
    let last = messages[2]["id"].as_str().unwrap();
    assert_eq!(app.delete(&format!("/api/conversations/{second}/messages/{last}")).await.status, 204);
    assert_eq!(app.get(&format!("/api/attachments/{other}")).await.status, 404);
    assert_eq!(app.get(&format!("/api/attachments/{picture}")).await.status, 200, "the first message uses it");
    assert_eq!(app.delete(&format!("/api/conversations/{second}")).await.status, 204);
    assert_eq!(stored(&app), 0);
}

#[tokio::test]
async fn erased_user_leaves_no_files() {
    let app = start().await;
    let used = uploaded(&app, "a.png", png()).await;
    uploaded(&app, "unused.txt", "a").await;
    send(&app, None, &[&used]).await;
    let bob = app.as_user("bob");
    let kept = uploaded(&bob, "b.txt", "b").await;
    let export = app.get("/api/me/export").await.text();
    let files = export.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let names: Vec<Value> =
        files.filter(|row| row["kind"] == "attachment").map(|row| row["file"]["name"].clone()).collect();
    assert_eq!(names, ["a.png", "unused.txt"]);
    let json = [("content-type", "application/json")];
    assert_eq!(app.send("DELETE", "/api/me", &json, r#"{"confirm":"erase"}"#).await.status, 200);
    assert_eq!(app.get(&format!("/api/attachments/{used}")).await.status, 404);
    assert_eq!((bob.get(&format!("/api/attachments/{kept}")).await.status, stored(&app)), (200, 2));
}

#[tokio::test]
async fn deleted_file_is_still_named_by_its_message() {
    let app = start().await;
    let id = uploaded(&app, "a.png", png()).await;
    let conversation = send(&app, None, &[&id]).await;
    assert_eq!(app.delete(&format!("/api/attachments/{id}")).await.status, 204);
    assert_eq!(app.conversation(&conversation).await["messages"][0]["attachments"][0]["name"], "a.png");
    app.follow_up(&conversation, "又").await;
    assert_eq!(app.model.requests().pop().unwrap().dialogue()[0].1, "[image a.png]\n\n看");
    assert_eq!(stored(&app), 0);
}

#[tokio::test]
async fn files_survive_a_restart_and_edits() {
    let mut app = start().await;
    let id = uploaded(&app, "a.txt", "alpha").await;
    let conversation = send(&app, None, &[&id]).await;
    app.restart().await;
    let edited = json!({ "message": "改", "conversationId": conversation, "parentId": null, "attachments": [id] });
    app.chat(&edited).await;
    assert!(app.model.requests().pop().unwrap().last_message().contains("1: alpha"));
    assert_eq!(app.conversation(&conversation).await["messages"][0]["attachments"][0]["id"], id);
    let export = app.get(&format!("/api/conversations/{conversation}/export?format=json")).await.ok();
    assert!(export.to_string().contains("a.txt"), "{export}");
    let share = app.post(&format!("/api/conversations/{conversation}/shares"), &json!({})).await.json();
    let copy = app.get(&format!("/api/shares/{}", share["id"].as_str().unwrap())).await.ok();
    assert_eq!(copy["messages"][0]["attachments"], json!([{ "name": "a.txt" }]));
}

#[tokio::test]
async fn temporary_conversation_takes_its_files_along() {
    let app = start().await;
    let id = uploaded(&app, "a.txt", "alpha").await;
    let turn = app.chat(&json!({ "message": "看", "attachments": [id], "temporary": true })).await;
    let (conversation, unused) = (turn.conversation_id(), app.folder().join("attachments/unused"));
    let more = uploaded(&app, "b.txt", "beta").await;
    send(&app, Some(&conversation), &[&more]).await;
    assert_eq!((count(&unused), stored(&app)), (4, 4), "they expire");
    let kept = send(&app, None, &[&id]).await;
    assert_eq!((count(&unused), stored(&app)), (2, 4), "one of them is kept");
    assert_eq!(app.delete(&format!("/api/conversations/{conversation}")).await.status, 204);
    assert_eq!(stored(&app), 2);
    assert_eq!(app.delete(&format!("/api/conversations/{kept}")).await.status, 204);
    assert_eq!(stored(&app), 0);
}

#[tokio::test]
async fn rejected_message_keeps_no_files() {
    let app = start().await;
    let id = uploaded(&app, "a.txt", "alpha").await;
    let unused = app.folder().join("attachments/unused");
    let absent = "01J00000000000000000000000";
    let body = json!({ "message": "看", "attachments": [id], "conversationId": absent });
    assert_eq!(app.post("/api/chat", &body).await.error().0, 404);
    assert_eq!((count(&unused), stored(&app)), (2, 2), "they expire");
    send(&app, None, &[&id]).await;
    assert_eq!((count(&unused), stored(&app)), (0, 2));
}
