//! Without authentication the local server accepts only requests from this machine and its own page.

use serde_json::json;
use support::{Completion, TestApp};

fn port(app: &TestApp) -> String {
    app.base().rsplit(':').next().unwrap().to_owned()
}

#[tokio::test]
async fn foreign_host_header_is_forbidden() {
    let app = TestApp::start().await;
    let port = port(&app);
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.7", "0.0.0.0", "[::]"] {
        for host in [host.to_owned(), format!("{host}:{port}")] {
            for path in ["/", "/healthz", "/api/conversations", "/nothing"] {
                let answer = app.get_raw(path, &format!("host: {host}")).await;
                assert_eq!(answer.error(), (403, "forbidden".to_owned()), "{host} {path}");
            }
        }
    }
}

#[tokio::test]
async fn every_loopback_name_is_served() {
    let app = TestApp::start().await;
    let port = port(&app);
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]", "127.0.0.2"] {
        let answer = app.get_raw("/healthz", &format!("host: {host}:{port}")).await;
        assert_eq!(answer.status, 200, "{host}");
    }
}

#[tokio::test]
async fn f144_foreign_origin_cannot_use_the_server() {
    let app = TestApp::start().await;
    let origins = [
        "http://evil.example",
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://localhost",
        "file://",
        "",
    ];
    for origin in origins {
        let headers = [("origin", origin), ("content-type", "application/json")];
        let answer = app.send("POST", "/api/chat", &headers, "{\"message\":\"hi\"}").await;
        assert_eq!(answer.error(), (403, "forbidden".to_owned()), "{origin}");
        assert_eq!(app.send("GET", "/api/conversations", &headers[..1], "").await.error().0, 403, "{origin}");
    }
    assert_eq!(app.model.requests().len(), 0);
}

#[tokio::test]
async fn own_origin_can_use_the_server() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let headers = [("origin", app.base()), ("content-type", "application/json")];
    let body = json!({ "message": "hi", "stream": false }).to_string();
    assert_eq!(app.send("POST", "/api/chat", &headers, body).await.ok()["content"], "好。");
}
