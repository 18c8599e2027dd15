//! Export and import of single conversations.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, TestApp};

use crate::search_call;

async fn import(client: &Client, body: &Value, key: Option<&str>) -> ApiResponse {
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(key.map(|key| ("idempotency-key", key)));
    client.send("POST", "/api/conversations/import", &headers, body.to_string()).await
}

async fn export(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/conversations/{id}/export?format=json")).await.ok()
}

/// Each message as its depth in the tree, its role, text, sources and times, in order; and the text of the current one.
fn tree(exported: &Value) -> (Vec<Value>, Value) {
    let messages = exported["messages"].as_array().unwrap();
    let find = |id: &Value| messages.iter().find(|message| message["id"] == *id);
    let row = |message: &Value| {
        let above = find(&message["parentId"]).map(|parent| &parent["content"]);
        json!([
            above,
            message["role"],
            message["content"],
            message["sources"],
            message["model"],
            message["status"],
            message["createdAt"]
        ])
    };
    (messages.iter().map(row).collect(), find(&exported["currentId"]).unwrap()["content"].clone())
}

fn ids(answer: &ApiResponse) -> Vec<String> {
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["imported"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// A conversation as `ChatGPT` exports it, with a question that was edited.
fn chatgpt() -> Value {
    let node = |parent: Value, role: &str, text: &str, seconds: u32| {
        let content = json!({ "content_type": "text", "parts": [text] });
        let message = json!({ "author": { "role": role, "name": null }, "create_time": seconds, "content": content, "weight": 1.0, "recipient": "all" });
        json!({ "parent": parent, "message": message, "children": [] })
    };
    json!({
        "title": "Tea", "create_time": 1_700_000_000.5, "update_time": 1_700_000_400.0, "current_node": "d",
        "mapping": {
            "root": { "parent": null, "message": null, "children": ["a", "c"] },
            "a": node(json!("root"), "user", "What is tea?", 1_700_000_001),
            "b": node(json!("a"), "assistant", "A plant.", 1_700_000_002),
            "c": node(json!("root"), "user", "What is green tea?", 1_700_000_003),
            "d": node(json!("c"), "assistant", "A drink.", 1_700_000_004),
        },
    })
}

#[tokio::test]
async fn import_with_too_many_branches_is_skipped() {
    let app = TestApp::start().await;
    let question = |id: usize| json!({ "id": id.to_string(), "parentId": null, "role": "user", "content": "x" });
    let of = |count: usize| json!({ "version": 1, "conversation": {}, "messages": (0..count).map(question).collect::<Vec<_>>() });
    // Each question gets an interrupted answer, which is stored after all questions.
    let answer = import(&app, &json!([of(250), of(251)]), None).await;
    assert_eq!(ids(&answer).len(), 1);
    assert_eq!(answer.json()["skipped"], json!([{ "index": 1, "reason": "It has more than 500 branches" }]));
}

#[tokio::test]
async fn chatgpt_conversation_is_imported_with_its_branches() {
    let app = TestApp::start().await;
    let answer = import(&app, &json!([chatgpt(), 7, { "mapping": {} }]), None).await;
    let id = ids(&answer).remove(0);
    let skipped = &answer.json()["skipped"];
    assert_eq!(json!([skipped[0]["index"], skipped[1]["index"]]), json!([1, 2]));
    assert!(skipped[0]["reason"].as_str().is_some_and(|reason| !reason.is_empty()));
    let read = app.conversation(&id).await;
    let head = &read["conversation"];
    assert_eq!(
        json!([head["title"], head["messageCount"], head["createdAt"], head["updatedAt"]]),
        json!(["Tea", 2, "2023-11-14T22:13:20.500Z", "2023-11-14T22:20:00.000Z"])
    );
    let texts: Vec<&Value> = read["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(texts, ["What is green tea?", "A drink."], "the branch of `current_node`");
    let (tree, current) = tree(&export(&app, &id).await);
    let forks: Vec<Value> = tree.iter().map(|row| json!([row[0], row[2]])).collect();
    assert_eq!(
        forks,
        [
            json!([null, "What is tea?"]),
            json!(["What is tea?", "A plant."]),
            json!([null, "What is green tea?"]),
            json!(["What is green tea?", "A drink."])
        ]
    );
    assert_eq!(current, "A drink.");
    app.model.queue_replies([Completion::of(["Hot."])]);
    app.follow_up(&id, "How?").await;
    let prompt = app.model.wait_for_request(1).await.dialogue();
    let expected = [("user", "What is green tea?"), ("assistant", "A drink."), ("user", "How?")];
    assert_eq!(prompt, expected.map(|(role, text)| (role.to_owned(), text.to_owned())), "only the shown branch");
}

#[tokio::test]
async fn exported_tree_is_imported_unchanged() {
    let app = TestApp::start().await;
    let texts = [search_call("茶"), "根据 [1]，茶是饮料。".to_owned()].map(|text| Completion::of([text]));
    app.model.queue_replies(texts);
    let id = app.send_message("茶？").await.conversation_id();
    app.model.queue_replies([Completion::of(["另一个答案。"]), Completion::of(["冷水。"])]);
    app.regenerate(&id, &json!({})).await.read_to_end().await;
    app.follow_up(&id, "水温？").await;
    let exported = export(&app, &id).await;
    assert_eq!(exported["messages"][1]["calls"], json!(["search_web"]));
    assert!(!exported.to_string().contains("arguments") && exported["version"] == 1);
    let copied = export(&app.as_user("bob"), &ids(&import(&app.as_user("bob"), &exported, None).await)[0]).await;
    assert_eq!(tree(&copied), tree(&exported));
    let head = |exported: &Value| {
        let head = &exported["conversation"];
        json!([head["title"], head["createdAt"], head["updatedAt"]])
    };
    assert_eq!(head(&copied), head(&exported));
    assert_ne!(copied["conversation"]["id"], exported["conversation"]["id"]);
}

#[tokio::test]
async fn markdown_has_the_branch_with_footnotes() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["根据 Tea[1]，`a[1]` 是茶。"])]);
    let id = app.send_message("茶？").await.conversation_id();
    let answer = app.get(&format!("/api/conversations/{id}/export?format=markdown")).await;
    assert_eq!(answer.header("content-type"), "text/markdown; charset=utf-8");
    assert_eq!(answer.header("content-disposition"), format!("attachment; filename=\"conversation-{id}.md\""));
    let text = answer.text();
    assert!(
        text.starts_with("# 茶？\n\n## 用户\n\n茶？\n\n## 助手\n\n根据 Tea[^1]，`a[1]` 是茶。\n\n[^1]: "),
        "{text}"
    );
    assert!(text.lines().last().is_some_and(|line| line.contains("<http")), "{text}");
    let path = format!("/api/conversations/{id}/export");
    assert_eq!(app.get(&format!("{path}?format=pdf")).await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.as_user("bob").get(&path).await.error(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn repeated_import_has_the_same_result() {
    let app = TestApp::start().await;
    let body = json!([chatgpt(), chatgpt()]);
    let first = ids(&import(&app, &body, Some("key")).await);
    assert_eq!(first.len(), 2);
    app.model.queue_replies([Completion::of(["好。"])]);
    app.follow_up(&first[0], "再问").await;
    assert_eq!(ids(&import(&app, &body, Some("key")).await), first);
    assert_eq!(app.conversation(&first[0]).await["conversation"]["messageCount"], 4, "it keeps what followed");
    let other = import(&app, &json!([chatgpt()]), Some("key")).await;
    assert_eq!(other.error(), (409, "idempotency_mismatch".to_owned()));
    assert_ne!(ids(&import(&app.as_user("bob"), &body, Some("key")).await), first);
    assert_eq!(ids(&import(&app, &chatgpt(), None).await).len(), 1);
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn f106_import_over_20_mebibytes_is_too_large() {
    let app = TestApp::start().await;
    let headers = [("content-type", "application/json")];
    let padded = |bytes: usize| format!("[{}]", " ".repeat(bytes - 2));
    let path = "/api/conversations/import";
    let over = app.send("POST", path, &headers, padded((20 << 20) + 1)).await;
    assert_eq!(over.error(), (413, "too_large".to_owned()));
    assert_eq!(app.send("POST", path, &headers, padded(20 << 20)).await.status, 201);
    for body in ["", "x", "[", "{", "\u{0}"] {
        assert_eq!(app.send("POST", path, &headers, body).await.error(), (400, "invalid_request".to_owned()));
    }
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
}

#[tokio::test]
async fn long_messages_of_an_import_are_complete() {
    let app = TestApp::start().await;
    let mut chat = chatgpt();
    let long = "长".repeat(300_000);
    chat["mapping"]["d"]["message"]["content"]["parts"] = json!([long, 7, null, "\u{0}尾"]);
    let id = ids(&import(&app, &chat, None).await).remove(0);
    let content = app.conversation(&id).await["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(content == format!("{long}\n尾"), "{} bytes", content.len());
}
