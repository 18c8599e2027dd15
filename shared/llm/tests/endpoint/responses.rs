//! The Responses API: its request, when it is used, and what is changed after a rejection.

use domain::{Message, ProviderData, ReasoningItem, ToolCall, ToolMessage};
use llm::{Delta, Finish, ModelClient, ModelError, Models, Prompt, Wire};
use platform::settings::Settings;
use serde_json::{Value, json};

use crate::server::{Answer, Server, far_deadline, hello_prompt, read_reply};

fn client(server: &Server, wire: &str) -> ModelClient {
    let entry = json!([{"name": "x", "wire": wire, "baseUrl": server.root, "model": "gpt-5.5", "apiKeyVar": "X_KEY"}]);
    let settings = Settings::from_pairs([
        ("MODELS", entry.to_string()),
        ("X_KEY", "k".to_owned()),
        ("MODEL_OPTIONS", json!({"x": {"provider": "openai"}}).to_string()),
    ]);
    Models::from_settings(&settings, platform::transport::build_client().unwrap()).unwrap().get("x").unwrap().clone()
}

fn reply() -> Answer {
    Answer::stream()
        .bytes(b"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hello\"}\n\n")
        .bytes(b"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n")
        .end()
}

fn hello() -> (Vec<Delta>, Option<ModelError>) {
    (vec![Delta::Text("hello".to_owned()), Delta::Finish(Finish::Stop)], None)
}

fn refusal(message: &str) -> Answer {
    Answer::json(400, &json!({"error": {"message": message, "type": "invalid_request_error"}}).to_string())
}

/// Runs two calls against an endpoint that rejects the first request; returns the bodies of the three requests.
async fn after(message: &str, answer: Answer) -> Vec<Value> {
    let server = Server::start([refusal(message), answer]).await;
    let client = client(&server, "responses");
    for _ in 0..2 {
        assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello(), "{message}");
    }
    server.requests().into_iter().map(|request| request.body).collect()
}

#[tokio::test(start_paused = true)]
async fn responses_request_has_path_and_bearer_key() {
    let server = Server::start([reply()]).await;
    let client = client(&server, "responses");
    assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /responses");
    assert_eq!(requests[0].header("authorization"), Some("Bearer k"));
    let body = &requests[0].body;
    assert_eq!(json!([body["store"], body["stream"], body["reasoning"]]), json!([false, true, {"summary": "auto"}]));
    assert_eq!(client.provider(), "openai");
}

#[tokio::test(start_paused = true)]
async fn model_without_chat_completions_moves_to_responses() {
    for message in [
        "This model is only supported in v1/responses and not in v1/chat/completions.",
        "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. Please use /v1/responses instead.",
        "This is not a chat model and thus not supported in the v1/chat/completions endpoint. Did you mean to use v1/completions?",
    ] {
        let server = Server::start([refusal(message), reply()]).await;
        let client = client(&server, "openai");
        for _ in 0..2 {
            assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello(), "{message}");
        }
        let lines: Vec<_> = server.requests().into_iter().map(|request| request.line).collect();
        assert_eq!(lines, ["POST /chat/completions", "POST /responses", "POST /responses"]);
        assert_eq!((client.config().wire, client.wire()), (Wire::Openai, Wire::Responses));
    }
}

#[tokio::test(start_paused = true)]
async fn endpoint_without_responses_gets_chat_completions_without_thinking() {
    let refused = refusal(
        "Function tools with reasoning_effort are not supported for gpt-5.5 in /v1/chat/completions. \
         Please use /v1/responses instead.",
    );
    let chat = Answer::stream()
        .bytes(b"data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\n")
        .bytes(b"data: [DONE]\n\n")
        .end();
    for missing in [Answer::json(404, r#"{"detail":"Not Found"}"#), Answer::json(405, "")] {
        let server = Server::start([refused.clone(), missing, chat.clone()]).await;
        let client = client(&server, "openai");
        for _ in 0..2 {
            assert_eq!(read_reply(&client, &hello_prompt(), far_deadline()).await, hello());
        }
        let sent: Vec<_> = server
            .requests()
            .into_iter()
            .map(|request| (request.line, request.body["reasoning_effort"].clone()))
            .collect();
        let line = |path: &str, effort: Value| (format!("POST /{path}"), effort);
        let without_thinking = line("chat/completions", json!("none"));
        let first = [line("chat/completions", Value::Null), line("responses", Value::Null)];
        assert_eq!(sent, [first.as_slice(), &[without_thinking.clone(), without_thinking]].concat());
    }
}

#[tokio::test(start_paused = true)]
async fn responses_only_model_is_rejected_without_that_api() {
    let refused = refusal("This model is only supported in v1/responses and not in v1/chat/completions.");
    let server = Server::start([refused.clone(), Answer::json(404, "{}"), refused]).await;
    let client = client(&server, "openai");
    for _ in 0..2 {
        let outcome = read_reply(&client, &hello_prompt(), far_deadline()).await;
        assert_eq!(outcome, (vec![], Some(ModelError::Rejected)));
    }
    assert_eq!(server.requests().len(), 4, "later calls are one request each");
}

#[tokio::test(start_paused = true)]
async fn rejection_by_responses_does_not_repeat() {
    let message = "This model is only supported in v1/responses and not in v1/chat/completions.";
    let server = Server::start([refusal(message)]).await;
    let outcome = read_reply(&client(&server, "responses"), &hello_prompt(), far_deadline()).await;
    assert_eq!((outcome, server.requests().len()), ((vec![], Some(ModelError::Rejected)), 1));
}

#[tokio::test(start_paused = true)]
async fn rejected_summary_is_omitted_afterwards() {
    let sent = after("Your organization must be verified to generate reasoning summaries.", reply()).await;
    let reasoning: Vec<_> = sent.iter().map(|body| body["reasoning"].clone()).collect();
    assert_eq!(reasoning, [json!({"summary": "auto"}), Value::Null, Value::Null]);
}

#[tokio::test(start_paused = true)]
async fn rejected_stream_becomes_one_document() {
    let output = json!([{"type": "message", "content": [{"type": "output_text", "text": "hello"}]}]);
    let document = Answer::json(200, &json!({"status": "completed", "output": output}).to_string());
    let sent = after("Your organization must be verified to stream this model.", document).await;
    let stream: Vec<_> = sent.iter().map(|body| body["stream"].clone()).collect();
    assert_eq!(stream, [json!(true), json!(false), json!(false)]);
}

#[tokio::test(start_paused = true)]
async fn rejected_encrypted_reasoning_is_omitted_afterwards() {
    let sent = after("Encrypted content is not supported with this model.", reply()).await;
    let include: Vec<_> = sent.iter().map(|body| body["include"].clone()).collect();
    assert_eq!(include, [json!(["reasoning.encrypted_content"]), Value::Null, Value::Null]);
}

/// A prompt after a call, with the reasoning that preceded it.
fn after_a_call(origin: String) -> Prompt {
    let reasoning = vec![ReasoningItem::EncryptedReasoning { data: "gAAA".to_owned(), calls: 0 }];
    let data = ProviderData { origin, reasoning, ..ProviderData::default() };
    let call = ToolCall { id: "c".to_owned(), name: "now".to_owned(), arguments: json!({}) };
    let provider_data = Some(Box::new(data));
    let called = Message::Assistant { text: String::new(), thinking: String::new(), calls: vec![call], provider_data };
    let result = ToolMessage { call_id: "c".to_owned(), name: "now".to_owned(), ok: true, content: "noon".to_owned() };
    let mut prompt = hello_prompt();
    prompt.messages.extend([called, Message::Tool(result)]);
    prompt
}

#[tokio::test(start_paused = true)]
async fn rejected_reasoning_is_omitted_in_this_request() {
    for message in [
        r#"{"error":{"message":"The encrypted content gAAA could not be verified.","code":"invalid_encrypted_content"}}"#,
        r#"{"error":{"message":"Item 'rs_1' of type 'reasoning' was provided without its required following item."}}"#,
    ] {
        let server = Server::start([Answer::json(400, message), reply()]).await;
        let client = client(&server, "responses");
        let prompt = after_a_call(client.origin());
        for _ in 0..2 {
            assert_eq!(read_reply(&client, &prompt, far_deadline()).await, hello(), "{message}");
        }
        let items = |body: &Value| body["input"].as_array().unwrap().iter().map(|item| item["type"].clone()).collect();
        let sent: Vec<Vec<Value>> = server.requests().iter().map(|request| items(&request.body)).collect();
        let with = ["message", "reasoning", "function_call", "function_call_output"].map(Value::from).to_vec();
        let without = ["message", "function_call", "function_call_output"].map(Value::from).to_vec();
        assert_eq!(sent, [with.clone(), without, with]);
        assert!(server.requests().iter().all(|request| request.body["include"].is_array()));
    }
}
