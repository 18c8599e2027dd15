//! Tools and agents in the spellings and forms of the design documents.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeEndpoint, NativeApp, Reply};

const TOKEN: &str = "canary-docs-4b1e";

/// Allows tools to reach loopback, and configures a token for them.
const SETTINGS: [(&str, &str); 2] = [("ALLOW_PRIVATE_TOOLS", "yes"), ("WEATHER_TOKEN", TOKEN)];

/// A tool as the documents write it.
fn weather_tool(host: &FakeEndpoint, name: &str) -> Value {
    json!({
        "name": name, "display_name": "天气", "description": "Tells the weather of a city.", "rate_limit": "100/60s",
        "endpoint": {
            "url_template": format!("{}/v1/{{city}}", host.url()), "timeout_seconds": 5,
            "auth": {"type": "bearer", "token_env": "WEATHER"},
        },
        "parameters": {
            "city": {"type": "string", "description": "The city.", "required": true},
            "unit": {"type": "string", "description": "C or F.", "required": false},
        },
    })
}

async fn start() -> (NativeApp, FakeEndpoint) {
    (NativeApp::start_with(&SETTINGS).await, FakeEndpoint::start_permissive().await)
}

async fn create(app: &Client, kind: &str, document: &Value) -> Value {
    let created = app.post(&format!("/api/admin/{kind}"), document).await;
    assert_eq!(created.status, 201, "{:?}", created.text());
    created.json()
}

fn error_message(response: &ApiResponse) -> String {
    assert_eq!(response.status, 400);
    response.json()["error"]["message"].as_str().unwrap().to_owned()
}

/// Creates an agent that has only this tool; returns its id.
async fn create_agent(app: &Client, tool: &str) -> String {
    let agent = json!({"name": tool, "system_prompt": "Be brief.", "max_rounds": 2, "tools": [{"tool": tool}]});
    create(app, "agents", &agent).await["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn snake_case_documents_are_stored_in_camel_case() {
    let (app, host) = start().await;
    let tool = create(&app, "tools", &weather_tool(&host, "weather")).await;
    let endpoint = json!({
        "urlTemplate": format!("{}/v1/{{city}}", host.url()), "method": "GET", "headers": {},
        "auth": {"type": "bearer", "secret": {"env": "WEATHER_TOKEN"}}, "timeoutSeconds": 5,
    });
    let parameters = json!({
        "type": "object", "required": ["city"],
        "properties": {
            "city": {"type": "string", "description": "The city."}, "unit": {"type": "string", "description": "C or F."},
        },
    });
    for stored in [&tool, &app.get(&format!("/api/admin/tools/{}", tool["id"].as_str().unwrap())).await.ok()] {
        assert_eq!((&stored["displayName"], &stored["rateLimit"]), (&json!("天气"), &json!("100/60s")));
        assert_eq!((&stored["endpoint"], &stored["parameters"]), (&endpoint, &parameters));
        assert!(!stored.to_string().contains("display_name"));
    }
    let path = format!("/api/admin/tools/{}", tool["id"].as_str().unwrap());
    let mut replacement = weather_tool(&host, "weather");
    replacement["display_name"] = json!("Weather");
    assert_eq!(app.put(&path, &replacement).await.ok()["displayName"], "Weather");
    replacement["displayName"] = json!("Wetter");
    let message = error_message(&app.put(&path, &replacement).await);
    assert_eq!(message, "`displayName` and `display_name` are one field: only one may be given");
    let mut flat = weather_tool(&host, "flat");
    let endpoint = flat.as_object_mut().unwrap().remove("endpoint").unwrap();
    flat.as_object_mut().unwrap().extend(endpoint.as_object().unwrap().clone());
    assert_eq!(create(&app, "tools", &flat).await["endpoint"], tool["endpoint"]);
    let id = create_agent(&app, "weather").await;
    let agent = app.get(&format!("/api/admin/agents/{id}")).await.ok();
    assert_eq!((&agent["systemPrompt"], &agent["maxRounds"]), (&json!("Be brief."), &json!(2)));
    let both = json!({"name": "b", "pre_search": true, "preSearch": true});
    let message = error_message(&app.post("/api/admin/agents", &both).await);
    assert_eq!(message, "`preSearch` and `pre_search` are one field: only one may be given");
}

#[tokio::test]
async fn other_spellings_of_names_run_on_both_paths() {
    let (app, host) = start().await;
    host.respond_with(|_| Reply::json(200, &json!({"success": true, "data": {"temp": 26}})));
    for name in ["getWeather", "get-weather"] {
        create(&app, "tools", &weather_tool(&host, name)).await;
        let agent = create_agent(&app, name).await;
        let listed = app.send("GET", "/api/tools", &[("x-agent-id", &*agent)], "").await.ok();
        assert_eq!(listed["tools"][0]["name"], name);
        let arguments = json!({"city": "北京", "extra": "1"}).to_string();
        let call = Completion::new().call(0, "c1", name, &arguments).finish("tool_calls").done();
        app.model.queue_replies([call.reply(), Completion::of(["晴。"])]);
        assert_eq!(app.chat(&json!({"message": "天气？", "agentId": agent})).await.content(), "晴。");
        assert_eq!(app.last_messages().pop().unwrap()["content"], r#"{"temp":26}"#);
        let call = json!({"tool": name, "city": "北京", "extra": "1"});
        let requests = app.app.model.requests().len();
        app.app
            .model
            .queue_replies([Completion::of([format!("<tool_call>{call}</tool_call>")]), Completion::of(["晴。"])]);
        let body = json!({"message": "天气？", "agentId": agent, "modelType": "openai"});
        assert_eq!(app.chat(&body).await.content(), "晴。");
        let read = app.app.model.wait_for_request(requests + 2).await.last_message();
        assert!(read.contains(&format!("<tool_result name=\"{name}\">\n{{\"temp\":26}}\n</tool_result>")), "{read}");
    }
    for request in host.requests() {
        assert_eq!(
            (&*request.path, request.header("authorization")),
            ("/v1/%E5%8C%97%E4%BA%AC", &*format!("Bearer {TOKEN}"))
        );
    }
    assert_eq!(host.requests().len(), 4);
}

#[tokio::test]
async fn reported_failure_reaches_the_model_escaped() {
    let (app, host) = start().await;
    host.respond_with(|_| Reply::json(200, &json!({"success": false, "error": "no <tool_call> for you"})));
    create(&app, "tools", &weather_tool(&host, "getWeather")).await;
    let agent = create_agent(&app, "getWeather").await;
    let call = Completion::new().call(0, "c1", "getWeather", r#"{"city": "a"}"#).finish("tool_calls").done();
    app.model.queue_replies([call.reply(), Completion::of(["查不到。"])]);
    let turn = app.chat(&json!({"message": "天气？", "agentId": agent})).await;
    let result = turn.events_of("tool_result")[0];
    assert_eq!(json!([result["ok"], result["error"]["code"]]), json!([false, "failed"]));
    assert_eq!(app.last_messages().pop().unwrap()["content"], r#"{"error":"工具调用失败：no &lt;tool_call> for you"}"#);
}

#[tokio::test]
async fn fixed_arguments_are_sent_without_a_schema() {
    let (app, host) = start().await;
    host.respond_with(|_| Reply::json(200, &json!({})));
    create(&app, "tools", &weather_tool(&host, "weather")).await;
    let tools = json!([{"tool": "weather", "config": {"appid": "7"}}]);
    let agent = create(&app, "agents", &json!({"name": "a", "tools": tools})).await;
    let arguments = r#"{"city": "a", "unit": "C", "extra": "1"}"#;
    let call = Completion::new().call(0, "c1", "weather", arguments).finish("tool_calls").done();
    app.model.queue_replies([call.reply(), Completion::of(["晴。"])]);
    app.chat(&json!({"message": "天气？", "agentId": agent["id"]})).await;
    assert_eq!(host.requests()[0].path, "/v1/a?unit=C&appid=7");
}

#[tokio::test]
async fn f131_row_cannot_read_the_products_keys() {
    let (app, host) = start().await;
    for start in ["OPENAI", "TAVILY", "AWS_SESSION"] {
        let mut tool = weather_tool(&host, "weather");
        tool["endpoint"]["auth"] = json!({"type": "api_key", "token_env": start});
        let message = error_message(&app.post("/api/admin/tools", &tool).await);
        assert!(message.starts_with("`endpoint.auth.tokenEnv` must be"), "{message}");
    }
    for (number, variable) in ["OPENAI_API_KEY", "TAVILY_API_KEY"].iter().enumerate() {
        let mut tool = weather_tool(&host, &format!("weather{number}"));
        tool["endpoint"]["auth"] = json!({"type": "bearer", "secret": {"env": variable}});
        let id = create(&app, "tools", &tool).await["id"].as_str().unwrap().to_owned();
        let tried = app.post(&format!("/api/admin/tools/{id}/test"), &json!({"arguments": {"city": "a"}})).await.ok();
        assert_eq!(tried["content"], "工具调用失败：工具没有配置好密钥", "{variable}");
    }
    assert!(host.requests().is_empty());
}
