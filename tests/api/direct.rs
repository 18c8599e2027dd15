//! Tools whose results are the answer, on the text path and the native path.

use std::path::Path;

use serde_json::{Value, json};
use support::{Client, Completion, FakeModel, FakeTavily, Reply, TestApp};
use tempfile::TempDir;

use crate::call;
use crate::failover::{Chain, PATHS, told};
use crate::native::{Native, calls};
use crate::recordings::{comes_out_the_same, recordings};

/// The answer that a user sees for a search of the fake provider.
fn found(query: &str) -> String {
    format!(
        "“{query}”的摘要。\n\n\
         1. [{query}：第1页](https://example.com/1)\n   关于“{query}”的内容 1。\n\
         2. [{query}：第2页](https://example.com/2)\n   关于“{query}”的内容 2。"
    )
}

/// Creates an agent with the calculator and with searches whose results are the answer.
async fn agent(app: &Client) -> String {
    let tools = json!([{"tool": "search_web", "direct": true}, {"tool": "calculator"}]);
    create(app, &json!({ "name": "直接", "tools": tools })).await
}

async fn create(app: &Client, agent: &Value) -> String {
    let made = app.post("/api/admin/agents", agent).await;
    assert_eq!(made.status, 201, "{:?}", made.text());
    made.json()["id"].as_str().unwrap().to_owned()
}

/// Starts the product on the text path with such an agent.
async fn by_text() -> (TestApp, String) {
    let app = TestApp::start().await;
    let agent = agent(&app).await;
    (app, agent)
}

fn calculation(expression: &str) -> String {
    format!("<tool_call>{{\"tool\": \"calculator\", \"expression\": \"{expression}\"}}</tool_call>")
}

/// Runs a turn of the agent and a second turn with `再问`; returns the messages of the second model request.
async fn answered(app: &Client, model: &FakeModel, agent: &str, reply: Reply) -> Value {
    model.replies([reply, Completion::of(["好。"])]);
    let turn = app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    let expected = format!("好的。\n\n{}", found("天气"));
    assert_eq!((turn.content(), turn.finish_reason()), (expected.clone(), "stop"));
    assert_eq!(model.requests().len(), 1, "no model words it anew");
    let sources: Vec<&Value> = turn.of("tool_result")[0]["sources"].as_array().unwrap().iter().collect();
    assert_eq!(sources.len(), 2);
    let id = turn.conversation_id();
    let stored = app.settled(&id).await["messages"][1].clone();
    assert_eq!(json!([stored["content"], stored["status"]]), json!([expected, "complete"]));
    app.chat(&json!({ "message": "再问", "agentId": agent, "conversationId": id })).await;
    model.asked(2).await.body["messages"].clone()
}

#[tokio::test]
async fn text_path_result_becomes_answer_and_history() {
    let (app, agent) = by_text().await;
    let messages = answered(&app, &app.model, &agent, Completion::of(["好的。", &call("天气")])).await;
    let content = |n: usize| messages[n]["content"].as_str().unwrap();
    let roles: Vec<&Value> = messages.as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    assert!(content(2).starts_with("好的。\n<tool_call>") && content(3).contains("<search_results>"), "{messages}");
    assert_eq!((content(4), content(5)), (found("天气").as_str(), "再问"));
}

#[tokio::test]
async fn native_path_result_becomes_answer_and_history() {
    let app = Native::start().await;
    let agent = agent(&app).await;
    let reply = Completion::new().text("好的。").call(0, "a", "search_web", "{\"query\": \"天气\"}");
    let reply = reply.finish("tool_calls").usage(10, 5).done().reply();
    let messages = answered(&app, &app.model, &agent, reply).await;
    let roles: Vec<&Value> = messages.as_array().unwrap().iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(messages[2]["tool_calls"][0]["function"]["name"], "search_web");
    assert!(messages[3]["content"].as_str().unwrap().starts_with("<search_results>"));
    assert_eq!(messages[4]["content"], found("天气"));
}

#[tokio::test]
async fn several_results_are_answered_in_call_order_deduplicated() {
    let expected = [found("甲"), found("乙")].join("\n\n");
    let (app, agent) = by_text().await;
    app.model.replies([Completion::of([call("甲"), call("乙"), call("甲")])]);
    let turn = app.chat(&json!({ "message": "问", "agentId": agent })).await;
    assert_eq!((turn.content(), turn.finish_reason()), (expected.clone(), "stop"));
    let app = Native::start().await;
    let agent = self::agent(&app).await;
    app.model.replies([calls([("a", "甲"), ("b", "乙"), ("c", "甲")])]);
    let turn = app.chat(&json!({ "message": "问", "agentId": agent })).await;
    assert_eq!((turn.content(), turn.finish_reason()), (expected, "stop"));
}

#[tokio::test]
async fn mixed_calls_return_results_to_the_model() {
    let (app, agent) = by_text().await;
    app.model.replies([Completion::of([call("天气"), calculation("1+1")]), Completion::of([call("天气")])]);
    let turn = app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    assert_eq!((turn.content(), turn.finish_reason()), (found("天气"), "stop"));
    assert!(app.model.asked(2).await.last().contains("天气：第1页"));
    assert_eq!((app.search.queries().len(), app.model.requests().len()), (1, 2));
}

#[tokio::test]
async fn failed_or_empty_result_leaves_answer_to_model() {
    let nothing = || FakeTavily::result("乙", &json!([]), &json!("a summary of nothing"));
    let unreadable = "<tool_call>{\"tool\": \"search_web\", \"query\"</tool_call>";
    for (reply, told) in [
        (Completion::of([call("甲"), call("丙")]), "<search_error>"),
        (Completion::of([call("乙")]), "没有找到相关结果"),
        (Completion::of([&*call("甲"), unreadable]), "甲：第1页"),
    ] {
        let (app, agent) = by_text().await;
        app.search.answer(move |body| match body["query"].as_str() {
            Some("乙") => nothing(),
            Some("丙") => FakeTavily::failure(400, "no"),
            _ => FakeTavily::found(body),
        });
        app.model.replies([reply, Completion::of(["我来说。"])]);
        let turn = app.chat(&json!({ "message": "问", "agentId": agent })).await;
        assert_eq!((turn.content().as_str(), turn.finish_reason()), ("我来说。", "stop"), "{told}");
        assert!(app.model.asked(2).await.last().contains(told), "{told}");
    }
}

#[tokio::test]
async fn long_result_is_streamed_in_several_deltas() {
    let app = TestApp::start().await;
    let tools = json!([{"tool": "read_url", "direct": true}, {"tool": "calculator", "direct": true}]);
    let agent = create(&app, &json!({ "name": "直接", "tools": tools })).await;
    let url = "https://example.com/long";
    let text = "汉".repeat(15_000);
    let row = json!({ "url": url, "raw_content": text, "images": [] });
    app.search.replies([Reply::json(200, &json!({ "results": [row], "failed_results": [], "usage": {"credits": 1} }))]);
    let read = format!("<tool_call>{{\"tool\": \"read_url\", \"url\": \"{url}\"}}</tool_call>");
    app.model.replies([Completion::of([read]), Completion::of(["算：", &calculation("2*3*4")])]);
    let turn = app.chat(&json!({ "message": url, "agentId": agent })).await;
    assert_eq!(turn.content(), format!("[{url}]({url})\n\n{text}"));
    assert_eq!(turn.of("content").len(), 3);
    let turn = app.chat(&json!({ "message": "算", "agentId": agent })).await;
    assert_eq!(turn.content(), "算：\n\n`2*3*4` = 24");
}

#[tokio::test]
async fn disconnect_after_call_needs_no_failover() {
    let chain = Chain::with(&[], PATHS[0]).await;
    let agent = agent(&chain.app).await;
    chain.first.replies([Completion::new().text(&call("天气")).reply().cut()]);
    let turn = chain.app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    assert_eq!(told(&turn), json!([found("天气"), "stop", null]));
    assert_eq!(chain.backup.requests().len(), 0);
}

#[tokio::test]
async fn binding_and_recording_keep_the_direct_flag() {
    let folder = TempDir::new().unwrap();
    let app = TestApp::with(&[("RECORD_TURNS", folder.path().to_str().unwrap())]).await;
    let agent = agent(&app).await;
    let shown = app.get(&format!("/api/admin/agents/{agent}")).await.ok()["tools"].clone();
    let config = json!({});
    let expected = json!([
        {"tool": "search_web", "enabled": true, "config": config, "direct": true},
        {"tool": "calculator", "enabled": true, "config": config, "direct": false},
    ]);
    assert_eq!(shown, expected);
    app.model.replies([Completion::of([call("天气")])]);
    app.chat(&json!({ "message": "天气？", "agentId": agent })).await;
    comes_out_the_same(&recordings(Path::new(folder.path())).pop().unwrap()).await;
}
