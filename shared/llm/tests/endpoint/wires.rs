//! All wires end to end.

use llm::{Delta, Finish, ModelClient, ModelError, Models, Prompt};
use platform::settings::Settings;
use serde_json::{Value, json};

use crate::server::{Answer, Server, far_deadline, hello_prompt, read_reply};

fn client(server: &Server, wire: &str, model: &str) -> ModelClient {
    client_with(server, wire, model, &json!({}))
}

/// Returns a client with options.
fn client_with(server: &Server, wire: &str, model: &str, options: &Value) -> ModelClient {
    let entry = json!([{"name": "x", "wire": wire, "baseUrl": server.root, "model": model, "apiKeyVar": "X_KEY"}]);
    let options = json!({ "x": options });
    let settings = Settings::from_pairs([
        ("MODELS", entry.to_string()),
        ("X_KEY", "k".to_owned()),
        ("MODEL_OPTIONS", options.to_string()),
    ]);
    Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap().get("x").unwrap().clone()
}

fn hello() -> (Vec<Delta>, Option<ModelError>) {
    (vec![Delta::Text("hello".to_owned()), Delta::Finish(Finish::Stop)], None)
}

#[tokio::test(start_paused = true)]
async fn openai_request_has_path_and_bearer_key() {
    let server = Server::start([Answer::hello()]).await;
    let client = client(&server, "openai", "m");
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /chat/completions");
    assert_eq!(requests[0].header("authorization"), Some("Bearer k"));
    assert_eq!(client.provider(), "openai-compatible");
}

#[tokio::test(start_paused = true)]
async fn ollama_request_has_path_and_any_content_type() {
    for kind in ["application/x-ndjson", "application/json"] {
        let answer = Answer::streaming(kind)
            .bytes(b"{\"message\":{\"role\":\"assistant\",\"content\":\"hello\"},\"done\":false}\n")
            .bytes(b"{\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\"}\n")
            .end();
        let server = Server::start([answer]).await;
        let client = client(&server, "ollama", "m");
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
        assert_eq!(server.requests()[0].line, "POST /api/chat");
        assert_eq!(client.provider(), "ollama");
    }
}

#[tokio::test(start_paused = true)]
async fn ollama_rejection_of_tools_is_recognised() {
    let refusal = r#"{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}"#;
    let server = Server::start([Answer::json(400, refusal)]).await;
    let tool = domain::ToolSpec {
        name: "now".to_owned(),
        description: String::new(),
        parameters: json!({"type": "object"}),
        examples: vec![],
    };
    let prompt = Prompt { tools: [tool].into(), ..hello_prompt() };
    let outcome = read_reply(&client(&server, "ollama", "m"), &prompt, far_deadline()).await;
    assert_eq!(outcome, (vec![], Some(ModelError::ToolsUnsupported)));
}

#[tokio::test(start_paused = true)]
async fn anthropic_request_has_path_and_headers() {
    let answer = Answer::stream()
        .bytes(b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n")
        .bytes(b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n")
        .bytes(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
        .end();
    let server = Server::start([answer]).await;
    assert_eq!(read_reply(&client(&server, "anthropic", "m"), &hello_prompt(), far_deadline()).await, hello());
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /v1/messages");
    assert_eq!(requests[0].header("x-api-key"), Some("k"));
    assert_eq!(requests[0].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(requests[0].header("authorization"), None);
}

#[tokio::test(start_paused = true)]
async fn gemini_request_has_path_and_key_header() {
    let answer = Answer::stream()
        .data(r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}]}"#)
        .end();
    let server = Server::start([answer]).await;
    assert_eq!(read_reply(&client(&server, "gemini", "models/g"), &hello_prompt(), far_deadline()).await, hello());
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /models/g:streamGenerateContent?alt=sse");
    assert_eq!(requests[0].header("x-goog-api-key"), Some("k"));
}

#[tokio::test(start_paused = true)]
async fn rejected_thinking_is_omitted_on_every_wire() {
    let anthropic = Answer::stream()
        .bytes(b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n")
        .bytes(b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n")
        .end();
    let gemini = Answer::stream()
        .data(r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hello"}]},"finishReason":"STOP"}]}"#)
        .end();
    let ollama = Answer::streaming("application/x-ndjson")
        .bytes(b"{\"message\":{\"content\":\"hello\"},\"done\":true,\"done_reason\":\"stop\"}\n")
        .end();
    let config = json!({"thinkingConfig": {"thinkingLevel": "low", "includeThoughts": true}});
    for (wire, model, refusal, answer, field, value) in [
        ("ollama", "gemma", r#"{"error":"\"gemma\" does not support thinking"}"#, ollama, "think", json!("low")),
        (
            "anthropic",
            "claude-next",
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"adaptive thinking is not supported on this model"}}"#,
            anthropic,
            "thinking",
            json!({"type": "adaptive"}),
        ),
        (
            "gemini",
            "gemini-3-next",
            r#"{"error":{"code":400,"message":"Thinking level is not supported for this model.","status":"INVALID_ARGUMENT"}}"#,
            gemini,
            "generationConfig",
            config,
        ),
    ] {
        let server = Server::start([Answer::json(400, refusal), answer]).await;
        let client = client_with(&server, wire, model, &json!({"thinking": "on", "effort": "low"}));
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello(), "{wire}");
        let sent: Vec<Value> = server.requests().iter().map(|request| request.body[field].clone()).collect();
        assert_eq!(sent, [value, Value::Null], "{wire}");
    }
}

#[tokio::test(start_paused = true)]
async fn ollama_rejected_level_keeps_thinking() {
    let refusal = r#"{"error":"invalid think value: \"max\" (must be \"high\", \"medium\", \"low\", true, or false)"}"#;
    let answer = Answer::streaming("application/x-ndjson")
        .bytes(b"{\"message\":{\"content\":\"hello\"},\"done\":true,\"done_reason\":\"stop\"}\n")
        .end();
    let server = Server::start([Answer::json(400, refusal), answer]).await;
    let client = client_with(&server, "ollama", "m", &json!({"thinking": "on", "effort": "max"}));
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
    let sent: Vec<Value> = server.requests().iter().map(|request| request.body["think"].clone()).collect();
    assert_eq!(sent, [json!("max"), json!(true)]);
}
