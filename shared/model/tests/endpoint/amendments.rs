//! Requests that are changed as the endpoint asks.

use conversation::{Message, ToolCall, ToolChoice, ToolResult, ToolSpec};
use model::{ModelError, Prompt};
use serde_json::{Value, json};

use crate::server::{Answer, Server, ask, later, question};

fn with_tools(tool_choice: ToolChoice) -> Prompt {
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Tells the time.".to_owned(),
        parameters: json!({"type": "object"}),
        examples: vec![],
    };
    Prompt { tools: vec![tool], tool_choice, ..question() }
}

fn after_a_call() -> Prompt {
    let call = ToolCall { id: "c".to_owned(), name: "now".to_owned(), arguments: json!({}) };
    let said = Message::Assistant { text: String::new(), thinking: "I look.".to_owned(), calls: vec![call] };
    let result = ToolResult { call_id: "c".to_owned(), name: "now".to_owned(), ok: true, content: "noon".to_owned() };
    let mut prompt = with_tools(ToolChoice::Auto);
    prompt.messages.extend([said, Message::Tool(result)]);
    prompt
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_refuses_stream_options_is_asked_without_from_then_on() {
    for (status, body) in [
        (400, r#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#),
        (422, r#"{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs"}]}"#),
    ] {
        let server = Server::start([Answer::json(status, body), Answer::hello()]).await;
        let client = server.client(&[]);
        assert_eq!(ask(&client, &question(), later()).await.1, None);
        assert_eq!(ask(&client, &question(), later()).await.1, None);
        let sent: Vec<Value> = server.asked().iter().map(|asked| asked.body["stream_options"].clone()).collect();
        assert_eq!(sent, [json!({"include_usage": true}), Value::Null, Value::Null]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_amendment_that_does_not_help_is_not_tried_twice() {
    let body = r#"{"error":{"message":"stream_options"}}"#;
    let server = Server::start([Answer::json(400, body)]).await;
    let outcome = ask(&server.client(&[]), &question(), later()).await;
    assert_eq!(outcome, (vec![], Some(ModelError::Rejected)));
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_takes_no_forced_choice_is_left_the_choice() {
    let body = r#"{"error":{"message":"Thinking mode does not support this tool_choice"}}"#;
    let server = Server::start([Answer::json(400, body), Answer::hello()]).await;
    assert_eq!(ask(&server.client(&[]), &with_tools(ToolChoice::Required), later()).await.1, None);
    let sent: Vec<Value> = server.asked().iter().map(|asked| asked.body["tool_choice"].clone()).collect();
    assert_eq!(sent, [json!("required"), Value::Null]);
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_wants_its_reasoning_back_gets_it() {
    let body =
        r#"{"error":{"message":"The `reasoning_content` in the thinking mode must be passed back to the API."}}"#;
    let server = Server::start([Answer::json(400, body), Answer::hello()]).await;
    assert_eq!(ask(&server.client(&[]), &after_a_call(), later()).await.1, None);
    let sent: Vec<Value> =
        server.asked().iter().map(|asked| asked.body["messages"][1]["reasoning_content"].clone()).collect();
    assert_eq!(sent, [Value::Null, json!("I look.")]);
}

#[tokio::test(start_paused = true)]
async fn a_model_without_tools_is_told_apart_so_that_it_can_be_asked_by_text() {
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
        let outcome = ask(&server.client(&[]), &with_tools(ToolChoice::Auto), later()).await;
        assert_eq!(outcome, (vec![], Some(ModelError::ToolsUnsupported)), "{body}");
        assert_eq!(server.asked().len(), 1);
    }
}
