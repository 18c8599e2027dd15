//! The route table over HTTP: paths, methods, and the headers of every response.

use std::collections::BTreeSet;

use serde_json::json;
use support::{ApiResponse, Completion, TestApp};

fn allowed_methods(answer: &ApiResponse) -> BTreeSet<&str> {
    answer.header("allow").split(',').map(str::trim).filter(|method| *method != "OPTIONS").collect()
}

#[tokio::test]
async fn f107_paths_must_match_exactly() {
    let app = TestApp::start().await;
    for path in [
        "/nothing",
        "/api",
        "/api/",
        "/api/chat/",
        "/api//chat",
        "//api/chat",
        "/API/chat",
        "/Healthz",
        "/healthz/",
        "/healthz/x",
        "/./healthz",
        "/x/../healthz",
        "/%2e%2e/healthz",
        "/x/%2e%2e/healthz",
        "/%2fhealthz",
        "/healthz%00",
        "/healthz%2f",
        "/healthz;a=b",
        "/api/conversations/",
        "/api/conversations/x/y",
        "/assets/",
        "/assets/../index.html",
        "/assets/%2e%2e%2findex.html",
        "/assets/%00",
        "/.env",
        "/.git/config",
    ] {
        assert_eq!(app.get_raw(path, "").await.error(), (404, "not_found".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn f107_conversation_id_is_never_a_path() {
    let app = TestApp::start().await;
    for id in ["%00", "%2e%2e", "..%2fhealthz", "%ff", "%e4%bd%a0", "a%20b", "%25", "x%0d%0aset-cookie:a=b", "'", "#"] {
        let answer = app.get_raw(&format!("/api/conversations/{id}"), "").await;
        assert_eq!(answer.error(), (404, "not_found".to_owned()), "{id}");
        assert_eq!(answer.header("set-cookie"), "");
    }
}

#[tokio::test]
async fn f108_wrong_method_lists_allowed_methods() {
    let app = TestApp::start().await;
    let read = BTreeSet::from(["GET", "HEAD"]);
    let routes = [
        ("/", read.clone()),
        ("/healthz", read.clone()),
        ("/api/chat", BTreeSet::from(["POST"])),
        ("/api/conversations", read.clone()),
        ("/api/conversations/01J00000000000000000000000", BTreeSet::from(["GET", "HEAD", "PATCH", "DELETE"])),
        ("/api/conversations/01J00000000000000000000000/stop", BTreeSet::from(["POST"])),
        ("/api/conversations/01J00000000000000000000000/regenerate", BTreeSet::from(["POST"])),
        ("/api/models", read.clone()),
        ("/api/tools", read),
    ];
    for (path, methods) in routes {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"] {
            if methods.contains(method) {
                continue;
            }
            let answer = app.send(method, path, &[("content-type", "application/json")], "{}").await;
            assert_eq!(answer.error(), (405, "method_not_allowed".to_owned()), "{method} {path}");
            assert_eq!(allowed_methods(&answer), methods, "{method} {path}");
        }
        let options = app.send("OPTIONS", path, &[], "").await;
        assert_eq!((options.status, options.body.len()), (204, 0), "{path}");
        assert_eq!(allowed_methods(&options), methods, "{path}");
    }
    assert_eq!(app.send("OPTIONS", "/nothing", &[], "").await.status, 404);
    assert_eq!(app.send_raw("HEAD /api/chat HTTP/1.1\r\n", b"").await.status, 405);
}

#[tokio::test]
async fn f108_head_responds_like_get_without_a_body() {
    let app = TestApp::start().await;
    for path in ["/", "/healthz", "/api/models", "/api/tools", "/api/conversations"] {
        let get = app.get_raw(path, "").await;
        let head = app.send_raw(&format!("HEAD {path} HTTP/1.1\r\n"), b"").await;
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
    }
    assert_eq!(app.send_raw("HEAD /nothing HTTP/1.1\r\n", b"").await.status, 404);
}

#[tokio::test]
async fn every_request_has_its_own_id() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let mut ids = BTreeSet::new();
    for _ in 0..3 {
        ids.insert(app.get("/healthz").await.header("x-request-id").to_owned());
        ids.insert(app.get("/nothing").await.header("x-request-id").to_owned());
    }
    let once = app.chat_once(&json!({ "message": "hi" })).await;
    ids.insert(once.header("x-request-id").to_owned());
    assert_eq!(ids.len(), 7);
}

#[tokio::test]
async fn f109_unlisted_origin_gets_no_cors_headers() {
    let app = TestApp::start().await;
    let preflight = [("origin", "https://evil.example"), ("access-control-request-method", "POST")];
    let answer = app.send("OPTIONS", "/api/chat", &preflight, "").await;
    assert_eq!(answer.header("access-control-allow-origin"), "");
    assert_eq!(app.get("/api/models").await.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn f109_listed_origin_gets_cors_headers() {
    let app = TestApp::start_with(&[("ALLOWED_ORIGINS", "https://a.example, https://b.example")]).await;
    let origin = ("origin", "https://b.example");
    let preflight =
        [origin, ("access-control-request-method", "POST"), ("access-control-request-headers", "content-type")];
    let answer = app.send("OPTIONS", "/api/chat", &preflight, "").await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, "https://b.example"));
    assert!(answer.header("access-control-allow-methods").contains("POST"));
    let headers: Vec<_> = answer.header("access-control-allow-headers").split(", ").collect();
    for name in ["content-type", "authorization", "user-agent", "x-stainless-os", "x-stainless-retry-count"] {
        assert!(headers.contains(&name), "{name}");
    }
    let read = app.send("GET", "/api/models", &[origin], "").await;
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, "https://b.example"));
    assert!(read.header("vary").to_ascii_lowercase().contains("origin"));
    let near = app.send("OPTIONS", "/api/chat", &[("origin", "https://b.example.evil.example")], "").await;
    assert_eq!(near.header("access-control-allow-origin"), "");
}
