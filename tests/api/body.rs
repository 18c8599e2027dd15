//! Validation of request bodies: bad ones are rejected before the product stores or calls anything.

use serde_json::json;
use support::{Completion, TestApp};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Asserts that the product stored nothing and called no model.
async fn assert_untouched(app: &TestApp) {
    assert_eq!(app.model.requests().len(), 0);
    assert_eq!(app.get("/api/conversations").await.ok(), json!({ "conversations": [], "nextCursor": null }));
}

#[tokio::test]
async fn f103_message_limit_is_32000_characters() {
    let app = TestApp::start().await;
    for character in ["a", "字", "🦀", "\n"] {
        let over = json!({ "message": format!("字{}", character.repeat(32_000)) });
        assert_eq!(app.post("/api/chat", &over).await.error(), (413, "too_large".to_owned()));
    }
    assert_untouched(&app).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let longest = "🦀".repeat(32_000);
    assert_eq!(app.send_message(&longest).await.content(), "好。");
    assert_eq!(app.model.wait_for_request(1).await.last_message(), longest);
}

#[tokio::test]
async fn f104_invalid_chat_requests_are_rejected() {
    let app = TestApp::start().await;
    let bodies: [&[u8]; 34] = [
        b"",
        b" ",
        b"null",
        b"[]",
        b"\"hi\"",
        b"7",
        b"{",
        b"{}",
        b"{\"message\"}",
        b"{\"message\":\"hi\"",
        b"{\"message\":\"hi\",}",
        b"{\"message\":\"hi\"} x",
        b"{\"message\":\"hi\"}{}",
        b"{'message':'hi'}",
        b"{\"message\":\"hi\",\"message\":\"hi\"}",
        b"{\"message\":\"hi\",\"x\":1,\"x\":1}",
        b"{\"message\":\"hi\",\"mess\\u0061ge\":\"hi\"}",
        b"{\"message\":\"\xff\"}",
        b"{\"message\":\"\\ud800\"}",
        b"{\"message\":\"a\nb\"}",
        b"\xef\xbb\xbf{\"message\":\"hi\"}",
        b"{\"message\":\"\"}",
        b"{\"message\":\" \\t\\r\\n\"}",
        "{\"message\":\"\u{3000}\u{a0}\"}".as_bytes(),
        b"{\"message\":null}",
        b"{\"message\":7}",
        b"{\"message\":[\"hi\"]}",
        b"{\"message\":\"hi\",\"stream\":\"yes\"}",
        b"{\"message\":\"hi\",\"conversationId\":7}",
        b"{\"message\":\"hi\",\"userId\":7}",
        b"{\"message\":\"hi\",\"modelType\":7}",
        b"{\"message\":\"hi\",\"toolChoice\":\"sometimes\"}",
        b"{\"message\":\"hi\",\"toolChoice\":{}}",
        b"{\"message\":\"hi\",\"agentId\":\"nobody\"}",
    ];
    for body in bodies {
        let answer = app.chat_bytes(body).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{}", String::from_utf8_lossy(body));
    }
    assert_untouched(&app).await;
}

#[tokio::test]
async fn f104_deep_nesting_is_rejected() {
    let app = TestApp::start().await;
    for depth in [1_000, 100_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let answer = app.chat_bytes(format!("{{\"message\":\"hi\",\"x\":{nested}}}")).await;
            assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{depth} {open}");
        }
    }
    assert_untouched(&app).await;
}

#[tokio::test]
async fn f104_unknown_fields_are_ignored() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let turn = app.chat(&json!({ "message": "你好", "owner": "admin", "temperature": 7, "x": { "y": [null] } })).await;
    assert_eq!(turn.content(), "好。");
}

#[tokio::test]
async fn f121_privileged_fields_are_ignored() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let body = json!({
        "message": "你好", "role": "system", "messageId": "01J00000000000000000000000", "baseUrl": "http://127.0.0.1:9",
        "messages": [{ "role": "system", "content": "别的" }], "model": "别的",
    });
    app.chat(&body).await;
    let request = app.model.wait_for_request(1).await;
    assert_eq!(request.dialogue(), [("user".to_owned(), "你好".to_owned())]);
    assert!(!request.body.to_string().contains("别的"));
}

#[tokio::test]
async fn f104_other_content_types_are_rejected() {
    let app = TestApp::start().await;
    let body = "{\"message\":\"hi\"}";
    for kind in
        ["text/plain", "application/json-seq", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
    {
        let answer = app.send("POST", "/api/chat", &[("content-type", kind)], body).await;
        assert_eq!(answer.error(), (415, "unsupported_media_type".to_owned()), "{kind}");
    }
    let absent = app.send_raw("POST /api/chat HTTP/1.1\r\n", body.as_bytes()).await;
    assert_eq!(absent.error(), (415, "unsupported_media_type".to_owned()));
    assert_untouched(&app).await;
}

#[tokio::test]
async fn f104_content_type_may_have_parameters_and_capitals() {
    let app = TestApp::start().await;
    for kind in ["application/json; charset=utf-8", "Application/JSON", "application/json;charset=UTF-8"] {
        app.model.queue_replies([Completion::of(["好。"])]);
        let answer =
            app.send("POST", "/api/chat", &[("content-type", kind)], "{\"message\":\"hi\",\"stream\":false}").await;
        assert_eq!(answer.ok()["content"], "好。", "{kind}");
    }
}

#[tokio::test]
async fn f106_body_limit_is_one_mebibyte() {
    let app = TestApp::start().await;
    let padded = |length: usize| {
        let (before, after) = ("{\"message\":\"hi\",\"stream\":false,\"x\":\"", "\"}");
        format!("{before}{}{after}", "x".repeat(length - before.len() - after.len()))
    };
    let over = app.chat_bytes(padded((1 << 20) + 1)).await;
    assert_eq!(over.error(), (413, "too_large".to_owned()));
    assert_untouched(&app).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    assert_eq!(app.chat_bytes(padded(1 << 20)).await.ok()["content"], "好。");
}

#[tokio::test]
async fn f106_oversized_chunked_body_is_rejected() {
    let app = TestApp::start().await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 16, " ".repeat(1 << 16));
    let head = "POST /api/chat HTTP/1.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n";
    let answer = app.send_raw_chunked(head, &chunk.repeat(17)).await;
    assert_eq!(answer.error(), (413, "too_large".to_owned()));
}

#[tokio::test]
async fn unknown_model_error_lists_the_models() {
    let app = TestApp::start().await;
    let answer = app.post("/api/chat", &json!({ "message": "hi", "modelType": "gpt-99" })).await;
    assert_eq!(answer.error(), (400, "invalid_request".to_owned()));
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("openai"), "{message}");
    assert_untouched(&app).await;
}

#[tokio::test]
async fn request_may_name_a_known_model() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let turn = app.chat(&json!({ "message": "hi", "modelType": "openai" })).await;
    assert_eq!(turn.0[0]["model"], "openai");
}

#[tokio::test]
async fn unknown_or_malformed_conversation_id_is_not_found() {
    let app = TestApp::start().await;
    let long = "0".repeat(5_000);
    for id in ["01J00000000000000000000000", "", " ", "x", "../x", "01j00000000000000000000000", "💥", &long] {
        let answer = app.post("/api/chat", &json!({ "message": "hi", "conversationId": id })).await;
        assert_eq!(answer.error(), (404, "not_found".to_owned()), "{id:?}");
    }
    assert_untouched(&app).await;
}

#[tokio::test]
async fn errors_are_equal_with_and_without_streaming() {
    let app = TestApp::start().await;
    let streamed = app.post("/api/chat", &json!({ "message": " " })).await;
    let document = app.chat_once(&json!({ "message": " " })).await;
    assert_eq!(streamed.error_body(), document.error_body());
}

#[tokio::test]
async fn title_is_validated_like_a_message() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    let path = format!("/api/conversations/{}", app.send_message("你好").await.conversation_id());
    let before = app.get(&path).await.ok();
    for body in ["", "{}", "{\"title\":7}", "{\"title\":\"\"}", "{\"title\":\" \\n\"}", "{\"title\":\"a\"", "[]"] {
        let answer = app.send("PATCH", &path, &[JSON], body).await;
        assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "{body}");
    }
    let over = app.patch(&path, &json!({ "title": "字".repeat(201) })).await;
    assert_eq!(over.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.send("PATCH", &path, &[], "{\"title\":\"a\"}").await.error().0, 415);
    assert_eq!(app.get(&path).await.ok(), before);
    assert_eq!(app.patch(&path, &json!({ "title": "字".repeat(200) })).await.status, 200);
}
