//! Requests that are fixed after a rejection by the endpoint.

use domain::{Message, ToolCall, ToolChoice, ToolMessage, ToolSpec};
use llm::{ModelClient, ModelError, Prompt};
use serde_json::{Value, json};

use crate::server::{Answer, ReceivedRequest, Server, far_deadline, hello_prompt, read_reply};

fn with_tools(tool_choice: ToolChoice) -> Prompt {
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Tells the time.".to_owned(),
        parameters: json!({"type": "object"}),
        examples: vec![],
    };
    Prompt { tools: [tool].into(), tool_choice, ..hello_prompt() }
}

fn after_a_call() -> Prompt {
    let call = ToolCall { id: "c".to_owned(), name: "now".to_owned(), arguments: json!({}) };
    let assistant_message = Message::Assistant {
        text: String::new(),
        thinking: "I look.".to_owned(),
        calls: vec![call],
        provider_data: None,
    };
    let result = ToolMessage { call_id: "c".to_owned(), name: "now".to_owned(), ok: true, content: "noon".to_owned() };
    let mut prompt = with_tools(ToolChoice::Auto);
    prompt.messages.extend([assistant_message, Message::Tool(result)]);
    prompt
}

#[tokio::test(start_paused = true)]
async fn rejected_stream_options_are_omitted_afterwards() {
    for (status, body) in [
        (400, r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#),
        (422, r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs"}]}"#),
    ] {
        let server = Server::start([Answer::json(status, body), Answer::hello()]).await;
        let client = server.client(&[]);
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, None);
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, None);
        let sent: Vec<Value> = server.requests().iter().map(|request| request.body["stream_options"].clone()).collect();
        assert_eq!(sent, [json!({"include_usage": true}), Value::Null, Value::Null]);
    }
}

fn converse_client(server: &Server) -> ModelClient {
    let row = json!({
        "name": "b", "wire": "converse", "model": "us.anthropic.claude-sonnet-5", "baseUrl": server.root,
        "apiKeyVar": "KEY",
    });
    server.client(&[("MODELS", &json!([row]).to_string()), ("DEFAULT_MODEL", "b"), ("KEY", "k")])
}

const CONVERSE_REPLY: &str = r#"{"output":{"message":{"role":"assistant","content":[{"text":"hello"}]}},
    "stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1}}"#;

#[tokio::test(start_paused = true)]
async fn tools_without_streaming_use_converse_without_it() {
    let body = r#"{"message":"This model doesn't support tool use in streaming mode."}"#;
    let server = Server::start([Answer::json(400, body), Answer::json(200, CONVERSE_REPLY)]).await;
    let client = converse_client(&server);
    assert_eq!(read_reply(&client, &with_tools(ToolChoice::Auto), far_deadline()).await.1, None);
    let model = "POST /model/us.anthropic.claude-sonnet-5";
    let lines: Vec<String> = server.requests().into_iter().map(|request| request.line).collect();
    assert_eq!(lines, [format!("{model}/converse-stream"), format!("{model}/converse")]);
}

#[tokio::test(start_paused = true)]
async fn refused_cache_points_are_omitted_afterwards() {
    for (status, message) in [
        (403, "You invoked an unsupported model or your request did not allow prompt caching."),
        (400, "Malformed input request: #/system/1: extraneous key [cachePoint] is not permitted"),
    ] {
        let body = json!({ "message": message }).to_string();
        let server = Server::start([Answer::json(status, &body), Answer::json(200, CONVERSE_REPLY)]).await;
        let (client, prompt) = (converse_client(&server), Prompt { system: "Be brief.".into(), ..hello_prompt() });
        assert_eq!(read_reply(&client, &prompt, far_deadline()).await.1, None);
        assert_eq!(read_reply(&client, &prompt, far_deadline()).await.1, None);
        let points = |request: &ReceivedRequest| request.body.to_string().contains("cachePoint");
        assert_eq!(server.requests().iter().map(points).collect::<Vec<_>>(), [true, false, false], "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn ineffective_fix_is_not_retried() {
    let body = r#"{"error":{"message":"stream_options"}}"#;
    let server = Server::start([Answer::json(400, body)]).await;
    let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!(outcome, (vec![], Some(ModelError::Rejected)));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn rejected_stop_markers_are_omitted() {
    let body = r#"{"error":{"message":"Argument not supported on this model: stop"}}"#;
    let server = Server::start([Answer::json(400, body), Answer::hello(), Answer::json(400, body)]).await;
    let (client, mut prompt) = (server.client(&[]), Prompt { stop_markers: &["<a"], ..hello_prompt() });
    assert_eq!(read_reply(&client, &prompt, far_deadline()).await.1, None);
    prompt.params.stop = vec!["x".to_owned()];
    assert_eq!(read_reply(&client, &prompt, far_deadline()).await.1, Some(ModelError::Rejected));
    let sent: Vec<Value> = server.requests().iter().map(|request| request.body["stop"].clone()).collect();
    assert_eq!(sent, [json!(["<a"]), Value::Null, json!(["x"])]);
}

#[tokio::test(start_paused = true)]
async fn rejected_forced_tool_choice_is_omitted() {
    let body = r#"{"error":{"message":"Thinking mode does not support this tool_choice"}}"#;
    let server = Server::start([Answer::json(400, body), Answer::hello()]).await;
    assert_eq!(read_reply(&server.client(&[]), &with_tools(ToolChoice::Required), far_deadline()).await.1, None);
    let sent: Vec<Value> = server.requests().iter().map(|request| request.body["tool_choice"].clone()).collect();
    assert_eq!(sent, [json!("required"), Value::Null]);
}

#[tokio::test(start_paused = true)]
async fn required_reasoning_is_echoed_after_rejection() {
    let body =
        r#"{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API."}}"#;
    let server = Server::start([Answer::json(400, body), Answer::hello()]).await;
    assert_eq!(read_reply(&server.client(&[]), &after_a_call(), far_deadline()).await.1, None);
    let sent: Vec<Value> =
        server.requests().iter().map(|request| request.body["messages"][1]["reasoning_content"].clone()).collect();
    assert_eq!(sent, [Value::Null, json!("I look.")]);
}

#[tokio::test(start_paused = true)]
async fn missing_tool_support_is_recognised() {
    for (status, body) in [
        (400, r#"{"error":{"message":"registry.ollama.ai/library/gemma does not support tools","type":"api_error"}}"#),
        (404, r#"{"error":{"message":"No endpoints found that support tool use.","code":404}}"#),
        (400, r#"{"message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser"}"#),
        (500, r#"{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}"#),
        (400, r#"{"error":{"code":"InvalidParameter","message":"this model does not support function calling"}}"#),
        (400, r#"{"error":{"message":"Unrecognized request argument supplied: tools"}}"#),
        (
            400,
            r#"{"error":{"message":"Function calling is not enabled for models/gemma-3","status":"INVALID_ARGUMENT"}}"#,
        ),
        (
            422,
            r#"{"detail":[{"type":"extra_forbidden","loc":["body","tools"],"msg":"Extra inputs are not permitted"}]}"#,
        ),
    ] {
        let server = Server::start([Answer::json(status, body)]).await;
        let outcome = read_reply(&server.client(&[]), &with_tools(ToolChoice::Auto), far_deadline()).await;
        assert_eq!(outcome, (vec![], Some(ModelError::ToolsUnsupported)), "{body}");
        assert_eq!(server.requests().len(), 1);
    }
}

/// Returns these fields of the three requests of two calls; the endpoint rejects the first with `refusal`.
async fn after(options: &str, refusal: &str, fields: &[&str]) -> Vec<Value> {
    let server = Server::start([Answer::json(400, refusal), Answer::hello()]).await;
    let client = server.client(&[("MODEL_OPTIONS", options)]);
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, None, "{refusal}");
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, None, "{refusal}");
    let fields_of = |body: &Value| fields.iter().map(|field| body[field].clone()).collect::<Value>();
    server.requests().iter().map(|request| fields_of(&request.body)).collect()
}

#[tokio::test(start_paused = true)]
async fn rejected_limit_name_is_swapped_afterwards() {
    let fields = ["max_tokens", "max_completion_tokens"];
    let (older, newer) = (json!([9, null]), json!([null, 9]));
    let refusal = r#"{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter","param":"max_tokens"}}"#;
    let sent = after(r#"{"openai":{"maxTokens":9}}"#, refusal, &fields).await;
    assert_eq!(sent, [older.clone(), newer.clone(), newer.clone()]);
    for refusal in [
        r#"{"error":{"message":"Unrecognized request argument supplied: max_completion_tokens"}}"#,
        r#"{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}"#,
    ] {
        let sent = after(r#"{"openai":{"maxTokens":9,"provider":"groq"}}"#, refusal, &fields).await;
        assert_eq!(sent, [newer.clone(), older.clone(), older.clone()]);
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_sampling_parameters_are_omitted_afterwards() {
    let options = r#"{"openai":{"temperature":0.5,"topP":0.25}}"#;
    let (both, hot, wide) = (json!([0.5, 0.25]), json!([0.5, null]), json!([null, 0.25]));
    for (refusal, then) in [
        (
            r#"{"error":{"message":"Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported."}}"#,
            &wide,
        ),
        (r#"{"error":{"message":"`temperature` may only be set to 1 when thinking is enabled."}}"#, &wide),
        (r#"{"error":{"message":"invalid temperature: only 1 is allowed for this model"}}"#, &wide),
        (r#"{"error":{"message":"`temperature` and `top_p` cannot both be specified for this model."}}"#, &hot),
        (r#"{"error":{"message":"Unsupported parameter: 'top_p' is not supported with this model."}}"#, &hot),
    ] {
        let sent = after(options, refusal, &["temperature", "top_p"]).await;
        assert_eq!(sent, [&both, then, then].map(Clone::clone), "{refusal}");
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_thinking_is_omitted_afterwards() {
    let options =
        |provider: &str| format!(r#"{{"openai":{{"thinking":"on","effort":"low","provider":"{provider}"}}}}"#);
    for (provider, field, value, refusal) in [
        (
            "siliconflow",
            "enable_thinking",
            json!(true),
            r#"{"code":20015,"message":"Value error, current model does not support parameter `enable_thinking`."}"#,
        ),
        (
            "vllm",
            "chat_template_kwargs",
            json!({"enable_thinking": true}),
            r#"{"detail":[{"loc":["body","chat_template_kwargs"],"msg":"Extra inputs are not permitted"}]}"#,
        ),
        (
            "ark",
            "thinking",
            json!({"type": "enabled"}),
            r#"{"error":{"code":"InvalidParameter","message":"The parameter `thinking.type` specified in the request is not valid"}}"#,
        ),
        (
            "openrouter",
            "reasoning",
            json!({"effort": "low"}),
            r#"{"error":{"code":400,"message":"Unrecognized key: reasoning"}}"#,
        ),
    ] {
        let sent = after(&options(provider), refusal, &[field, "reasoning_effort"]).await;
        let effort = if matches!(provider, "vllm" | "ark") { json!("low") } else { Value::Null };
        assert_eq!(sent, [json!([value, effort]), json!([null, null]), json!([null, null])], "{provider}");
    }
}

#[tokio::test(start_paused = true)]
async fn rejected_effort_keeps_thinking() {
    let options = r#"{"openai":{"thinking":"on","effort":"low","provider":"ark"}}"#;
    for refusal in [
        r#"{"error":{"message":"Unrecognized request argument supplied: reasoning_effort"}}"#,
        r#"{"error":{"message":"reasoning_effort is not supported by this model in thinking mode"}}"#,
    ] {
        let sent = after(options, refusal, &["thinking", "reasoning_effort"]).await;
        let on = json!({"type": "enabled"});
        assert_eq!(sent, [json!([on, "low"]), json!([on, null]), json!([on, null])], "{refusal}");
    }
}

#[tokio::test(start_paused = true)]
async fn rejection_of_unsent_parameter_is_final() {
    let body = r#"{"error":{"message":"Unsupported parameter: 'temperature'"}}"#;
    let server = Server::start([Answer::json(400, body)]).await;
    let outcome = read_reply(&server.client(&[]), &hello_prompt(), far_deadline()).await;
    assert_eq!((outcome, server.requests().len()), ((vec![], Some(ModelError::Rejected)), 1));
}

#[tokio::test(start_paused = true)]
async fn fixes_count_as_attempts_and_persist() {
    let refused =
        |name: &str| Answer::json(400, &format!(r#"{{"error":{{"message":"Unsupported parameter: '{name}'"}}}}"#));
    let server =
        Server::start([refused("temperature"), refused("top_p"), refused("max_tokens"), Answer::hello()]).await;
    let client = server.client(&[("MODEL_OPTIONS", r#"{"openai":{"temperature":0.5,"topP":0.25,"maxTokens":9}}"#)]);
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, (vec![], Some(ModelError::Rejected)));
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await.1, None);
    let requests = server.requests();
    assert_eq!(requests.len(), 4);
    let last = &requests[3].body;
    assert_eq!(
        json!([last["temperature"], last["top_p"], last["max_tokens"], last["max_completion_tokens"]]),
        json!([null, null, null, 9])
    );
}
