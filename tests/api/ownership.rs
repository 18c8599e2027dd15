//! Ownership: callers see only their own conversations.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, TestApp};

async fn list_titles(client: &Client) -> Vec<Value> {
    let list = client.get("/api/conversations").await.ok();
    list["conversations"].as_array().unwrap().iter().map(|row| row["title"].clone()).collect()
}

#[tokio::test]
async fn caller_comes_from_header_then_body_then_local() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let alice = app.as_user("alice");
    app.chat(&json!({ "message": "一" })).await;
    app.chat(&json!({ "message": "二", "userId": "alice" })).await;
    alice.chat(&json!({ "message": "三", "userId": "bob" })).await;
    assert_eq!(list_titles(&app).await, ["一"]);
    assert_eq!(list_titles(&alice).await, ["三", "二"]);
    assert_eq!(list_titles(&app.as_user("bob")).await, Vec::<Value>::new());
    assert_eq!(list_titles(&app.as_user("local")).await, ["一"]);
}

/// The responses to every kind of request that names a conversation.
async fn send_every_request(client: &Client, id: &str) -> Vec<ApiResponse> {
    let path = format!("/api/conversations/{id}");
    vec![
        client.get(&path).await,
        client.get(&format!("{path}?limit=1")).await,
        client.patch(&path, &json!({ "title": "mine" })).await,
        client.delete(&path).await,
        client.post("/api/chat", &json!({ "message": "hi", "conversationId": id })).await,
        client.chat_once(&json!({ "message": "hi", "conversationId": id })).await,
    ]
}

#[tokio::test]
async fn f119_foreign_conversation_responds_like_an_absent_one() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["秘密。"])]);
    let (alice, mallory) = (app.as_user("alice"), app.as_user("mallory"));
    let id = alice.send_message("我的秘密").await.conversation_id();
    let before = alice.conversation(&id).await;
    let foreign = send_every_request(&mallory, &id).await;
    let absent = send_every_request(&mallory, "01J00000000000000000000000").await;
    for (foreign, absent) in foreign.iter().zip(&absent) {
        assert_eq!(foreign.error(), (404, "not_found".to_owned()));
        assert_eq!(foreign.error_body(), absent.error_body());
        let names = |answer: &ApiResponse| answer.headers.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(foreign), names(absent));
    }
    assert_eq!(alice.conversation(&id).await, before);
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn f119_owners_with_key_like_names_stay_separate() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let names = ["a", "a#b", "a/b", "a:b", "A", "a b", "USER#a", "%61", "a\u{e9}", "a%23b"];
    let mut ids = Vec::new();
    for name in names {
        let turn = app.chat(&json!({ "message": format!("von {name}"), "userId": name })).await;
        ids.push(turn.conversation_id());
    }
    for (at, name) in names.iter().enumerate() {
        // The product reads headers as bytes, so only the body can hold the name that is not ASCII.
        if name.is_ascii() {
            let client = app.as_user(name);
            assert_eq!(list_titles(&client).await, [format!("von {name}")]);
            for (other, id) in ids.iter().enumerate() {
                let status = client.get(&format!("/api/conversations/{id}")).await.status;
                assert_eq!(status, if other == at { 200 } else { 404 }, "{name} reads {}", names[other]);
            }
        }
    }
}

#[tokio::test]
async fn foreign_cursor_reveals_no_rows() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let (alice, bob) = (app.as_user("alice"), app.as_user("bob"));
    for text in ["一", "二", "三"] {
        alice.send_message(text).await;
    }
    bob.send_message("四").await;
    let page = alice.get("/api/conversations?limit=1").await.ok();
    let cursor = page["nextCursor"].as_str().unwrap();
    let stolen = bob.get(&format!("/api/conversations?limit=100&cursor={cursor}")).await;
    let body = stolen.text();
    assert!(!["一", "二", "三"].iter().any(|text| body.contains(text)), "{body}");
}

#[tokio::test]
async fn f112_forwarded_address_is_no_identity() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/600s")]).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    app.send_message("你好").await;
    for address in ["203.0.113.1", "203.0.113.2"] {
        let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
        let answer = app.send("POST", "/api/chat", &headers, "{\"message\":\"hi\"}").await;
        assert_eq!(answer.error(), (429, "rate_limited".to_owned()));
    }
}
