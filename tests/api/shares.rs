//! Shares: what everyone may read, and what nobody may any more.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, Gate, Reply, TestApp};

use crate::auth::start_database;
use crate::{search_call, start_half_answer};

const ABSENT: &str = "01J00000000000000000000000";

async fn share(client: &Client, conversation: &str, body: &Value) -> Value {
    let made = client.post(&format!("/api/conversations/{conversation}/shares"), body).await;
    assert_eq!(made.status, 201, "{}", made.text());
    made.json()
}

async fn read(client: &Client, share: &Value) -> ApiResponse {
    client.get(&format!("/api/shares/{}", share["id"].as_str().unwrap())).await
}

/// The ids of the shares of a conversation.
async fn shares(client: &Client, conversation: &str) -> Vec<Value> {
    let list = client.get(&format!("/api/conversations/{conversation}/shares")).await.ok();
    list["shares"].as_array().unwrap().iter().map(|share| share["id"].clone()).collect()
}

/// Asserts that a share looks to everyone as if it had never been.
async fn assert_gone(app: &TestApp, share: &Value) {
    let unknown = json!({ "id": "0".repeat(40) });
    let [gone, never] = [read(app, share).await, read(app, &unknown).await];
    assert_eq!((gone.error(), gone.error_body()), ((404, "not_found".to_owned()), never.error_body()));
    let page = app.get(share["url"].as_str().unwrap()).await;
    assert_eq!(page.error_body(), never.error_body());
}

#[tokio::test]
async fn share_is_readable_without_a_key() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["茶是饮料。"]), Completion::of(["绿茶。"])]);
    let id = app.send_message("茶是什么？").await.conversation_id();
    app.follow_up(&id, "哪种好？").await;
    let made = share(&app, &id, &json!({})).await;
    let keys: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "url", "createdAt", "expiresAt"]);
    assert!(made["id"].as_str().unwrap().len() >= 32, "128 bits or more: {made}");
    let shared = read(&app.as_user("nobody"), &made).await;
    assert_eq!((shared.header("x-robots-tag"), shared.header("cache-control")), ("noindex", "no-store"));
    let before = shared.ok();
    let texts: Vec<_> =
        before["messages"].as_array().unwrap().iter().map(|one| json!([one["role"], one["content"]])).collect();
    let expected = [["user", "茶是什么？"], ["assistant", "茶是饮料。"], ["user", "哪种好？"], ["assistant", "绿茶。"]];
    assert_eq!(json!(texts), json!(expected));
    assert_eq!((&before["title"], &before["createdAt"]), (&json!("茶是什么？"), &made["createdAt"]));
    app.model.queue_replies([Completion::of(["后来。"])]);
    app.follow_up(&id, "还有呢？").await;
    assert_eq!(read(&app, &made).await.ok(), before, "a copy does not grow");
    let page = app.get(made["url"].as_str().unwrap()).await;
    assert_eq!((page.status, page.header("x-robots-tag")), (200, "noindex"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert_eq!(app.get("/share/assets/manifest.webmanifest").await.status, 200);
}

#[tokio::test]
async fn f122_share_holds_no_secrets_of_its_owner() {
    let app = TestApp::start().await;
    let call = Completion::new().thinking("思路秘密").text(&search_call("参数秘密")).end();
    let page = json!({ "title": "茶页", "url": "https://example.com/1", "content": "摘录秘密", "score": 0.9 });
    app.search.respond_with(move |_| Reply::json(200, &json!({ "results": [page] })));
    app.model.queue_replies([call, Completion::of(["根据来源 [1]，茶是饮料。"])]);
    let client = app.as_user("owner-canary");
    let id = client.send_message("茶？").await.conversation_id();
    let stored = client.conversation(&id).await.to_string();
    assert!(["参数秘密", "思路秘密", "摘录秘密"].iter().all(|secret| stored.contains(secret)), "{stored}");
    let shared = read(&app, &share(&client, &id, &json!({})).await).await.ok();
    let answer = &shared["messages"][1];
    assert!(answer["sources"].as_array().is_some_and(|sources| !sources.is_empty()), "{shared}");
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        [&shared, answer, &answer["sources"][0]].map(names),
        ["title createdAt messages", "role content sources createdAt", "index title url"]
    );
    let text = shared.to_string();
    for secret in ["参数秘密", "思路秘密", "摘录秘密", "owner-canary", "openai", support::MODEL, &id, "search_web"]
    {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[tokio::test]
async fn share_may_end_with_a_message() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.send_message("一").await.conversation_id();
    app.follow_up(&id, "二").await;
    let messages = app.conversation(&id).await["messages"].clone();
    for (index, message) in messages.as_array().unwrap().iter().enumerate() {
        let made = share(&app, &id, &json!({ "messageId": message["id"] })).await;
        assert_eq!(read(&app, &made).await.ok()["messages"].as_array().unwrap().len(), index + 1);
    }
    assert_eq!(shares(&app, &id).await.len(), 4);
    let path = format!("/api/conversations/{id}/shares");
    for body in [json!({ "messageId": ABSENT }), json!({ "messageId": "x" })] {
        assert_eq!(app.post(&path, &body).await.error(), (404, "not_found".to_owned()), "{body}");
    }
    for body in [json!({ "expiresInDays": 0 }), json!({ "expiresInDays": 366 }), json!({ "expiresInDays": "7" })] {
        assert_eq!(app.post(&path, &body).await.error(), (400, "invalid_request".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn running_answer_is_not_shared() {
    let (app, gate) = (TestApp::start().await, Gate::new());
    let (turn, id) = start_half_answer(&app, &gate).await;
    let made = share(&app, &id, &json!({})).await;
    assert_eq!(read(&app, &made).await.ok()["messages"].as_array().unwrap().len(), 1);
    let running = app.conversation(&id).await["messages"][1]["id"].clone();
    let refused = app.post(&format!("/api/conversations/{id}/shares"), &json!({ "messageId": running })).await;
    assert_eq!(refused.error(), (409, "turn_in_progress".to_owned()));
    gate.open();
    turn.read_to_end().await;
    assert_eq!(read(&app, &made).await.ok()["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn revoked_and_deleted_shares_are_gone() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = app.send_message("一").await.conversation_id();
    let [kept, revoked] = [share(&app, &id, &json!({})).await, share(&app, &id, &json!({})).await];
    let path = format!("/api/conversations/{id}/shares/{}", revoked["id"].as_str().unwrap());
    assert_eq!(app.as_user("mallory").delete(&path).await.error(), (404, "not_found".to_owned()));
    let other = app.send_message("二").await.conversation_id();
    let crossed = path.replace(&id, &other);
    assert_eq!(app.delete(&crossed).await.error(), (404, "not_found".to_owned()), "of another conversation");
    assert_eq!(read(&app, &revoked).await.status, 200);
    assert_eq!(app.delete(&path).await.status, 204);
    assert_gone(&app, &revoked).await;
    assert_eq!(app.delete(&path).await.error(), (404, "not_found".to_owned()));
    assert_eq!(shares(&app, &id).await, [kept["id"].clone()]);
    assert_eq!(app.delete(&format!("/api/conversations/{id}")).await.status, 204);
    assert_gone(&app, &kept).await;
}

#[tokio::test]
async fn f150_erasure_removes_shares_and_ratings() {
    let database = start_database().await;
    let app = TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let (ann, bob) = (app.as_user("ann"), app.as_user("bob"));
    let mut made = Vec::new();
    for client in [&ann, &bob] {
        let id = client.send_message("一").await.conversation_id();
        let answer = client.conversation(&id).await["messages"][1]["id"].as_str().unwrap().to_owned();
        let path = format!("/api/conversations/{id}/messages/{answer}/feedback");
        assert_eq!(client.put(&path, &json!({ "rating": "up" })).await.status, 204);
        made.push(share(client, &id, &json!({})).await);
    }
    let body = json!({ "confirm": "erase" }).to_string();
    assert_eq!(ann.send("DELETE", "/api/me", &[("content-type", "application/json")], body).await.status, 200);
    assert_gone(&app, &made[0]).await;
    assert_eq!(read(&app, &made[1]).await.status, 200);
    let ratings = app.get("/api/admin/feedback").await.ok();
    assert_eq!(ratings["feedback"].as_array().unwrap().len(), 1);
    assert_eq!(ratings["feedback"][0]["owner"], "name:bob");
}

#[tokio::test]
async fn oversized_branch_is_too_large_to_share() {
    let app = TestApp::start().await;
    let long = "茶".repeat(100_000);
    app.model.respond_with(move |_| Completion::of([long.as_str(); 5]));
    let id = app.send_message("一").await.conversation_id();
    let made = share(&app, &id, &json!({})).await;
    assert_eq!(read(&app, &made).await.ok()["messages"][1]["content"].as_str().unwrap().len(), 1_500_000);
    for text in ["二", "三"] {
        app.follow_up(&id, text).await;
    }
    let refused = app.post(&format!("/api/conversations/{id}/shares"), &json!({})).await;
    assert_eq!(refused.error(), (413, "too_large".to_owned()));
}

#[tokio::test]
async fn reads_of_shares_are_limited_by_address() {
    let app = TestApp::start().await;
    let path = format!("/api/shares/{}", "0".repeat(40));
    for _ in 0..2_000 {
        let answer = app.get(&path).await;
        if answer.status == 429 {
            assert_eq!(answer.error().1, "rate_limited");
            assert!(answer.header("retry-after").parse::<u32>().is_ok());
            assert_eq!(app.get("/api/conversations").await.status, 200, "callers are not limited by it");
            return;
        }
        assert_eq!(answer.error(), (404, "not_found".to_owned()));
    }
    unreachable!("no limit");
}
