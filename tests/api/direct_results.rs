//! Tools whose results are the answer, on the text path and the native path.

use std::path::Path;

use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, FakeTavily, NativeApp, Reply, TestApp, list_recordings, searches_reply};
use tempfile::TempDir;

use crate::failover::{Chain, TOOL_MODES, outcome};
use crate::recordings::assert_replays_unchanged;
use crate::search_call;

/// The answer that a user sees for a search of the fake provider.
fn search_answer(query: &str) -> String {
    format!(
        "“{query}”的摘要。\n\n\
         1. [{query}：第1页](https://example.com/1)\n   关于“{query}”的内容 1。\n\
         2. [{query}：第2页](https://example.com/2)\n   关于“{query}”的内容 2。"
    )
}

/// Creates an agent with the calculator and with searches whose results are the answer.
async fn create_direct_agent(app: &Client) -> String {
    let tools = json!([{"tool": "search_web", "direct": true}, {"tool": "calculator"}]);
    create_agent(app, &json!({ "name": "直接", "tools": tools })).await
}

async fn create_agent(app: &Client, agent: &Value) -> String {
    let created = app.post("/api/admin/agents", agent).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

/// Starts the product on the text path with such an agent.
async fn start_text_path() -> (TestApp, String) {
    let app = TestApp::start().await;
    let agent = create_direct_agent(&app).await;
    (app, agent)
}

fn calculator_call(expression: &str) -> String {
    format!("<tool_call>{{\"tool\": \"calculator\", \"expression\": \"{expression}\"}}</tool_call>")
}

/// Runs a turn of the agent and a second turn with `再问`; returns the messages of the second model request.
async fn run_and_follow_up(app: &Client, model: &FakeModel, agent: &str, reply: Reply) -> Value {
    model.queue_replies([reply, Completion::of(["好。"])]);
    let turn = app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    let expected = format!("好的。\n\n{}", search_answer("天气"));
    assert_eq!((turn.content(), turn.finish_reason()), (expected.clone(), "stop"));
    assert_eq!(model.requests().len(), 1, "no model rephrases it");
    let sources: Vec<&Value> = turn.events_of("tool_result")[0]["sources"].as_array().unwrap().iter().collect();
    assert_eq!(sources.len(), 2);
    let id = turn.conversation_id();
    let stored = app.read_finished_conversation(&id).await["messages"][1].clone();
    assert_eq!(json!([stored["content"], stored["status"]]), json!([expected, "complete"]));
    app.chat(&json!({ "message": "再问", "agentId": agent, "conversationId": id })).await;
    model.wait_for_request(2).await.body["messages"].clone()
}

#[tokio::test]
async fn text_path_result_becomes_answer_and_history() {
    let (app, agent) = start_text_path().await;
    let messages = run_and_follow_up(&app, &app.model, &agent, Completion::of(["好的。", &search_call("天气")])).await;
    let content = |n: usize| messages[n]["content"].as_str().unwrap();
    let roles: Vec<&Value> = messages.as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    assert!(content(2).starts_with("好的。\n<tool_call>") && content(3).contains("<search_results>"), "{messages}");
    assert_eq!((content(4), content(5)), (search_answer("天气").as_str(), "再问"));
}

#[tokio::test]
async fn native_path_result_becomes_answer_and_history() {
    let app = NativeApp::start().await;
    let agent = create_direct_agent(&app).await;
    let reply = Completion::new().text("好的。").call(0, "a", "search_web", "{\"query\": \"天气\"}");
    let reply = reply.finish("tool_calls").usage(10, 5).done().reply();
    let messages = run_and_follow_up(&app, &app.model, &agent, reply).await;
    let roles: Vec<&Value> = messages.as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(messages[2]["tool_calls"][0]["function"]["name"], "search_web");
    assert!(messages[3]["content"].as_str().unwrap().starts_with("<search_results>"));
    assert_eq!(messages[4]["content"], search_answer("天气"));
}

#[tokio::test]
async fn several_results_are_answered_in_call_order_deduplicated() {
    let expected = [search_answer("甲"), search_answer("乙")].join("\n\n");
    let (app, agent) = start_text_path().await;
    app.model.queue_replies([Completion::of([search_call("甲"), search_call("乙"), search_call("甲")])]);
    let turn = app.chat(&json!({ "message": "问", "agentId": agent })).await;
    assert_eq!((turn.content(), turn.finish_reason()), (expected.clone(), "stop"));
    let app = NativeApp::start().await;
    let agent = self::create_direct_agent(&app).await;
    app.model.queue_replies([searches_reply([("a", "甲"), ("b", "乙"), ("c", "甲")])]);
    let turn = app.chat(&json!({ "message": "问", "agentId": agent })).await;
    assert_eq!((turn.content(), turn.finish_reason()), (expected, "stop"));
}

#[tokio::test]
async fn mixed_calls_return_results_to_the_model() {
    let (app, agent) = start_text_path().await;
    app.model.queue_replies([
        Completion::of([search_call("天气"), calculator_call("1+1")]),
        Completion::of([search_call("天气")]),
    ]);
    let turn = app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    assert_eq!((turn.content(), turn.finish_reason()), (search_answer("天气"), "stop"));
    assert!(app.model.wait_for_request(2).await.last_message().contains("天气：第1页"));
    assert_eq!((app.search.queries().len(), app.model.requests().len()), (1, 2));
}

#[tokio::test]
async fn failed_or_empty_result_leaves_answer_to_model() {
    let nothing = || FakeTavily::search_reply_with("乙", &json!([]), &json!("a summary of nothing"));
    let unreadable = "<tool_call>{\"tool\": \"search_web\", \"query\"</tool_call>";
    for (reply, expected) in [
        (Completion::of([search_call("甲"), search_call("丙")]), "<search_error>"),
        (Completion::of([search_call("乙")]), "没有找到相关结果"),
        (Completion::of([&*search_call("甲"), unreadable]), "甲：第1页"),
    ] {
        let (app, agent) = start_text_path().await;
        app.search.respond_with(move |body| match body["query"].as_str() {
            Some("乙") => nothing(),
            Some("丙") => FakeTavily::error_reply(400, "no"),
            _ => FakeTavily::search_reply(body),
        });
        app.model.queue_replies([reply, Completion::of(["我来说。"])]);
        let turn = app.chat(&json!({ "message": "问", "agentId": agent })).await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("我来说。", "stop"), "{expected}");
        assert!(app.model.wait_for_request(2).await.last_message().contains(expected), "{expected}");
    }
}

#[tokio::test]
async fn long_result_is_streamed_in_several_deltas() {
    let app = TestApp::start().await;
    let tools = json!([{"tool": "read_url", "direct": true}, {"tool": "calculator", "direct": true}]);
    let agent = create_agent(&app, &json!({ "name": "直接", "tools": tools })).await;
    let url = "https://example.com/long";
    let text = "汉".repeat(7_900);
    let row = json!({ "url": url, "raw_content": text, "images": [] });
    app.search
        .queue_replies([Reply::json(200, &json!({ "results": [row], "failed_results": [], "usage": {"credits": 1} }))]);
    let read_call = format!("<tool_call>{{\"tool\": \"read_url\", \"url\": \"{url}\"}}</tool_call>");
    app.model.queue_replies([Completion::of([read_call]), Completion::of(["算：", &calculator_call("2*3*4")])]);
    let turn = app.chat(&json!({ "message": url, "agentId": agent })).await;
    assert_eq!(turn.content(), format!("[{url}]({url})\n\n{text}"));
    assert_eq!(turn.events_of("content").len(), 2);
    let turn = app.chat(&json!({ "message": "算", "agentId": agent })).await;
    assert_eq!(turn.content(), "算：\n\n`2*3*4` = 24");
}

/// Starts the product with an agent that reads pages as answers, and with a page of 15,000 characters.
async fn start_with_long_page(settings: &[(&str, &str)]) -> (NativeApp, String) {
    let app = NativeApp::start_with(settings).await;
    let tools = json!([{"tool": "read_url", "direct": true}]);
    let agent = create_agent(&app, &json!({ "name": "直接", "tools": tools })).await;
    let row = json!({ "url": PAGE, "raw_content": "汉".repeat(15_000), "images": [] });
    app.search.respond_with(move |_| {
        Reply::json(200, &json!({ "results": [row], "failed_results": [], "usage": {"credits": 1} }))
    });
    (app, agent)
}

const PAGE: &str = "https://example.com/long";

fn text_call() -> String {
    format!("<tool_call>{{\"tool\": \"read_url\", \"url\": \"{PAGE}\"}}</tool_call>")
}

#[tokio::test]
async fn overlong_result_is_summarised_by_the_model() {
    let (app, agent) = start_with_long_page(&[]).await;
    let call = Completion::new().call(0, "a", "read_url", &json!({ "url": PAGE }).to_string());
    app.model.queue_replies([call.finish("tool_calls").done().reply(), Completion::of(["全是“汉”字。"])]);
    let turn = app.chat(&json!({ "message": PAGE, "agentId": agent })).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("全是“汉”字。", "stop"));
    let results = app.last_messages().pop().unwrap();
    assert!(results["role"] == "tool" && results["content"].as_str().unwrap().matches('汉').count() > 8_000);
    app.app.model.queue_replies([Completion::of([text_call()]), Completion::of(["全是汉字。"])]);
    let turn = app.chat(&json!({ "message": PAGE, "agentId": agent, "modelType": "openai" })).await;
    assert_eq!((turn.content().as_str(), app.app.model.requests().len()), ("全是汉字。", 2));
}

#[tokio::test]
async fn overlong_result_is_cut_when_time_is_short() {
    let (app, agent) = start_with_long_page(&[("TURN_SECONDS", "6")]).await;
    app.app.model.queue_replies([Completion::new().text(&text_call()).reply().stall()]);
    let body = json!({ "message": format!("总结 {PAGE}"), "agentId": agent, "modelType": "openai" });
    let turn = app.chat(&body).await;
    let (content, end) = (turn.content(), "\n\n（内容过长，已截断）");
    assert!(content.starts_with(&format!("[{PAGE}]({PAGE})\n\n汉")) && content.ends_with(end), "{content}");
    assert_eq!(content.chars().count(), 8_000 + end.chars().count());
    assert_eq!((turn.finish_reason(), app.app.model.requests().len()), ("stop", 1));
}

#[tokio::test]
async fn disconnect_after_call_needs_no_failover() {
    let chain = Chain::start_with(&[], TOOL_MODES[0]).await;
    let agent = create_direct_agent(&chain.app).await;
    chain.first.queue_replies([Completion::new().text(&search_call("天气")).reply().disconnect()]);
    let turn = chain.app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    assert_eq!(outcome(&turn), json!([search_answer("天气"), "stop", null]));
    assert_eq!(chain.backup.requests().len(), 0);
}

#[tokio::test]
async fn binding_and_recording_keep_the_direct_flag() {
    let folder = TempDir::new().unwrap();
    let app = TestApp::start_with(&[("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
    let agent = create_direct_agent(&app).await;
    let bindings = app.get(&format!("/api/admin/agents/{agent}")).await.ok()["tools"].clone();
    let config = json!({});
    let expected = json!([
        {"tool": "search_web", "enabled": true, "config": config, "direct": true},
        {"tool": "calculator", "enabled": true, "config": config, "direct": false},
    ]);
    assert_eq!(bindings, expected);
    app.model.queue_replies([Completion::of([search_call("天气")])]);
    app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    assert_replays_unchanged(&list_recordings(Path::new(folder.path())).pop().unwrap()).await;
}
