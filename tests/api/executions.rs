//! The stored executions of tools.

use serde_json::json;
use support::{Completion, TestApp};

use crate::search_call;

#[tokio::test]
async fn executions_are_stored_and_listed_for_administrators() {
    let app = TestApp::start().await;
    let wrong = r#"<tool_call>{"tool": "search_web", "token": "sk-canary"}</tool_call>"#;
    app.model.queue_replies([Completion::of([search_call("茶"), wrong.to_owned()]), Completion::of(["好。"])]);
    let turn = app.as_user("ada").send_message("茶是什么？").await;
    let listed = app.get("/api/admin/executions").await.ok();
    let rows = listed["executions"].as_array().unwrap();
    let summaries: Vec<_> = rows
        .iter()
        .map(|row| {
            json!([row["owner"], row["agent"], row["tool"], row["arguments"], row["ok"], row["error"], row["credits"]])
        })
        .collect();
    let refused = json!(["name:ada", "default", "search_web", {"token": "***"}, false, "invalid_arguments", 0]);
    let found = json!(["name:ada", "default", "search_web", {"query": "茶"}, true, null, 2]);
    assert_eq!(summaries, [refused, found]);
    for row in rows {
        assert_eq!(row["conversationId"], turn.conversation_id());
        assert!(row["bytes"].as_u64() > Some(10) && row["durationMs"].is_u64() && row["at"].is_string(), "{row}");
    }
    assert_eq!(listed["nextCursor"], json!(null));
    let first = app.get("/api/admin/executions?limit=1").await.ok();
    let next = format!("/api/admin/executions?limit=1&cursor={}", first["nextCursor"].as_str().unwrap());
    assert_eq!(app.get(&next).await.ok()["executions"][0], rows[1]);
    let one = async |id: &str| app.get(&format!("/api/admin/executions/{id}")).await;
    assert_eq!(one(rows[1]["id"].as_str().unwrap()).await.ok(), rows[1]);
    for id in ["x", "01ARZ3NDEKTSV4RRFFQ69G5FAV-0", &"9".repeat(2_000)] {
        assert_eq!(one(id).await.error(), (404, "not_found".to_owned()), "{id}");
    }
    assert_eq!(app.get("/api/admin/executions?cursor=x").await.status, 400);
    assert_eq!(app.get("/api/admin/executions?limit=0").await.status, 400);
}

#[tokio::test]
async fn executions_of_an_answer_are_visible_to_owner() {
    let app = TestApp::start().await;
    app.model.queue_replies([
        Completion::of([search_call("茶"), search_call("咖啡")]),
        Completion::of(["好。"]),
        Completion::of([search_call("水")]),
        Completion::of(["好。"]),
    ]);
    let ada = app.as_user("ada");
    let turn = ada.send_message("茶是什么？").await;
    ada.send_message("水？").await;
    let path = format!("/api/admin/executions?message={}", turn.message_id());
    let queries: Vec<_> = ada.get(&path).await.ok()["executions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["arguments"]["query"].clone())
        .collect();
    assert_eq!(queries, ["茶", "咖啡"]);
    assert_eq!(app.as_user("bob").get(&path).await.ok(), json!({"executions": [], "nextCursor": null}));
}

#[tokio::test]
async fn f150_executions_of_deleted_conversation_are_not_listed() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["好。"])]);
    let id = app.send_message("茶是什么？").await.conversation_id();
    assert_eq!(app.delete(&format!("/api/conversations/{id}")).await.status, 204);
    assert_eq!(app.get("/api/admin/executions").await.ok()["executions"], json!([]));
}
