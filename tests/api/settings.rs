//! The effects of settings that a client can see.

use serde_json::json;
use support::{Completion, FakeEndpoint, MODEL, MODEL_KEY, Reply, TestApp};

use crate::search_call;

#[tokio::test]
async fn custom_system_prompt_keeps_tool_instructions() {
    let app = TestApp::start_with(&[("SYSTEM_PROMPT", "你是一只鹦鹉。")]).await;
    app.model.queue_replies([Completion::of(["好。"])]);
    app.send_message("你好").await;
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(system.starts_with("你是一只鹦鹉。") && system.contains("<tool_call>"), "{system}");
}

#[tokio::test]
async fn stored_system_prompt_is_read_once_and_required() {
    let ssm = FakeEndpoint::start().await;
    let stored = json!({ "Parameter": { "Value": "你是一只鹦鹉。\n你只谈天气。\n" } });
    ssm.queue_replies([Reply::json(400, &json!({ "__type": "ParameterNotFound" })), Reply::json(200, &stored)]);
    let settings = [("SYSTEM_PROMPT_PARAMETER", "/chat/prompt"), ("AWS_ENDPOINT_URL_SSM", &ssm.url())];
    let app = TestApp::start_with(&settings).await;
    let refused = app.chat_once(&json!({ "message": "你好" })).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (502, Some("upstream_unavailable")));
    assert_eq!(refused.json()["error"]["message"], "The system prompt cannot be read now.");
    assert_eq!(app.model.requests().len(), 0, "no model answers without the prompt");
    app.model.queue_replies([Completion::of(["好。"]), Completion::of(["好。"])]);
    for number in [1, 2] {
        app.send_message("你好").await;
        let system = app.model.wait_for_request(number).await.system_prompt();
        assert!(system.starts_with("你是一只鹦鹉。\n你只谈天气。"), "{system}");
    }
    let names: Vec<_> = ssm.requests().iter().map(|request| request.json()["Name"].clone()).collect();
    assert_eq!(names, ["/chat/prompt", "/chat/prompt"], "once, and once before that in vain");
}

#[tokio::test]
async fn missing_search_settings_enable_only_demo_search() {
    let app = TestApp::start_with(&[("TAVILY_API_KEY", ""), ("TAVILY_BASE_URL", "")]).await;
    app.model.queue_replies([Completion::of([search_call("天气")]), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((&turn.events_of("tool_result")[0]["ok"], turn.content().as_str()), (&json!(true), "晴。"));
    assert_eq!(app.search.requests().len(), 0);
}

#[tokio::test]
async fn additional_models_and_default_can_be_configured() {
    // The list needs the fake model's address, so the test starts a first app only for its model.
    let first = TestApp::start().await;
    let other = json!([{
        "name": "other", "baseUrl": first.model.url(), "apiKeyVar": "OTHER_KEY", "model": MODEL, "tools": "prompt",
    }]);
    let app =
        TestApp::start_with(&[("MODELS", &other.to_string()), ("OTHER_KEY", MODEL_KEY), ("DEFAULT_MODEL", "other")])
            .await;
    first.model.queue_replies([Completion::of(["别的。"])]);
    app.model.queue_replies([Completion::of(["原来的。"])]);
    let turn = app.send_message("你好").await;
    assert_eq!((&turn.0[0]["model"], turn.content().as_str()), (&json!("other"), "别的。"));
    let named = app.chat(&json!({ "message": "你好", "modelType": "openai" })).await;
    assert_eq!((&named.0[0]["model"], named.content().as_str()), (&json!("openai"), "原来的。"));
}

#[tokio::test]
async fn conversation_may_change_model_between_turns() {
    let first = TestApp::start().await;
    let other = json!([{ "name": "other", "baseUrl": first.model.url(), "apiKeyVar": "OTHER_KEY", "model": MODEL }]);
    let app = TestApp::start_with(&[("MODELS", &other.to_string()), ("OTHER_KEY", MODEL_KEY)]).await;
    app.model.queue_replies([Completion::of(["一。"])]);
    first.model.queue_replies([Completion::of(["二。"])]);
    let id = app.send_message("你好").await.conversation_id();
    app.chat(&json!({ "message": "又", "conversationId": id, "modelType": "other" })).await;
    let stored = app.conversation(&id).await;
    assert_eq!(stored["conversation"]["model"], "other");
    assert_eq!(json!([stored["messages"][1]["model"], stored["messages"][3]["model"]]), json!(["openai", "other"]));
    assert_eq!(first.model.wait_for_request(1).await.dialogue()[1].1, "一。");
}
