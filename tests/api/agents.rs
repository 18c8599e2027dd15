//! Agents that administrators define, and requests that name them.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, DatabaseProxy, FakeModel, MODEL, TestApp};

use crate::auth::start_database;
use crate::search_call;

async fn create(app: &Client, agent: &Value) -> String {
    let created = app.post("/api/admin/agents", agent).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()["id"].as_str().unwrap().to_owned()
}

fn error_message(response: &ApiResponse) -> String {
    response.json()["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn default_agent_exists_and_can_be_overridden() {
    let app = TestApp::start().await;
    let listed = json!({"agents": [{"id": "default", "name": "Default", "description": "", "default": true}]});
    assert_eq!(app.get("/api/agents").await.ok(), listed);
    assert_eq!(app.get("/api/admin/agents/default").await.ok()["name"], "Default");
    let put = app.put("/api/admin/agents/default", &json!({"name": "Pirate", "systemPrompt": "Arr."})).await.ok();
    assert_eq!((&put["id"], &put["name"], put["createdAt"].is_string()), (&json!("default"), &json!("Pirate"), true));
    app.model.queue_replies([Completion::of(["Ahoy."]), Completion::of(["好。"])]);
    app.send_message("hi").await;
    assert!(app.model.wait_for_request(1).await.system_prompt().starts_with("Arr."));
    assert_eq!(app.delete("/api/admin/agents/default").await.status, 204);
    app.send_message("hi").await;
    assert!(!app.model.wait_for_request(2).await.system_prompt().starts_with("Arr."));
    assert_eq!(app.get("/api/agents").await.ok(), listed);
}

#[tokio::test]
async fn listed_agents_have_follow_ups_and_searches() {
    let app = TestApp::start().await;
    let agent = json!({"name": "学习", "follow_ups": true, "tools": [{"tool": "calculator"}]});
    let id = create(&app, &agent).await;
    let listed = app.get("/api/agents").await.ok();
    let wishes = |agent: &Value| json!([agent["id"], agent["followUps"], agent["searches"]]);
    let agents: Vec<Value> = listed["agents"].as_array().unwrap().iter().map(wishes).collect();
    assert_eq!(agents, [json!(["default", null, null]), json!([id, true, false])]);
    let refused = app.post("/api/admin/agents", &json!({"name": "a", "followUps": 3})).await;
    assert!(refused.status == 400 && error_message(&refused).contains("followUps"));
}

#[tokio::test]
async fn header_or_body_selects_agent_prompt_and_tools() {
    let app = TestApp::start().await;
    let tools = json!([{"tool": "search_web", "config": {"mode": "quick"}}]);
    let id =
        create(&app, &json!({"name": "天气", "systemPrompt": "你只谈天气。", "tools": tools, "maxRounds": 1})).await;
    let none = create(&app, &json!({"name": "无工具", "tools": [{"tool": "search_web", "enabled": false}]})).await;
    app.model.queue_replies([
        Completion::of([search_call("北京")]),
        Completion::of(["晴。"]),
        Completion::of(["好。"]),
    ]);
    let turn = app.chat(&json!({"message": "天气？", "agentId": id})).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("晴。", "tool_limit"));
    assert_eq!(app.search.requests()[0]["max_results"], 3, "the fixed mode is what the search got");
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(
        system.starts_with("你只谈天气。") && system.contains("search_web") && !system.contains("deep"),
        "{system}"
    );
    let headers = [("content-type", "application/json"), ("x-agent-id", none.as_str())];
    let answer = app.send("POST", "/api/agent", &headers, r#"{"message":"天气？","stream":false}"#).await.ok();
    assert_eq!(answer["content"], "好。");
    assert!(!app.model.wait_for_request(3).await.system_prompt().contains("search_web"));
    let tools = app.send("GET", "/api/tools", &headers[1..], "").await.ok();
    assert_eq!(tools, json!({"tools": []}));
}

#[tokio::test]
async fn request_overrides_agent_model_and_tool_choice() {
    let first = FakeModel::start().await;
    let models = json!([{"name": "other", "baseUrl": first.url(), "apiKeyVar": "OPENAI_API_KEY", "model": MODEL}]);
    let app = TestApp::start_with(&[("MODELS", &models.to_string())]).await;
    let id = create(&app, &json!({"name": "a", "model": "other", "toolChoice": "required"})).await;
    first.queue_replies([Completion::of(["零"]), Completion::of(["一"])]);
    let turn = app.chat(&json!({"message": "问", "agentId": id})).await;
    assert_eq!((turn.0[0]["model"].as_str(), turn.content().as_str()), (Some("other"), "一"));
    assert!(first.wait_for_request(1).await.last_message().contains("必须先调用至少一个工具"));
    app.model.queue_replies([Completion::of(["二"])]);
    let own = json!({"message": "问", "agentId": id, "modelType": "openai", "toolChoice": "auto"});
    assert_eq!(app.chat(&own).await.content(), "二");
    assert!(!app.model.wait_for_request(1).await.last_message().contains("必须先调用至少一个工具"));
}

#[tokio::test]
async fn unknown_or_disabled_agent_error_lists_agents() {
    let app = TestApp::start().await;
    let id = create(&app, &json!({"name": "a"})).await;
    let off = create(&app, &json!({"name": "b", "enabled": false})).await;
    let message = format!("There is no such agent; there is: default, {id}");
    for unknown in ["nobody", "", &off, "天气"] {
        let answer = app.post("/api/chat", &json!({"message": "hi", "agentId": unknown})).await;
        assert_eq!(
            (answer.error(), error_message(&answer)),
            ((400, "invalid_request".to_owned()), message.clone()),
            "{unknown}"
        );
    }
    let missing = app.post("/api/agent", &json!({"message": "hi"})).await;
    assert_eq!(error_message(&missing), "An agent is required: `X-Agent-ID` or `agentId`");
    assert_eq!(app.delete(&format!("/api/admin/agents/{id}")).await.status, 204);
    assert_eq!(app.post("/api/agent", &json!({"message": "hi", "agentId": id})).await.status, 400);
    assert_eq!(app.get(&format!("/api/admin/agents/{id}")).await.status, 404);
}

#[tokio::test]
async fn invalid_agent_is_rejected_and_changes_nothing() {
    let app = TestApp::start().await;
    create(&app, &json!({"name": "taken"})).await;
    for (agent, message) in [
        (json!({"name": "taken"}), "`name` or `id` is taken by another one"),
        (json!({"name": "x", "model": "gpt-9"}), "`model` names no model; there are: openai"),
        (json!({"name": "x", "tools": [{"tool": "rm"}]}), "`tools[0].tool` names no tool; there are: search_web"),
        (json!({"systemPrompt": "x"}), "`name` must be given: a string"),
    ] {
        let answer = app.post("/api/admin/agents", &agent).await;
        assert_eq!(answer.status, 400);
        assert!(error_message(&answer).starts_with(message), "{}", error_message(&answer));
    }
    assert_eq!(app.get("/api/admin/agents").await.ok()["agents"].as_array().unwrap().len(), 2);
    assert_eq!(app.put("/api/admin/agents/nobody", &json!({"name": "y"})).await.status, 404);
    assert_eq!(app.delete("/api/admin/agents/nobody").await.status, 404);
}

#[tokio::test]
async fn change_with_lost_response_applies_at_once() {
    let database = DatabaseProxy::start(&start_database().await).await;
    let app = TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", database.url())]).await;
    let id = create(&app, &json!({"name": "a"})).await;
    app.model.queue_replies([Completion::of(["一"])]);
    assert_eq!(app.chat(&json!({"message": "问", "agentId": id})).await.content(), "一");
    database.lose_transactions();
    assert_eq!(app.delete(&format!("/api/admin/agents/{id}")).await.status, 500);
    let refused = app.post("/api/chat", &json!({"message": "问", "agentId": id})).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(error_message(&refused).starts_with("There is no such agent"));
}
