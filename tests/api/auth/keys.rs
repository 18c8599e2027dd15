//! Keys over HTTP: administrators make, change and revoke them.

use std::time::SystemTime;

use serde_json::{Value, json};
use store::{ApiKey, NewKey};
use support::Completion;

use super::app_with_store::{AppWithStore, expose_key};
use super::{ABSENT, start_with_api_keys};
use crate::search_call;

const KEYS: &str = "/api/admin/keys";

/// The product with the key of one administrator.
async fn start_with_administrator() -> (AppWithStore, String, String) {
    let product = start_with_api_keys().await;
    let admin = ApiKey::generate().unwrap();
    let new = NewKey { owner: "root".to_owned(), administrator: true, ..NewKey::default() };
    product.store.keys.create(&admin, &new, SystemTime::now()).await.unwrap();
    (product, expose_key(&admin), admin.id().to_owned())
}

async fn account(product: &AppWithStore, key: &str) -> (u16, Value) {
    let answer = product.send_request(("GET", "/api/me", ""), "", &[("x-api-key", key)]).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn made_key_admits_its_user_until_revoked() {
    let (product, admin, _) = start_with_administrator().await;
    let header = [("x-api-key", admin.as_str())];
    let body = r#"{"user":"小王","expiresInDays":90}"#;
    let made = product.send_request(("POST", KEYS, body), "", &header).await;
    assert_eq!((made.status, made.header("cache-control")), (201, "no-store"));
    let made = made.json();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    assert_eq!(
        account(&product, key).await,
        (200, json!({ "user": "小王", "groups": [], "admin": false, "auth": "api_key" }))
    );
    let one = ("GET", "/api/admin/keys/{id}", "");
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("key");
    assert_eq!(product.send_request(one, id, &header).await.ok(), shown, "the secret is in the first response only");
    let list = product.send_request(("GET", KEYS, ""), "", &header).await.ok();
    assert_eq!(list["keys"].as_array().unwrap().len(), 2);
    assert_eq!(list["keys"][1], shown);
    assert_eq!((&shown["user"], &shown["admin"], &shown["state"]), (&json!("小王"), &json!(false), &json!("valid")));
    let revoke = ("DELETE", "/api/admin/keys/{id}", "");
    assert_eq!(product.send_request(revoke, id, &header).await.status, 204);
    let revoked = product.send_request(one, id, &header).await.ok();
    assert_eq!((&revoked["state"], revoked["revokedAt"].is_string()), (&json!("revoked"), true));
    let record = product.store.keys.get(id).await.unwrap().unwrap();
    assert!(!record.admits(&ApiKey::parse(key).unwrap(), SystemTime::now()));
}

#[tokio::test]
async fn change_promotes_key_and_removes_its_end() {
    let (product, admin, _) = start_with_administrator().await;
    let header = [("x-api-key", admin.as_str())];
    let body = r#"{"user":"ann","expiresInDays":1}"#;
    let made = product.send_request(("POST", KEYS, body), "", &header).await.json();
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let change = ("PUT", "/api/admin/keys/{id}", r#"{"admin":true}"#);
    let changed = product.send_request(change, id, &header).await.ok();
    assert_eq!((&changed["admin"], &changed["expiresAt"]), (&json!(true), &Value::Null));
    assert_eq!(account(&product, key).await.1["admin"], true);
    product.send_request(("DELETE", "/api/admin/keys/{id}", ""), id, &header).await;
    let refused = product.send_request(change, id, &header).await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "a revoked key stays revoked");
}

#[tokio::test]
async fn key_groups_are_set_kept_and_cleared() {
    let (product, admin, _) = start_with_administrator().await;
    let header = [("x-api-key", admin.as_str())];
    let body = r#"{"user":"ann","groups":["研发","legal","legal"]}"#;
    let made = product.send_request(("POST", KEYS, body), "", &header).await.json();
    assert_eq!(made["groups"], json!(["legal", "研发"]));
    let id = made["id"].as_str().unwrap();
    for (change, expected) in [
        (r#"{"admin":false}"#, json!(["legal", "研发"])),
        (r#"{"admin":false,"groups":["sales"]}"#, json!(["sales"])),
        (r#"{"admin":false,"groups":[]}"#, json!([])),
    ] {
        let changed = product.send_request(("PUT", "/api/admin/keys/{id}", change), id, &header).await.ok();
        assert_eq!(changed["groups"], expected, "{change}");
        let read = product.send_request(("GET", "/api/admin/keys/{id}", ""), id, &header).await.ok();
        assert_eq!(read, changed);
    }
    for groups in [r#""legal""#, r#"[" legal"]"#, r#"[""]"#, "[5]"] {
        let body = format!(r#"{{"user":"ann","groups":{groups}}}"#);
        let refused = product.send_request(("POST", KEYS, &body), "", &header).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "{groups}");
        assert!(refused.text().contains("`groups` must be"), "{}", refused.text());
    }
}

#[tokio::test]
async fn last_lasting_administrator_cannot_be_removed() {
    let (product, admin, id) = start_with_administrator().await;
    let header = [("x-api-key", admin.as_str())];
    let changes = [
        ("DELETE", "/api/admin/keys/{id}", ""),
        ("PUT", "/api/admin/keys/{id}", r#"{"admin":false}"#),
        ("PUT", "/api/admin/keys/{id}", r#"{"admin":true,"expiresInDays":30}"#),
        ("DELETE", "/api/me", r#"{"confirm":"erase"}"#),
    ];
    let short = r#"{"user":"ann","admin":true,"expiresInDays":30}"#;
    product.send_request(("POST", KEYS, short), "", &header).await.json();
    for change in changes {
        let refused = product.send_request(change, &id, &header).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "{change:?}");
    }
    let second = product.send_request(("POST", KEYS, r#"{"user":"ann","admin":true}"#), "", &header).await.json();
    assert_eq!(product.send_request(changes[3], &id, &header).await.status, 200);
    assert_eq!(account(&product, second["key"].as_str().unwrap()).await.0, 200);
}

#[tokio::test]
async fn bad_key_requests_are_rejected_with_reason() {
    let (product, admin, _) = start_with_administrator().await;
    let header = [("x-api-key", admin.as_str())];
    for (body, field) in [
        ("{}", "`user`"),
        (r#"{"user":" "}"#, "`user`"),
        (r#"{"user":"a\u0007"}"#, "`user`"),
        (r#"{"user":"ann","admin":"yes"}"#, "`admin`"),
        (r#"{"user":"ann","expiresInDays":0}"#, "`expiresInDays`"),
        (r#"{"user":"ann","expiresInDays":3651}"#, "`expiresInDays`"),
        (r#"{"user":"ann","expires":3}"#, "`expires`"),
    ] {
        let refused = product.send_request(("POST", KEYS, body), "", &header).await;
        assert_eq!(refused.status, 400, "{body}");
        assert!(refused.text().contains(field), "{body}: {}", refused.text());
    }
    for route in [("GET", "/api/admin/keys/{id}", ""), ("DELETE", "/api/admin/keys/{id}", "")] {
        for id in [ABSENT, "x"] {
            assert_eq!(product.send_request(route, id, &header).await.error(), (404, "not_found".to_owned()));
        }
    }
    assert_eq!(product.store.keys.list().await.unwrap().len(), 1);
}

#[tokio::test]
async fn open_server_describes_its_caller() {
    let app = support::TestApp::start().await;
    let account = app.as_user("ann").get("/api/me").await.json();
    assert_eq!(account, json!({ "user": "ann", "groups": [], "admin": true, "auth": "none" }));
}

#[tokio::test]
async fn auth_mode_is_public() {
    let issuer = "https://id.example/realm";
    let jwt = [("AUTH", "jwt"), ("AUTH_JWT_ISSUER", issuer), ("AUTH_JWT_AUDIENCE", "chat")];
    let with_page = [jwt.as_slice(), &[("AUTH_JWT_CLIENT_ID", "page"), ("AUTH_JWT_SCOPE", "openid email")]].concat();
    let sign_in = json!({ "issuer": issuer, "clientId": "page", "audience": "chat", "scope": "openid email" });
    for (settings, expected) in [
        (&[][..], json!({ "mode": "none" })),
        (&[("AUTH", "api_key")], json!({ "mode": "api_key" })),
        (&jwt, json!({ "mode": "jwt" })),
        (&with_page, json!({ "mode": "jwt", "signIn": sign_in })),
    ] {
        let app = support::TestApp::start_with(settings).await;
        let answer = app.send("GET", "/api/auth", &[], "").await;
        assert_eq!(answer.ok(), expected, "{settings:?}");
    }
}

#[tokio::test]
async fn key_option_ends_answers_with_link_definitions() {
    let (product, admin, _) = start_with_administrator().await;
    let body = r#"{"user":"ann","citationLinks":true}"#;
    let made = product.send_request(("POST", KEYS, body), "", &[("x-api-key", admin.as_str())]).await.json();
    assert_eq!(made["citationLinks"], true);
    let (id, key) = (made["id"].as_str().unwrap(), made["key"].as_str().unwrap());
    let content = async |key: &str, more: &str| {
        product.app.model.queue_replies([Completion::of([search_call("茶")]), Completion::of(["晴 [1]。"])]);
        let request = format!(r#"{{"model":"openai","messages":[{{"role":"user","content":"茶"}}]{more}}}"#);
        let request = ("POST", "/v1/chat/completions", request.as_str());
        let answer = product.send_request(request, "", &[("x-api-key", key)]).await.ok();
        answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    let linked = "晴 [1]。\n\n[1]: <https://example.com/1> \"茶：第1页\"";
    assert_eq!(content(key, "").await, linked);
    assert_eq!(content(key, r#","citationLinks":false"#).await, "晴 [1]。", "the request decides");
    assert_eq!(content(&admin, "").await, "晴 [1]。", "another key has no option");
    let change = |body| ("PUT", "/api/admin/keys/{id}", body);
    let kept = product.send_request(change(r#"{"admin":false}"#), id, &[("x-api-key", admin.as_str())]).await.ok();
    assert_eq!(kept["citationLinks"], true, "a change that does not name it keeps it");
    let off = r#"{"admin":false,"citationLinks":false}"#;
    let changed = product.send_request(change(off), id, &[("x-api-key", admin.as_str())]).await.ok();
    assert_eq!(changed["citationLinks"], false);
}
