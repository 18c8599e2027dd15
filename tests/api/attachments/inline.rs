//! Files inside of requests: OpenAI's two protocols and the AI SDK.

use axum::Router;
use axum::routing::get;
use serde_json::{Value, json};
use support::{Completion, FakeModel, TestApp};

use super::{last_content, png, png_address, uploaded, with_png};
use crate::model_faults::error_reply;

fn completion(content: &Value) -> Value {
    json!({ "model": "openai", "messages": [{ "role": "user", "content": content }] })
}

fn picture_parts(url: &str) -> Value {
    json!([
        { "type": "text", "text": "What?" },
        { "type": "image_url", "image_url": { "url": url, "detail": "low" } },
    ])
}

async fn start() -> TestApp {
    let app = TestApp::start_with(&[("ALLOW_PRIVATE_TOOLS", "yes")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    app
}

/// A server with a picture.
async fn serve_png() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/a/dot.png", get(async || png())).route("/text", get(async || "text"));
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}")
}

#[tokio::test]
async fn completions_take_pictures_and_documents() {
    let app = start().await;
    let server = serve_png().await;
    for url in [png_address(), format!("{server}/a/dot.png")] {
        assert_eq!(app.post("/v1/chat/completions", &completion(&picture_parts(&url))).await.status, 200);
        assert_eq!(last_content(&app), with_png("What?"));
    }
    let file = json!([
        { "type": "file", "file": { "filename": "a.txt", "file_data": "data:text/plain;base64,YWxwaGE=" } },
        { "type": "text", "text": "What?" },
    ]);
    assert_eq!(app.post("/v1/chat/completions", &completion(&file)).await.status, 200);
    assert!(last_content(&app).as_str().unwrap().starts_with("<file name=\"a.txt\">\n1: alpha\n</file>"));
    assert_eq!(app.get("/api/conversations").await.ok()["conversations"], json!([]));
}

#[tokio::test]
async fn f126_addresses_in_requests_are_guarded() {
    let app = TestApp::start().await;
    for url in
        ["http://127.0.0.1:9/a.png", "http://localhost/a.png", "http://169.254.169.254/latest", "https://[::1]/a"]
    {
        let response = app.post("/v1/chat/completions", &completion(&picture_parts(url))).await;
        assert_eq!(response.error(), (400, "invalid_attachment".to_owned()), "{url}");
    }
    for url in ["ftp://example.com/a.png", "file:///etc/passwd", "data:image/png;base64,%%%"] {
        let response = app.post("/v1/chat/completions", &completion(&picture_parts(url))).await;
        assert_eq!(response.status, 400, "{url}");
    }
    assert!(app.model.requests().is_empty());
}

#[tokio::test]
async fn f126_pictures_in_answers_come_through_the_guard() {
    let app = start().await;
    let server = serve_png().await;
    let picture = app.get(&format!("/api/pictures?url={server}/a/dot.png")).await;
    assert_eq!((picture.status, picture.body.clone()), (200, png()));
    assert_eq!((picture.header("content-type"), picture.header("x-content-type-options")), ("image/png", "nosniff"));
    let other = app.get(&format!("/api/pictures?url={server}/text")).await;
    assert_eq!(other.error(), (415, "unsupported_media_type".to_owned()));
    assert_eq!(app.get(&format!("/api/pictures?url={server}/none")).await.error().0, 400);
    let guarded = TestApp::start().await;
    for url in [format!("{server}/a/dot.png"), "https://169.254.169.254/a.png".to_owned(), png_address()] {
        let response = guarded.get(&format!("/api/pictures?url={}", url.replace('+', "%2B"))).await;
        assert_eq!(response.error(), (400, "invalid_attachment".to_owned()), "{url}");
    }
}

#[tokio::test]
async fn chats_of_the_ai_sdk_store_files() {
    let app = start().await;
    let parts = json!([
        { "type": "text", "text": "What?" },
        { "type": "file", "mediaType": "image/png", "filename": "dot.png", "url": png_address() },
    ]);
    let body = json!({
        "id": "chat", "trigger": "submit-message", "messages": [{ "id": "u", "role": "user", "parts": parts }],
    });
    let response = app.post("/api/ui/chat", &body).await;
    assert_eq!((response.status, last_content(&app)), (200, with_png("What?")));
    let listed = app.get("/api/conversations").await.ok();
    let conversation = app.conversation(listed["conversations"][0]["id"].as_str().unwrap()).await;
    let file = &conversation["messages"][0]["attachments"][0];
    assert_eq!((&file["name"], &file["kind"]), (&json!("dot.png"), &json!("image")));
    let served = app.get(&format!("/api/attachments/{}", file["id"].as_str().unwrap())).await;
    assert_eq!(served.body, png());
    let unnamed =
        json!([{ "type": "file", "mediaType": "image/png", "url": format!("{}/a/dot.png", serve_png().await) }]);
    let message = json!({ "id": "u", "role": "user", "parts": unnamed });
    let body = json!({ "id": "other", "trigger": "submit-message", "messages": [message] });
    assert_eq!(app.post("/api/ui/chat", &body).await.status, 200);
    let listed = app.get("/api/conversations").await.ok();
    let conversation = app.conversation(listed["conversations"][0]["id"].as_str().unwrap()).await;
    assert_eq!(conversation["messages"][0]["attachments"][0]["name"], "dot.png", "of its address");
}

#[tokio::test]
async fn stored_responses_keep_their_files() {
    let app = start().await;
    let input = json!([{ "role": "user", "content": [
        { "type": "input_text", "text": "What?" },
        { "type": "input_image", "image_url": png_address() },
        { "type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,YWxwaGE=" },
    ] }]);
    let first = app.post("/v1/responses", &json!({ "model": "openai", "input": input })).await.ok();
    let content = last_content(&app);
    assert_eq!(content[0]["image_url"]["url"], png_address());
    assert!(content[1]["text"].as_str().unwrap().contains("1: alpha"), "{content}");
    let next = json!({ "model": "openai", "input": "又？", "previous_response_id": first["id"] });
    assert_eq!(app.post("/v1/responses", &next).await.status, 200);
    let messages = app.model.requests().pop().unwrap().body["messages"].clone();
    assert_eq!(messages[messages.as_array().unwrap().len() - 3]["content"], content);
    let mut unstored = next.clone();
    unstored["store"] = false.into();
    assert_eq!(app.post("/v1/responses", &unstored).await.status, 200);
    assert_eq!(app.model.requests().pop().unwrap().body["messages"], messages, "the same without being stored");
    let unstored = json!({ "model": "openai", "input": input, "store": false });
    assert_eq!(app.post("/v1/responses", &unstored).await.status, 200);
    assert_eq!(last_content(&app), content);
}

#[tokio::test]
async fn refusal_of_pictures_is_remembered() {
    let app = TestApp::start_with(&[("OPENAI_MODEL", "unheard-of/scripted-1")]).await;
    app.model.queue_replies([error_reply(400, "invalid_request_error", "This model does not support image input.")]);
    let refused = app.post("/v1/chat/completions", &completion(&picture_parts(&png_address()))).await;
    assert_eq!(refused.error(), (400, "images_unsupported".to_owned()));
    let again = app.post("/v1/chat/completions", &completion(&picture_parts(&png_address()))).await;
    assert_eq!(again.error(), (400, "images_unsupported".to_owned()));
    assert_eq!(app.model.requests().len(), 1, "the second request is not sent");
    assert_eq!(app.get("/api/models").await.ok()["models"][0]["images"], false);
}

#[tokio::test]
async fn model_that_takes_pictures_answers_about_them() {
    let first = FakeModel::start().await;
    let row = json!({ "baseUrl": first.url(), "apiKeyVar": "OPENAI_API_KEY", "model": "m" });
    let with = |more: Value| {
        let fields = row.as_object().unwrap().clone().into_iter();
        Value::Object(fields.chain(more.as_object().unwrap().clone()).collect())
    };
    let rows = json!([
        with(json!({ "name": "blind", "images": false, "fallback": "openai" })),
        with(json!({ "name": "gem", "wire": "gemini", "images": true })),
        with(json!({ "name": "gem-and-more", "wire": "gemini", "images": true, "fallback": "openai" })),
    ]);
    let app = TestApp::start_with(&[("MODELS", &rows.to_string())]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let gif = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";
    for (model, url) in [("blind", &*png_address()), ("blind", gif), ("gem-and-more", gif)] {
        let body = json!({ "model": model, "messages": [{ "role": "user", "content": picture_parts(url) }] });
        let response = app.post("/v1/chat/completions", &body).await;
        assert_eq!(response.status, 200, "{}", response.text());
        assert!(last_content(&app)[0]["image_url"]["url"].as_str().unwrap().starts_with(&url[..20]), "{model}");
    }
    let body = json!({ "model": "gem", "messages": [{ "role": "user", "content": picture_parts(gif) }] });
    let refused = app.post("/v1/chat/completions", &body).await;
    assert_eq!(refused.error(), (400, "images_unsupported".to_owned()));
    let id = uploaded(&app, "a.gif", gif_bytes(gif)).await;
    let body = json!({ "message": "?", "modelType": "gem", "attachments": [id] });
    assert_eq!(app.post("/api/chat", &body).await.error(), (400, "images_unsupported".to_owned()));
    let id = uploaded(&app, "dot.png", png()).await;
    let question = json!({ "message": "What?", "modelType": "blind", "attachments": [id] });
    let conversation = app.chat(&question).await.conversation_id();
    assert_eq!(last_content(&app), with_png("What?"));
    let requests = app.model.requests().len();
    app.regenerate(&conversation, &json!({ "modelType": "blind" })).await.read_to_end().await;
    assert_eq!((app.model.requests().len(), last_content(&app)), (requests + 1, with_png("What?")));
    assert!(first.requests().is_empty());
}

#[tokio::test]
async fn claude_gets_no_picture_beyond_its_limit() {
    let first = FakeModel::start().await;
    let rows = json!([{
        "name": "claude", "baseUrl": first.url(), "apiKeyVar": "OPENAI_API_KEY", "model": "m", "wire": "anthropic",
        "images": true,
    }]);
    let app = TestApp::start_with(&[("MODELS", &rows.to_string())]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let head = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1, 1, 1, 0x11, 0, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0];
    let photo = |bytes: usize| [&head[..], &vec![0; bytes - head.len() - 2], &[0xff, 0xd9]].concat();
    let id = uploaded(&app, "photo.jpg", photo(4 * 1024 * 1024)).await;
    let question = json!({ "message": "?", "attachments": [id] });
    let of_claude = json!({ "message": "?", "attachments": [id], "modelType": "claude" });
    let refused = app.post("/api/chat", &of_claude).await;
    assert!(refused.text().contains("3.75 MiB"), "{}", refused.text());
    assert_eq!(refused.error(), (400, "images_unsupported".to_owned()));
    app.chat(&question).await.conversation_id();
    assert!(first.requests().is_empty());
}

fn gif_bytes(address: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::prelude::BASE64_STANDARD.decode(address.split_once(',').unwrap().1).unwrap()
}

#[tokio::test]
async fn stored_response_names_earlier_pictures_too() {
    let app = TestApp::start_with(&[("MODEL_OPTIONS", r#"{"openai":{"images":false}}"#)]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let picture = json!({ "role": "user", "content": [
        { "type": "input_text", "text": "看" }, { "type": "input_image", "image_url": png_address() },
    ] });
    let input = json!([picture, { "role": "assistant", "content": "好。" }, { "role": "user", "content": "然后？" }]);
    for store in [true, false] {
        let response = app.post("/v1/responses", &json!({ "model": "openai", "input": input, "store": store })).await;
        assert_eq!(response.status, 200, "{}", response.text());
        let messages = app.model.requests().pop().unwrap().dialogue();
        assert!(messages[0].1.starts_with("[image ") && messages[0].1.ends_with("看"), "{messages:?}");
    }
    for input in [json!([picture]), json!([picture, { "role": "user", "content": "然后？" }])] {
        let new = app.post("/v1/responses", &json!({ "model": "openai", "input": input })).await;
        assert_eq!(new.error(), (400, "images_unsupported".to_owned()), "{input}");
    }
}

#[tokio::test]
async fn documents_beyond_the_window_are_refused_unstored() {
    let app = TestApp::start_with(&[("MODEL_OPTIONS", r#"{"openai":{"contextTokens":4000}}"#)]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let file = |text: &str| {
        use base64::Engine as _;
        let data = base64::prelude::BASE64_STANDARD.encode(text);
        json!({ "type": "file", "file": { "filename": "a.txt", "file_data": format!("data:text/plain;base64,{data}") } })
    };
    let parts = |text: &str| completion(&json!([file(text), { "type": "text", "text": "What?" }]));
    let response = app.post("/v1/chat/completions", &parts(&"a b ".repeat(20_000))).await;
    assert_eq!(response.error(), (413, "too_large".to_owned()), "{}", response.text());
    assert!(app.model.requests().is_empty());
    let mut later = parts("alpha");
    assert_eq!(app.post("/v1/chat/completions", &later).await.status, 200);
    let earlier = parts(&"a b ".repeat(20_000))["messages"][0].clone();
    later["messages"] = json!([earlier, { "role": "assistant", "content": "A." }, later["messages"][0]]);
    let response = app.post("/v1/chat/completions", &later).await;
    assert_eq!(response.status, 200, "earlier documents are left out: {}", response.text());
}
