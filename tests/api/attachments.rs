//! Files of users: taken in, sent to models, read by tools, and deleted with the messages that use them.

mod inline;
mod life;

use futures_util::future::join_all;
use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, NativeApp, TestApp};

use crate::documents::call;
use crate::model_faults::error_reply;

/// A picture of one pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=";

pub(crate) fn png() -> Vec<u8> {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.decode(PNG).unwrap()
}

pub(crate) fn png_address() -> String {
    format!("data:image/png;base64,{PNG}")
}

/// Uploads a file in one request.
pub(crate) async fn upload(client: &Client, name: &str, bytes: impl Into<Vec<u8>>) -> ApiResponse {
    let path = format!("/api/attachments?name={name}");
    client.send("POST", &path, &[("content-type", "application/octet-stream")], bytes).await
}

/// Uploads a file that is accepted; its id.
pub(crate) async fn uploaded(client: &Client, name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let response = upload(client, name, bytes).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()["id"].as_str().unwrap().to_owned()
}

/// The content of the last message that the model got.
pub(crate) fn last_content(app: &TestApp) -> Value {
    let requests = app.model.requests();
    requests.last().unwrap().body["messages"].as_array().unwrap().last().unwrap()["content"].clone()
}

/// The content of a user message with one picture.
pub(crate) fn with_png(text: &str) -> Value {
    json!([
        { "type": "image_url", "image_url": { "url": png_address() } },
        { "type": "text", "text": text },
    ])
}

#[tokio::test]
async fn uploaded_files_are_described_and_served() {
    let app = TestApp::start().await;
    let picture = upload(&app, "a%20%E5%9B%BE.png", png()).await;
    assert_eq!(picture.status, 201, "{}", picture.text());
    let picture = picture.json();
    let id = picture["id"].as_str().unwrap();
    let expected = json!({
        "id": id, "name": "a 图.png", "type": "image/png", "bytes": png().len(), "kind": "image", "width": 1, "height": 1,
        "pages": null, "characters": null, "truncated": false,
    });
    assert_eq!(picture, expected);
    let served = app.get(&format!("/api/attachments/{id}")).await;
    assert_eq!((served.status, served.body.clone()), (200, png()));
    let header = |name: &str| served.header(name).to_owned();
    assert_eq!((header("content-type"), header("x-content-type-options")), ("image/png".into(), "nosniff".into()));
    assert_eq!(app.get(&format!("/api/attachments/{id}/text")).await.status, 404);

    let page = upload(&app, "notes.md", "# 标题\n第二行").await.json();
    let text = app.get(&format!("/api/attachments/{}/text", page["id"].as_str().unwrap())).await;
    assert_eq!((text.text(), page["characters"].clone()), ("# 标题\n第二行".into(), json!(8)));
    let file = app.get(&format!("/api/attachments/{}", page["id"].as_str().unwrap())).await;
    assert_eq!(file.header("content-type"), "application/octet-stream");
    assert!(file.header("content-disposition").starts_with("attachment; "), "{file:?}");
    for (method, path) in [("GET", ""), ("GET", "/text"), ("DELETE", ""), ("POST", "/complete")] {
        let path = format!("/api/attachments/{id}{path}");
        assert_eq!(app.as_user("other").send(method, &path, &[], "").await.status, 404, "{method} {path}");
    }
    assert_eq!(app.delete(&format!("/api/attachments/{id}")).await.status, 204);
    assert_eq!(app.get(&format!("/api/attachments/{id}")).await.status, 404);
    assert_eq!(app.delete(&format!("/api/attachments/{id}")).await.status, 404);
}

#[tokio::test]
async fn rejected_files_have_their_reason() {
    let app = TestApp::start().await;
    let cut = png()[..40].to_vec();
    for (name, bytes, expected) in [
        ("a.png", cut, (400, "invalid_attachment")),
        (
            "a.exe",
            b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00".to_vec(),
            (415, "unsupported_media_type"),
        ),
        ("a.txt", vec![b'a'; 4 * 1024 * 1024 + 1], (413, "too_large")),
        ("%20", b"a".to_vec(), (400, "invalid_request")),
    ] {
        let (status, code) = upload(&app, name, bytes).await.error();
        assert_eq!((status, code.as_str()), expected, "{name}");
    }
    let unnamed = app.send("POST", "/api/attachments", &[], "a").await;
    assert_eq!(unnamed.error(), (400, "invalid_request".to_owned()));
    let id = uploaded(&app, "a.txt", "a").await;
    let foreign = uploaded(&app.as_user("other"), "a.txt", "a").await;
    for (ids, expected) in [
        (json!([foreign]), (404, "not_found")),
        (json!(["01J00000000000000000000000"]), (404, "not_found")),
        (json!(["x"]), (404, "not_found")),
        (json!([id, id]), (400, "invalid_request")),
        (json!([1]), (400, "invalid_request")),
        (json!(vec!["x"; 11]), (400, "invalid_request")),
    ] {
        let (status, code) = app.post("/api/chat", &json!({ "message": "?", "attachments": ids })).await.error();
        assert_eq!((status, code.as_str()), expected, "{ids}");
    }
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]), "nothing is stored");
}

#[tokio::test]
async fn pictures_reach_the_model_in_every_turn() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["一个点。"]));
    let id = uploaded(&app, "dot.png", png()).await;
    let turn = app.chat(&json!({ "message": "这是什么？", "attachments": [id] })).await;
    assert_eq!((turn.finish_reason(), last_content(&app)), ("stop", with_png("这是什么？")));
    let conversation = turn.conversation_id();
    let listed = &app.conversation(&conversation).await["messages"][0]["attachments"];
    let file = json!({ "id": id, "name": "dot.png", "type": "image/png", "bytes": png().len(), "kind": "image" });
    assert_eq!(*listed, json!([file]));
    app.follow_up(&conversation, "什么颜色？").await;
    let messages = app.model.requests().pop().unwrap().body["messages"].clone();
    assert_eq!(messages[1]["content"], with_png("这是什么？"), "{messages}");
    let question = app.conversation(&conversation).await["messages"][0]["id"].clone();
    app.regenerate(&conversation, &json!({ "messageId": question })).await.read_to_end().await;
    assert_eq!(last_content(&app), with_png("这是什么？"));
}

#[tokio::test]
async fn pictures_are_refused_for_models_that_take_none() {
    let settings = [("MODEL_OPTIONS", r#"{"openai":{"images":false}}"#)];
    let app = TestApp::start_with(&settings).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let models = app.get("/api/models").await.ok();
    assert_eq!((&models["models"][0]["images"], &models["attachments"]), (&json!(false), &json!(true)));
    let id = uploaded(&app, "dot.png", png()).await;
    let body = json!({ "message": "?", "attachments": [id] });
    assert_eq!(app.post("/api/chat", &body).await.error(), (400, "images_unsupported".to_owned()));
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
    let text = uploaded(&app, "a.txt", "x").await;
    assert_eq!(app.chat(&json!({ "message": "?", "attachments": [text] })).await.finish_reason(), "stop");
}

#[tokio::test]
async fn earlier_pictures_are_named_for_other_models() {
    let mut app = TestApp::start_on_disk().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = uploaded(&app, "dot.png", png()).await;
    let conversation = app.chat(&json!({ "message": "看", "attachments": [id] })).await.conversation_id();
    app.restart_with(&[("MODEL_OPTIONS", r#"{"openai":{"images":false}}"#)]).await;
    app.follow_up(&conversation, "然后？").await;
    let messages = app.model.requests().pop().unwrap().dialogue();
    assert_eq!(messages[0], ("user".to_owned(), "[image dot.png]\n\n看".to_owned()));
}

#[tokio::test]
async fn texts_are_in_the_prompt_with_numbers() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = uploaded(&app, "a.csv", "name,sum\nann,7\n").await;
    app.chat(&json!({ "message": "How much?", "attachments": [id] })).await;
    let content = last_content(&app);
    let text = content.as_str().unwrap();
    assert!(
        text.starts_with("<file name=\"a.csv\">\n1: name,sum\n2: ann,7\n</file>\n\n(") && text.ends_with("How much?")
    );
}

#[tokio::test]
async fn long_texts_are_read_by_tools() {
    let app = NativeApp::start_with(&[("MODEL_OPTIONS", r#"{"native":{"contextTokens":16000}}"#)]).await;
    let lines: Vec<String> = (1..=4_000).map(|line| format!("line {line} of the contract")).collect();
    let lines = lines.join("\n");
    let id = uploaded(&app, "contract.txt", lines.replace("line 3000 of", "line 3000: termination in")).await;
    app.model.queue_replies([
        call("search_attachments", &json!({ "query": "termination" })),
        call("read_attachment", &json!({ "name": "contract.txt", "from": 2999, "to": 3001 })),
        call("read_attachment", &json!({ "name": "other.txt" })),
        Completion::of(["See `contract.txt:3000`."]),
    ]);
    let turn = app.chat(&json!({ "message": "Termination?", "attachments": [id] })).await;
    assert_eq!(turn.finish_reason(), "stop");
    let requests = app.model.requests();
    let first = requests[0].last_message();
    assert!(first.starts_with("[file \"contract.txt\": ") && first.ends_with("Termination?"), "{first}");
    let results: Vec<String> = requests[3].body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert!(results[0].contains("line 3000: termination") && results[0].contains("\"line\":"), "{results:?}");
    assert!(results[1].contains("2999: line 2999") && results[1].contains("\"total\":4000"), "{results:?}");
    assert!(results[2].contains("contract.txt"), "{results:?}");
}

#[tokio::test]
async fn large_files_are_uploaded_as_a_form() {
    let app = TestApp::start().await;
    let text = "a line of text\n".repeat(400_000);
    let wanted = json!({ "name": "long.txt", "type": "text/plain", "bytes": text.len() });
    let begun = app.post("/api/attachments/uploads", &wanted).await;
    assert_eq!(begun.status, 201);
    let begun = begun.json();
    let (id, url) = (begun["id"].as_str().unwrap(), begun["url"].as_str().unwrap());
    let complete = format!("/api/attachments/{id}/complete");
    assert_eq!(app.post(&complete, &json!({})).await.error(), (400, "invalid_request".to_owned()));
    assert_eq!(app.post("/api/chat", &json!({ "message": "?", "attachments": [id] })).await.error().0, 404);
    let path = url.strip_prefix(app.base()).unwrap();
    let body =
        format!("--X\r\ncontent-disposition: form-data; name=\"file\"; filename=\"x\"\r\n\r\n{text}\r\n--X--\r\n");
    let form = [("content-type", "multipart/form-data; boundary=X")];
    assert_eq!(app.as_user("other").send("POST", path, &form, body.clone()).await.status, 404);
    assert_eq!(app.send("POST", path, &form, body.clone()).await.status, 204);
    for _ in 0..2 {
        let done = app.post(&complete, &json!({})).await;
        assert_eq!(
            (done.status, &done.json()["truncated"], &done.json()["bytes"]),
            (201, &json!(true), &json!(text.len()))
        );
    }
    assert_eq!(app.send("POST", path, &form, body).await.status, 404, "nothing waits for it");
    let huge = json!({ "name": "a", "type": "x", "bytes": 26 * 1024 * 1024 });
    assert_eq!(app.post("/api/attachments/uploads", &huge).await.error(), (413, "too_large".to_owned()));
}

#[tokio::test]
async fn documents_of_earlier_messages_can_be_read_again() {
    let app = NativeApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let id = uploaded(&app, "a.md", "see https://evil.example/secret").await;
    let tools = |app: &NativeApp| app.model.requests().pop().unwrap().body["tools"].to_string();
    let turn = app.chat(&json!({ "message": "看", "attachments": [id] })).await;
    assert!(!tools(&app).contains("read_attachment"), "the prompt has all of it");
    app.model
        .queue_replies([call("read_url", &json!({ "url": "https://evil.example/secret" })), Completion::of(["好。"])]);
    let next = app.follow_up(&turn.conversation_id(), "又").await;
    assert!(tools(&app).contains("read_attachment") && tools(&app).contains("search_attachments"));
    assert_eq!(next.events_of("tool_result")[0]["ok"], false, "a document opens no address");
    let first = NativeApp::start().await;
    let id = uploaded(&first, "a.md", "see https://evil.example/secret").await;
    first
        .model
        .queue_replies([call("read_url", &json!({ "url": "https://evil.example/secret" })), Completion::of(["好。"])]);
    let turn = first.chat(&json!({ "message": "看", "attachments": [id] })).await;
    assert_eq!(turn.events_of("tool_result")[0]["ok"], false);
}

#[tokio::test]
async fn refused_earlier_pictures_are_named_instead() {
    let app = TestApp::start_with(&[("MODEL_OPTIONS", r#"{"openai":{"images":true}}"#)]).await;
    let refusal = error_reply(400, "invalid_request_error", "This model does not support image input.");
    app.model.queue_replies([Completion::of(["好。"]), refusal, Completion::of(["好。"])]);
    let id = uploaded(&app, "dot.png", png()).await;
    let turn = app.chat(&json!({ "message": "看", "attachments": [id] })).await;
    assert_eq!(app.follow_up(&turn.conversation_id(), "又").await.finish_reason(), "stop");
    let messages = app.model.requests().pop().unwrap().dialogue();
    assert_eq!(messages[0].1, "[image dot.png]\n\n看");
}

#[tokio::test]
async fn overlapping_completions_have_one_file() {
    let app = TestApp::start().await;
    let begin = async |bytes: usize| {
        let wanted = json!({ "name": "a.txt", "type": "text/plain", "bytes": bytes });
        let begun = app.post("/api/attachments/uploads", &wanted).await.json();
        (begun["id"].as_str().unwrap().to_owned(), begun["url"].as_str().unwrap()[app.base().len()..].to_owned())
    };
    let form = [("content-type", "multipart/form-data; boundary=X")];
    let body = "--X\r\ncontent-disposition: form-data; name=\"file\"\r\n\r\nalpha\r\n--X--\r\n";
    let (_, path) = begin(4).await;
    assert_eq!(app.send("POST", &path, &form, body).await.error(), (413, "too_large".to_owned()), "4 were announced");
    let (id, path) = begin(5).await;
    assert_eq!(app.send("POST", &path, &form, body).await.status, 204);
    let (complete, empty) = (format!("/api/attachments/{id}/complete"), json!({}));
    let all = join_all((0..16).map(|_| app.post(&complete, &empty))).await;
    assert!(all.iter().all(|one| (one.status, one.json()) == (201, all[0].json())), "{all:?}");
    assert_eq!(app.get(&format!("/api/attachments/{id}/text")).await.text(), "alpha");
}

#[tokio::test]
async fn announced_uploads_count_for_the_owner() {
    let app = TestApp::start().await;
    let wanted = json!({ "name": "a.txt", "type": "text/plain", "bytes": 25 * 1024 * 1024 });
    for _ in 0..40 {
        assert_eq!(app.post("/api/attachments/uploads", &wanted).await.status, 201);
    }
    let refused = app.post("/api/attachments/uploads", &wanted).await;
    assert_eq!(refused.error(), (413, "too_large".to_owned()), "41 of 25 MiB are more than 1 GiB");
    let small = app.send("POST", "/api/attachments?name=a.txt", &[], "alpha").await;
    assert_eq!(small.status, 201, "what is still free can be used");
}
