//! Tool support of models: how the product detects it, and what it does when a model rejects tools.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::{
    Client, Completion, FakeModel, FakeOllama, MODEL, MODEL_KEY, NativeApp, Reply, TestApp, native_models_setting,
    search_reply,
};

use crate::{ollama, search_call};

/// A model's tool mode and the source of that knowledge, from the list of models.
async fn read_tool_mode(client: &Client, name: &str) -> Value {
    let models = client.get("/api/models").await.ok();
    let row = models["models"].as_array().unwrap().iter().find(|model| model["name"] == name).unwrap();
    json!([row["tools"], row["toolsFrom"]])
}

/// The error of an endpoint whose model does not support tools.
fn tool_rejection() -> Reply {
    let error = json!({ "message": "scripted-1 does not support tools", "type": "invalid_request_error" });
    Reply::json(400, &json!({ "error": error }))
}

/// Whether each request held tools.
fn tools_per_request(model: &FakeModel) -> Vec<bool> {
    model.requests().iter().map(|request| request.body.get("tools").is_some()).collect()
}

#[tokio::test]
async fn unknown_endpoint_uses_text_path_without_probe() {
    let app = TestApp::start().await;
    assert_eq!(read_tool_mode(&app, "openai").await, json!(["prompt", "table"]));
    app.model.queue_replies([Completion::of(["好。"])]);
    app.send_message("你好").await;
    assert_eq!(tools_per_request(&app.model), [false]);
}

#[tokio::test]
async fn model_list_shows_tool_mode_and_source() {
    let entry = |name: &str, host: &str, model: &str, more: Value| {
        let mut entry = json!({ "name": name, "baseUrl": format!("https://{host}/v1"), "model": model });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let models = json!([
        entry("wished", "x.example", "m", json!({ "tools": "native" })),
        entry("unwished", "api.openai.com", "gpt-5", json!({ "tools": "prompt" })),
        entry("gpt", "api.openai.com", "gpt-5", json!({})),
        entry("doubao", "ark.cn-beijing.volces.com", "doubao-seed-1-6-250615", json!({})),
        entry("claude", "x.example", "claude-sonnet-4", json!({ "wire": "anthropic" })),
        entry("gemini", "x.example", "gemini-2.5-pro", json!({ "wire": "gemini" })),
        entry("other", "x.example", "gpt-5", json!({ "tools": "auto" })),
        entry("grok", "x.example", "grok-4", json!({ "wire": "responses" })),
    ]);
    let app = TestApp::start_with(&[("MODELS", &models.to_string())]).await;
    for (name, expected) in [
        ("wished", ["native", "settings"]),
        ("unwished", ["prompt", "settings"]),
        ("gpt", ["native", "table"]),
        ("doubao", ["native", "table"]),
        ("claude", ["native", "table"]),
        ("gemini", ["native", "table"]),
        ("other", ["native", "table"]),
        ("grok", ["native", "table"]),
    ] {
        assert_eq!(read_tool_mode(&app, name).await, json!(expected), "{name}");
    }
}

#[tokio::test]
async fn ollama_capabilities_are_probed_once_and_listed() {
    for (capabilities, path) in [(&["completion", "tools"][..], "native"), (&["completion"][..], "prompt")] {
        let ollama = FakeOllama::start(capabilities).await;
        let app = ollama::start_with_ollama(&ollama).await;
        ollama.queue_replies([ollama::text_reply("一。"), ollama::text_reply("二。")]);
        assert_eq!(read_tool_mode(&app, "local").await, json!([path, "provider"]));
        app.send_message("问").await;
        app.send_message("问").await;
        assert_eq!(read_tool_mode(&app, "local").await, json!([path, "provider"]));
        let offers: Vec<bool> = ollama.chat_bodies().iter().map(|chat| chat.get("tools").is_some()).collect();
        assert_eq!((offers, ollama.show_request_count()), (vec![path == "native"; 2], 1));
    }
}

#[tokio::test]
async fn failed_probe_delays_turns_briefly() {
    for shown in
        [Reply::no_response(), Reply::status(404), Reply::reset_before_head(), Reply::json(200, &json!("<html>"))]
    {
        let ollama = FakeOllama::start(&[]).await;
        ollama.set_show_reply(shown);
        let app = ollama::start_with_ollama(&ollama).await;
        ollama.queue_replies([ollama::text_reply("一。"), ollama::text_reply("二。")]);
        let started = Instant::now();
        assert_eq!(app.send_message("问").await.content(), "一。");
        assert_eq!(read_tool_mode(&app, "local").await, json!(["prompt", "table"]));
        assert_eq!(app.send_message("问").await.content(), "二。");
        // Each of the three requests may have waited 1 s for the probe.
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        assert_eq!(ollama.show_request_count(), 1);
    }
}

#[tokio::test]
async fn rejected_tools_switch_turn_to_text_path_invisibly() {
    let text = TestApp::start().await;
    text.model.queue_replies([Completion::of(["好的。", &search_call("天气")]), Completion::of(["晴。"])]);
    let app = NativeApp::start().await;
    assert_eq!(read_tool_mode(&app, "native").await, json!(["native", "settings"]));
    app.model.queue_replies([
        tool_rejection(),
        Completion::of(["好的。", &search_call("天气")]),
        Completion::of(["晴。"]),
    ]);
    let (expected, mut seen) =
        (text.send_message("天气？").await.normalise(), app.send_message("天气？").await.normalise());
    seen[0]["model"] = "openai".into();
    assert_eq!(seen, expected, "also the tokens are those of two replies");
    assert_eq!(tools_per_request(&app.model), [true, false, false]);
    assert_eq!(read_tool_mode(&app, "native").await, json!(["prompt", "learned"]));
    let (messages, text_path_messages) =
        (app.model.wait_for_request(3).await.dialogue(), text.model.wait_for_request(2).await.dialogue());
    assert_eq!(messages[..2], text_path_messages[..2]);
    app.model.queue_replies([Completion::of(["好。"])]);
    app.send_message("你好").await;
    assert_eq!(tools_per_request(&app.model), [true, false, false, false], "the next turn does not try again");
}

/// The product with one model of a known family at a gateway, without `tools` in its row.
async fn start_with_gateway(id: &str) -> (TestApp, FakeModel) {
    let model = FakeModel::start().await;
    let entry =
        json!([{ "name": "g", "baseUrl": model.url(), "model": format!("{id}-{MODEL}"), "apiKeyVar": "G_KEY" }]);
    let settings = [("MODELS", &*entry.to_string()), ("G_KEY", MODEL_KEY), ("DEFAULT_MODEL", "g")];
    (TestApp::start_with(&settings).await, model)
}

#[tokio::test]
async fn known_family_gets_native_tools_at_gateways() {
    for id in ["gpt-4o", "azure/gpt-5-mini", "claude-sonnet-4-5", "qwen3-max", "kimi-k2", "zai-org/GLM-4.6"] {
        let (app, model) = start_with_gateway(id).await;
        assert_eq!(read_tool_mode(&app, "g").await, json!(["native", "table"]), "{id}");
        model.queue_replies([search_reply("a", "天气"), Completion::of(["晴。"])]);
        assert_eq!(app.send_message("天气").await.content(), "晴。", "{id}");
        assert_eq!(tools_per_request(&model), [true, true], "{id}");
    }
}

/// How gateways refuse tools, each as reported where the comment names it.
fn gateway_refusals() -> Vec<(&'static str, u16, Value)> {
    vec![
        // langchain4j/langchain4j#3475, 2025-08-05.
        (
            "vLLM",
            400,
            json!({ "object": "error", "message": "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set", "type": "BadRequestError", "param": null, "code": 400 }),
        ),
        // BerriAI/litellm#7785, 2025-01-15.
        (
            "LiteLLM",
            400,
            json!({ "error": { "message": "litellm.UnsupportedParamsError: together_ai does not support parameters: ['tools'], for model=m. To drop these, set `litellm.drop_params=True`", "type": "None", "param": null, "code": "400" } }),
        ),
        // BerriAI/litellm#1827, 2024-02-05, for models of Together.
        (
            "Together",
            400,
            json!({ "error": { "message": "Function calling is not supported by together_ai. To add it to the prompt, set litellm.add_function_to_prompt = True." } }),
        ),
        // lobehub/lobehub#1118, 2024-01-21: one-api, and new-api that began as its copy, add their id to the text of Azure.
        (
            "one-api",
            400,
            json!({ "error": { "message": "Unrecognized request argument supplied: tools (request id: 20240121111812191932400LDhGk8pV)", "type": "invalid_request_error", "param": "", "code": null } }),
        ),
        // run-llama/llama_index#9062, 2023-11-21.
        (
            "Azure",
            400,
            json!({ "error": { "message": "Unrecognized request arguments supplied: tool_choice, tools", "type": "invalid_request_error", "param": null, "code": null } }),
        ),
        // langchain-ai/opengpts#166, 2024-02-02.
        (
            "Azure, old version",
            404,
            json!({ "error": { "message": "Unrecognized request argument supplied: tools", "type": "invalid_request_error", "param": null, "code": null } }),
        ),
    ]
}

#[tokio::test]
async fn refusals_of_gateways_lead_to_text_calls() {
    for (gateway, status, body) in gateway_refusals() {
        let (app, model) = start_with_gateway("gpt-4o").await;
        let replies = [Completion::of([search_call("天气")]), Completion::of(["晴。"]), Completion::of(["好。"])];
        model.queue_replies([Reply::json(status, &body)].into_iter().chain(replies));
        assert_eq!(app.send_message("天气").await.content(), "晴。", "{gateway}");
        assert_eq!(read_tool_mode(&app, "g").await, json!(["prompt", "learned"]), "{gateway}");
        app.send_message("你好").await;
        assert_eq!(tools_per_request(&model), [true, false, false, false], "{gateway}");
    }
}

#[tokio::test]
async fn text_calls_of_native_models_run() {
    let (app, model) = start_with_gateway("qwen3-8b").await;
    let hermes = "<tool_call>\n{\"name\": \"search_web\", \"arguments\": {\"query\": \"天气\"}}\n</tool_call>";
    model.queue_replies([Completion::of([hermes]), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content(), app.search.queries()), ("晴。".to_owned(), vec!["天气".to_owned()]));
}

#[tokio::test]
async fn rejection_in_later_round_keeps_search_results() {
    let app = NativeApp::start().await;
    app.model.queue_replies([search_reply("a", "天气"), tool_rejection(), Completion::of(["晴。"])]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.finish_reason(), app.search.queries().len()), ("晴。", "stop", 1));
    let request = app.model.wait_for_request(3).await;
    assert!(request.body.get("tools").is_none());
    assert!(request.last_message().contains("天气：第1页"), "{}", request.last_message());
}

#[tokio::test]
async fn required_tool_choice_survives_the_rejection() {
    let app = NativeApp::start().await;
    app.model.queue_replies([tool_rejection(), Completion::of([search_call("天气")]), Completion::of(["晴。"])]);
    app.chat(&json!({ "message": "天气", "toolChoice": { "name": "search_web" } })).await;
    for request in &app.model.requests()[1..] {
        assert_eq!(request.dialogue()[0].1, "天气\n\n本次回答必须先调用工具 search_web。");
    }
}

#[tokio::test]
async fn rejection_switches_to_the_model_familys_call_format() {
    let (model, id) = (FakeModel::start().await, format!("qwen2.5-{MODEL}"));
    let entries = native_models_setting(&model, &id);
    let settings = [("MODELS", &*entries), ("NATIVE_KEY", MODEL_KEY), ("DEFAULT_MODEL", "native")];
    let app = TestApp::start_with(&settings).await;
    let hermes = "<tool_call>\n{\"name\": \"search_web\", \"arguments\": {\"query\": \"新闻\"}}\n</tool_call>";
    model.queue_replies([
        search_reply("a", "天气"),
        tool_rejection(),
        Completion::of([hermes]),
        Completion::of(["晴。"]),
    ]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), app.search.queries()), ("晴。", vec!["天气".to_owned(), "新闻".to_owned()]));
    let prompt_request = &model.requests()[2];
    assert!(prompt_request.system_prompt().contains("\"arguments\""), "{}", prompt_request.system_prompt());
    let past = &prompt_request.dialogue()[1].1;
    assert!(past.contains("\"name\"") && past.contains("\"arguments\"") && past.contains("天气"), "{past}");
}

#[tokio::test]
async fn other_rejection_ends_the_turn() {
    let app = NativeApp::start().await;
    app.model.queue_replies([Reply::json(400, &json!({ "error": { "message": "temperature is out of range" } }))]);
    assert_eq!(app.send_message("天气").await.error_code(), "upstream_rejected");
    assert_eq!(read_tool_mode(&app, "native").await, json!(["native", "settings"]));
}

#[tokio::test]
async fn rejection_after_first_token_is_not_retried() {
    let app = NativeApp::start().await;
    let error = json!({ "error": { "message": "scripted-1 does not support tools", "code": 400 } });
    app.model.queue_replies([Completion::new().text("半").data(&error.to_string()).reply()]);
    let turn = app.send_message("天气").await;
    assert_eq!((turn.content().as_str(), turn.error_code()), ("半", "upstream_rejected"));
    assert_eq!(app.model.requests().len(), 1);
}

#[tokio::test]
async fn rejected_tools_are_remembered_after_restart() {
    let model = FakeModel::start().await;
    let entries = native_models_setting(&model, MODEL);
    let settings = [("MODELS", &*entries), ("NATIVE_KEY", MODEL_KEY), ("DEFAULT_MODEL", "native")];
    let mut app = TestApp::start_on_disk_with(&settings).await;
    model.queue_replies([tool_rejection(), Completion::of(["一。"]), Completion::of(["二。"])]);
    app.send_message("问").await;
    app.restart().await;
    assert_eq!(app.send_message("问").await.content(), "二。");
    assert_eq!(tools_per_request(&model), [true, false, false]);
    assert_eq!(read_tool_mode(&app, "native").await, json!(["prompt", "learned"]));
}

#[tokio::test]
async fn probe_result_is_remembered_after_restart() {
    let ollama = FakeOllama::start(&["completion", "tools"]).await;
    let url = ollama.url();
    let settings = [("OLLAMA_API_URL", &*url), ("OLLAMA_MODEL", support::OLLAMA_MODEL), ("DEFAULT_MODEL", "local")];
    let mut app = TestApp::start_on_disk_with(&settings).await;
    assert_eq!(read_tool_mode(&app, "local").await, json!(["native", "provider"]));
    app.restart().await;
    assert_eq!(read_tool_mode(&app, "local").await, json!(["native", "provider"]));
    assert_eq!(ollama.show_request_count(), 1);
}
