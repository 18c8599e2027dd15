//! An operator's model options, from the setting to the endpoint. The tests name providers: all run on loopback.

use serde_json::{Value, json};
use support::{Completion, FakeEndpoint, Reply, TestApp};

/// The fields of a request that carry model options.
const OPTION_FIELDS: [&str; 8] = [
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "thinking",
    "enable_thinking",
    "reasoning_effort",
    "chat_template_kwargs",
];

/// Starts the product with the Ark model `volcano` at this endpoint, with these options.
async fn start_ark(endpoint: &FakeEndpoint, options: &Value) -> TestApp {
    let url = format!("{}/api/v3", endpoint.url());
    let mut options = options.clone();
    options["provider"] = "ark".into();
    let options = json!({ "volcano": options }).to_string();
    let settings = [
        ("ARK_API_KEY", "k"),
        ("ARK_MODEL", "doubao-seed-2-0-pro-260215"),
        ("ARK_BASE_URL", &*url),
        ("DEFAULT_MODEL", "volcano"),
        ("MODEL_OPTIONS", &*options),
    ];
    TestApp::start_with(&settings).await
}

/// Starts the product with these options for the model `openai`.
async fn start_with_options(options: &Value) -> TestApp {
    TestApp::start_with(&[("MODEL_OPTIONS", &json!({ "openai": options }).to_string())]).await
}

fn option_fields(body: &Value) -> Value {
    OPTION_FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), body.get(name)?.clone()))).collect()
}

fn rejection(message: &str) -> Reply {
    Reply::json(400, &json!({ "error": { "code": "x", "message": message, "param": null, "type": "error" } }))
}

/// A chunk in Ark's format: the role in every delta, and no space after `data:`.
fn ark_chunk(delta: &Value, finish: Option<&str>) -> String {
    let mut delta = delta.clone();
    delta["role"] = "assistant".into();
    let mut choice = json!({ "delta": delta, "index": 0 });
    if let Some(reason) = finish {
        choice["finish_reason"] = reason.into();
    }
    let chunk = json!({ "choices": [choice], "created": 1, "id": "r", "model": "doubao-seed", "usage": null });
    format!("data:{chunk}\n\n")
}

fn stream_reply(parts: impl IntoIterator<Item = String>) -> Reply {
    let reply = Reply::status(200).header("content-type", "text/event-stream");
    parts.into_iter().fold(reply, Reply::bytes)
}

#[tokio::test]
async fn ark_receives_options_and_its_stream_is_decoded() {
    let endpoint = FakeEndpoint::start().await;
    let options = json!({ "thinking": "on", "effort": "max", "temperature": 0.7, "topP": 0.9, "maxTokens": 4096 });
    let app = start_ark(&endpoint, &options).await;
    let usage = json!({ "choices": [], "id": "r", "usage": { "prompt_tokens": 31, "completion_tokens": 9,
        "prompt_tokens_details": { "cached_tokens": 16 } } });
    endpoint.queue_replies([stream_reply([
        ark_chunk(&json!({ "content": "", "reasoning_content": "" }), None),
        ark_chunk(&json!({ "content": "", "reasoning_content": "用户在问好" }), None),
        ark_chunk(&json!({ "content": "你好" }), None),
        ark_chunk(&json!({ "content": "！" }), None),
        ark_chunk(&json!({ "content": "" }), Some("stop")),
        format!("data:{usage}\n\n"),
        "data:[DONE]\n\n".to_owned(),
    ])]);
    let turn = app.send_message("你好").await;
    assert_eq!((turn.thinking().as_str(), turn.content().as_str()), ("用户在问好", "你好！"));
    let usage_event = &turn.events_of("usage")[0];
    assert_eq!(json!([usage_event["inputTokens"], usage_event["outputTokens"]]), json!([31, 9]));
    let request = &endpoint.requests()[0];
    assert_eq!(request.path, "/api/v3/chat/completions");
    let expected = json!({ "temperature": 0.7, "top_p": 0.9, "max_tokens": 4096, "thinking": { "type": "enabled" },
        "reasoning_effort": "high" });
    assert_eq!(option_fields(&request.json()), expected);
}

#[tokio::test]
async fn f006_f025_ark_content_filter_mid_stream_ends_turn() {
    let error = json!({ "error": { "code": "SensitiveContentDetected.SevereViolation", "message": "upstream words",
        "param": "", "type": "BadRequest" } });
    for line in [format!("data:{error}\n\n"), format!("data: {error}\n\n"), format!("{error}\n\n")] {
        let endpoint = FakeEndpoint::start().await;
        let app = start_ark(&endpoint, &json!({})).await;
        endpoint.queue_replies([stream_reply([ark_chunk(&json!({ "content": "先" }), None), line])]);
        let turn = app.send_message("问").await;
        assert_eq!((turn.content().as_str(), turn.error_code()), ("先", "content_filtered"));
        assert!(!format!("{turn:?}").contains("upstream words"));
        assert_eq!(endpoint.requests().len(), 1);
    }
}

#[tokio::test]
async fn without_options_no_option_fields_are_sent() {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好。"])]);
    app.send_message("你好").await;
    assert_eq!(option_fields(&app.model.wait_for_request(1).await.body), json!({}));
}

#[tokio::test]
async fn options_use_the_named_providers_fields() {
    for (provider, fields) in [
        ("vllm", json!({ "chat_template_kwargs": { "enable_thinking": false } })),
        ("dashscope", json!({ "enable_thinking": false })),
        ("deepseek", json!({ "thinking": { "type": "disabled" } })),
        ("lmstudio", json!({})),
    ] {
        let app = start_with_options(&json!({ "provider": provider, "thinking": "off", "effort": "low" })).await;
        app.model.queue_replies([Completion::of(["好。"])]);
        app.send_message("你好").await;
        assert_eq!(option_fields(&app.model.wait_for_request(1).await.body), fields, "{provider}");
        let listed = app.get("/api/models").await.ok();
        assert_eq!(listed["models"][0]["provider"], provider);
    }
}

#[tokio::test]
async fn rejected_options_are_omitted_from_then_on() {
    let app = start_with_options(&json!({ "temperature": 0.5, "maxTokens": 9 })).await;
    app.model.queue_replies([
        rejection("Unsupported value: 'temperature' does not support 0.5 with this model."),
        rejection("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."),
        Completion::of(["一。"]),
        Completion::of(["二。"]),
    ]);
    let first = app.send_message("你好").await;
    assert_eq!((first.content().as_str(), first.finish_reason()), ("一。", "stop"));
    assert_eq!(app.send_message("又").await.content(), "二。");
    let sent: Vec<Value> = app.model.requests().iter().map(|request| option_fields(&request.body)).collect();
    let reduced = json!({ "max_completion_tokens": 9 });
    let expected =
        [json!({ "temperature": 0.5, "max_tokens": 9 }), json!({ "max_tokens": 9 }), reduced.clone(), reduced];
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn f005_other_rejections_are_not_retried() {
    let app = start_with_options(&json!({ "temperature": 0.5 })).await;
    app.model.queue_replies([rejection("Unsupported value: 'top_k'")]);
    assert_eq!(app.send_message("你好").await.error_code(), "upstream_rejected");
}

/// The reasoning of every assistant message of a request, `null` where there is no field for it.
fn reasoning_fields(body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.filter(|one| one["role"] == "assistant").map(|one| one["reasoning_content"].clone()).collect()
}

#[tokio::test]
async fn deepseek_receives_all_reasoning_in_tool_turns() {
    let app = start_with_options(&json!({ "provider": "deepseek" })).await;
    let call_delta = json!({ "index": 0, "id": "a", "type": "function",
        "function": { "name": "search_web", "arguments": "{\"query\":\"天气\"}" } });
    let call = Completion::new().thinking("要查。").delta(&json!({ "tool_calls": [call_delta] })).finish("tool_calls");
    app.model.queue_replies([
        call.usage(10, 5).done().reply(),
        Completion::new().thinking("查到了。").text("晴。").end(),
        Completion::of(["不客气。"]),
        Completion::of(["再见。"]),
    ]);
    let id = app.send_message("天气").await.conversation_id();
    app.follow_up(&id, "谢谢").await;
    app.follow_up(&id, "再见").await;
    let sent: Vec<_> = app.model.requests().iter().map(|request| reasoning_fields(&request.body)).collect();
    let (first, second) = (json!("要查。"), json!("查到了。"));
    let expected = [vec![], vec![first.clone()], vec![first.clone(), second.clone()], vec![first, second, json!("")]];
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn reasoning_is_not_returned_without_need() {
    for (options, choice) in [(json!({ "provider": "deepseek" }), "none"), (json!({}), "auto")] {
        let app = start_with_options(&options).await;
        app.model.queue_replies([Completion::new().thinking("想。").text("好。").end(), Completion::of(["嗯。"])]);
        let body = |id: Option<String>| json!({ "message": "问", "toolChoice": choice, "conversationId": id });
        let id = app.chat(&json!({ "message": "问", "toolChoice": choice })).await.conversation_id();
        app.chat(&body(Some(id))).await;
        assert_eq!(reasoning_fields(&app.model.wait_for_request(2).await.body), [Value::Null], "{options}");
    }
}

#[tokio::test]
async fn model_may_override_first_byte_timeout() {
    let hurried = json!({ "openai": { "firstByteSeconds": 1 } }).to_string();
    let app = TestApp::start_with(&[("MODEL_OPTIONS", &hurried), ("MODEL_FIRST_BYTE_SECONDS", "900")]).await;
    app.model.queue_replies([Reply::no_response(), Completion::of(["好。"])]);
    assert_eq!(app.send_message("你好").await.content(), "好。");
}
