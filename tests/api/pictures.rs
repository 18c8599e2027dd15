//! Pictures in requests, and which models take them.

use serde_json::{Value, json};
use support::{Completion, TestApp};

use crate::openai::{complete, completion_request};

/// A picture of one pixel.
const PNG: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn message(parts: &Value) -> Value {
    json!([{ "role": "user", "content": parts }])
}

#[tokio::test]
async fn inline_picture_is_accepted_with_text() {
    let app = TestApp::start().await;
    app.model.respond_with(|_| Completion::of(["A pixel."]));
    let text = json!({ "type": "text", "text": "What is it?" });
    for picture in [
        json!({ "type": "image_url", "image_url": { "url": PNG, "detail": "low" } }),
        json!({ "type": "image_url", "image_url": PNG }),
        json!({ "type": "file", "file": { "filename": "a.png", "file_data": PNG } }),
    ] {
        let answer = complete(&app, &message(&json!([picture, text])), &json!({})).await.ok();
        assert_eq!(answer["choices"][0]["message"]["content"], "A pixel.", "{picture}");
    }
    assert!(app.model.requests().iter().all(|request| request.last_message() == "What is it?"));
    let input = json!([{ "role": "user", "content": [
        { "type": "input_image", "image_url": PNG }, { "type": "input_text", "text": "What is it?" },
    ] }]);
    let response = app.post("/v1/responses", &json!({ "model": "openai", "input": input })).await.ok();
    assert_eq!(response["status"], "completed");
}

#[tokio::test]
async fn f106_body_with_files_has_six_mebibytes() {
    let app = TestApp::start().await;
    let param = async |bytes: usize| {
        let picture = json!({ "type": "image_url", "image_url": format!("{PNG}{}", "A".repeat(bytes)) });
        let answer = complete(&app, &message(&json!([picture])), &json!({ "n": 2 })).await;
        (answer.status, answer.json()["error"]["param"].clone())
    };
    assert_eq!(param(5 << 20).await, (400, json!("n")), "the body was read");
    assert_eq!(param(6 << 20).await, (413, Value::Null));
    for (path, body) in [
        (
            "/v1/chat/completions",
            completion_request(&json!([{"role": "user", "content": "x".repeat(1 << 20)}]), &json!({})),
        ),
        ("/v1/responses", json!({ "model": "openai", "input": "x".repeat(1 << 20) })),
    ] {
        assert_eq!(app.post(path, &body).await.status, 413, "text alone has the limit of every body: {path}");
    }
    assert!(app.model.requests().is_empty());
}

#[tokio::test]
async fn model_list_shows_who_takes_pictures() {
    let entry = |name: &str, model: &str, more: Value| {
        let mut entry = json!({ "name": name, "baseUrl": "https://x.example/v1", "model": model });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let models = json!([
        entry("set", "gpt-oss-120b", json!({ "images": true })),
        entry("unset", "gpt-5", json!({ "images": false })),
        entry("replaced", "gpt-5", json!({ "images": false })),
        entry("known", "gpt-oss-120b", json!({})),
        entry("unknown", "m", json!({})),
    ]);
    let options = json!({ "replaced": { "images": true }, "set": { "effort": "low" } });
    let settings = [("MODELS", &*models.to_string()), ("MODEL_OPTIONS", &*options.to_string())];
    let app = TestApp::start_with(&settings).await;
    let listed = app.get("/api/models").await.ok();
    for (name, images) in [("set", true), ("unset", false), ("replaced", true), ("known", false), ("unknown", true)] {
        let row = listed["models"].as_array().unwrap().iter().find(|model| model["name"] == name).unwrap();
        assert_eq!(row["images"], images, "{name}");
    }
}
