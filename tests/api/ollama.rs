//! The model `local`: Ollama's own wire, end to end.

use serde_json::{Value, json};
use support::{FakeOllama, OLLAMA_MODEL, Reply, TestApp};

/// The product with Ollama as its default model.
pub(crate) async fn start_with_ollama(ollama: &FakeOllama) -> TestApp {
    let url = ollama.url();
    let settings = [("OLLAMA_API_URL", &*url), ("OLLAMA_MODEL", OLLAMA_MODEL), ("DEFAULT_MODEL", "local")];
    TestApp::start_with(&settings).await
}

fn text_line(content: &str) -> Value {
    FakeOllama::message_line(&json!({ "role": "assistant", "content": content }))
}

pub(crate) fn text_reply(content: &str) -> Reply {
    FakeOllama::line_stream([text_line(content), FakeOllama::done_line("stop")])
}

/// A reply of `/api/show` for a model with these capabilities and this context length.
pub(crate) fn show_reply(capabilities: &[&str], context_length: u64) -> Reply {
    let info = json!({ "general.architecture": "scripted", "scripted.context_length": context_length });
    Reply::json(200, &json!({ "capabilities": capabilities, "model_info": info }))
}

fn function_call(query: &str) -> Value {
    json!({ "function": { "name": "search_web", "arguments": { "query": query } } })
}

#[tokio::test]
async fn model_with_tools_searches_by_native_calls() {
    let ollama = FakeOllama::start(&["completion", "tools", "thinking"]).await;
    let app = start_with_ollama(&ollama).await;
    let calls = json!({ "role": "assistant", "content": "", "tool_calls": [function_call("甲"), function_call("乙")] });
    let thinking = json!({ "role": "assistant", "content": "", "thinking": "先查。" });
    let first = [
        FakeOllama::message_line(&thinking),
        text_line("好的。"),
        FakeOllama::message_line(&calls),
        FakeOllama::done_line("stop"),
    ];
    ollama.queue_replies([FakeOllama::line_stream(first), text_reply("晴。").in_chunks_of(5)]);
    let turn = app.send_message("天气").await;
    assert_eq!(
        (turn.content().as_str(), turn.thinking().as_str(), turn.finish_reason()),
        ("好的。\n\n晴。", "先查。", "stop")
    );
    assert_eq!(turn.events_of("usage")[0]["inputTokens"], 20);
    assert_eq!((turn.events_of("tool_call").len(), turn.events_of("tool_result").len()), (2, 2));
    let chats = ollama.chat_bodies();
    assert_eq!(chats[0]["tools"][0]["function"]["name"], "search_web");
    assert!(!chats[0]["messages"][0]["content"].as_str().unwrap().contains("<tool_call>"));
    let messages = chats[1]["messages"].as_array().unwrap();
    assert_eq!(
        messages[2],
        json!({
            "role": "assistant", "content": "好的。", "thinking": "先查。", "tool_calls": [function_call("甲"), function_call("乙")],
        })
    );
    let result =
        |at: usize| (&messages[at]["role"], &messages[at]["tool_name"], messages[at]["content"].as_str().unwrap());
    assert_eq!((result(3).0, result(3).1), (&json!("tool"), &json!("search_web")));
    assert!(result(3).2.contains("甲：第1页") && result(4).2.contains("乙：第1页"));
}

#[tokio::test]
async fn model_without_tools_searches_by_text_calls() {
    let ollama = FakeOllama::start(&["completion"]).await;
    let app = start_with_ollama(&ollama).await;
    ollama.queue_replies([text_reply(&format!("好的。{}", crate::search_call("天气"))), text_reply("晴。")]);
    let turn = app.send_message("天气").await;
    assert_eq!(
        (turn.content().as_str(), turn.finish_reason(), app.search.queries().len()),
        ("好的。\n\n晴。", "stop", 1)
    );
    let chats = ollama.chat_bodies();
    assert!(chats.iter().all(|chat| chat.get("tools").is_none()));
    assert!(chats[0]["messages"][0]["content"].as_str().unwrap().contains("search_web"));
}

#[tokio::test]
async fn error_line_ends_the_turn() {
    let ollama = FakeOllama::start(&["completion"]).await;
    let app = start_with_ollama(&ollama).await;
    ollama.queue_replies([FakeOllama::line_stream([text_line("半"), json!({ "error": "an error of the runner" })])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半", "upstream_unavailable"));
    assert!(!turn.end().to_string().contains("runner"));
}

#[tokio::test]
async fn stream_without_last_line_is_a_disconnect() {
    let ollama = FakeOllama::start(&["completion"]).await;
    let app = start_with_ollama(&ollama).await;
    ollama.queue_replies([FakeOllama::line_stream([text_line("半")])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半", "upstream_disconnected"));
}
