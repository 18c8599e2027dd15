//! `/v1`: answers in a format after a search, and OpenAI's own web search.

use serde_json::{Value, json};
use support::{Completion, NativeApp, TestApp, search_reply};

use crate::openai::{chunks, complete, greeting};
use crate::search_call;

const DATA: &str = r#"{"revenue": 281, "source": "[1]"}"#;

fn format() -> Value {
    json!({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}})
}

fn content(whole: &Value) -> &Value {
    &whole["choices"][0]["message"]["content"]
}

#[tokio::test]
async fn native_search_precedes_the_formatted_answer() {
    let app = NativeApp::start().await;
    app.model.queue_replies([search_reply("c1", "营收"), Completion::of(["营收 281 亿。"]), Completion::of([DATA])]);
    let whole = complete(&app, &greeting(), &json!({"model": "native", "response_format": format()})).await.ok();
    assert_eq!((content(&whole), &whole["choices"][0]["finish_reason"]), (&json!(DATA), &json!("stop")));
    assert_eq!(whole["choices"][0]["message"]["annotations"][0]["url_citation"]["url"], "https://example.com/1");
    let bodies: Vec<Value> = app.model.requests().into_iter().map(|request| request.body).collect();
    let fields = |body: &Value| (body.get("response_format").is_some(), body.get("tools").is_some());
    let found: Vec<_> = bodies.iter().map(fields).collect();
    assert_eq!(found, [(false, true), (false, true), (true, false)]);
    assert!(bodies[2]["messages"].to_string().contains("的内容 1。"), "{}", bodies[2]);
    assert_eq!(bodies[2]["response_format"], format());
    assert!(!bodies[2]["messages"].to_string().contains("281 亿"), "the draft has no use");
}

#[tokio::test]
async fn prompted_search_precedes_the_formatted_answer() {
    let app = TestApp::start().await;
    let replies =
        || [Completion::of(["我来查：", &search_call("营收")]), Completion::of(["营收"]), Completion::of([DATA])];
    app.model.queue_replies(replies());
    let whole = complete(&app, &greeting(), &json!({"response_format": {"type": "json_object"}})).await.ok();
    assert_eq!(content(&whole), DATA);
    app.model.queue_replies(replies());
    let more = json!({"response_format": {"type": "json_object"}, "stream": true});
    let streamed = chunks(&complete(&app, &greeting(), &more).await);
    let text: String = streamed.iter().filter_map(|one| one["choices"][0]["delta"]["content"].as_str()).collect();
    assert_eq!(text, DATA, "nothing of the rounds is shown");
    assert_eq!(app.search.queries(), ["营收"], "the second one is cached");
}

#[tokio::test]
async fn long_draft_ends_early() {
    let app = TestApp::start().await;
    let draft: Vec<String> = (0..200).map(|number| format!("第 {number} 句，没有工具。")).collect();
    app.model.queue_replies([Completion::of(draft), Completion::of([DATA])]);
    let whole = complete(&app, &greeting(), &json!({"response_format": format()})).await.ok();
    assert_eq!((content(&whole), app.model.requests().len()), (&json!(DATA), 2));
}

#[tokio::test]
async fn format_without_tools_is_one_request() {
    let app = NativeApp::start().await;
    app.model.respond_with(|_| Completion::of(["{}"]));
    let more = json!({"model": "native", "response_format": format(), "tool_choice": "none"});
    complete(&app, &greeting(), &more).await.ok();
    let body = app.model.wait_for_request(1).await.body;
    assert_eq!((&body["response_format"], body.get("tools")), (&format(), None));
    let function = json!([{"type": "function", "function": {"name": "f"}}]);
    complete(&app, &greeting(), &json!({"model": "native", "response_format": format(), "tools": function})).await.ok();
    let body = app.model.wait_for_request(2).await.body;
    assert_eq!((&body["response_format"], body["tools"].as_array().unwrap().len()), (&format(), 1));
}

/// The tools that the model was given in its last request.
fn tool_names(app: &NativeApp) -> Vec<String> {
    let body = app.model.requests().pop().unwrap().body;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn web_search_of_openai_is_search_web() {
    let app = NativeApp::start().await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    let created = app.post("/api/admin/agents", &json!({"name": "plain", "model": "native", "tools": []})).await;
    let model = format!("agent:{}", created.json()["id"].as_str().unwrap());
    for (more, expected) in [
        (json!({}), vec![]),
        (json!({"tools": [{"type": "web_search"}]}), vec!["search_web"]),
        (
            json!({"tools": [{"type": "web_search_preview_2025_03_11", "search_context_size": "low"}]}),
            vec!["search_web"],
        ),
        (json!({"web_search_options": {}}), vec!["search_web"]),
        (
            json!({"tools": [{"type": "web_search"}, {"type": "function", "function": {"name": "f"}}]}),
            vec!["search_web", "f"],
        ),
    ] {
        let mut body = more.clone();
        body["model"] = json!(model);
        complete(&app, &greeting(), &body).await.ok();
        assert_eq!(tool_names(&app), expected, "{more}");
    }
    complete(&app, &greeting(), &json!({"model": "native", "tools": [{"type": "web_search"}]})).await.ok();
    assert!(tool_names(&app).contains(&"calculator".to_owned()), "the default agent keeps its tools");
}
