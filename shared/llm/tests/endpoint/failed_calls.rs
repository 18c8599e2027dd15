//! Calls that a provider rejects because their arguments do not fit the schema: Groq's `tool_use_failed`.

use domain::ToolSpec;
use llm::{Delta, Finish, ModelError, NativeCall, Prompt};
use serde_json::json;

use crate::server::{Answer, Server, far_deadline, hello_prompt, read_reply};

const REJECTED: &str = r#"{"error":{"message":"tool call validation failed: parameters for tool add did not match schema: errors: [`/a`: expected integer, but got string]","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"[\n {\n \"name\": \"add\",\n \"parameters\": {\"a\": \"2\"}}]","status_code":400}}"#;

fn with_tool(name: &str) -> Prompt {
    let (name, description) = (name.to_owned(), String::new());
    let tool = ToolSpec { name, description, parameters: json!({"type": "object"}), examples: vec![] };
    Prompt { tools: [tool].into(), ..hello_prompt() }
}

fn in_stream(answer: Answer) -> Answer {
    answer.bytes(format!("event: error\ndata: {REJECTED}\n\n").as_bytes()).end()
}

#[tokio::test(start_paused = true)]
async fn f051_calls_that_a_provider_rejected_are_returned() {
    let call = NativeCall {
        id: String::new(),
        name: "add".to_owned(),
        arguments: r#"{"a": "2"}"#.to_owned(),
        signature: String::new(),
    };
    let end = [Delta::Call(call), Delta::Finish(Finish::ToolCalls)];
    for (answer, before) in [
        (Answer::json(400, REJECTED), vec![]),
        (in_stream(Answer::stream()), vec![]),
        (in_stream(Answer::stream().text("I add.")), vec![Delta::Text("I add.".to_owned())]),
    ] {
        let server = Server::start([answer]).await;
        let outcome = read_reply(&server.client(&[]), &with_tool("add"), far_deadline()).await;
        assert_eq!(outcome, ([before, end.to_vec()].concat(), None));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn f051_unreadable_or_unknown_rejected_calls_are_requested_again() {
    let required = r#"{"error":{"message":"Tool choice is required, but model did not call a tool","code":"tool_use_failed","failed_generation":"maybe"}}"#;
    for answer in [Answer::json(400, REJECTED), in_stream(Answer::stream()), Answer::json(400, required)] {
        let server = Server::start([answer.clone(), Answer::hello()]).await;
        let (_, error) = read_reply(&server.client(&[]), &with_tool("other"), far_deadline()).await;
        assert_eq!((error, server.requests().len()), (None, 2));
        let server = Server::start([answer]).await;
        let client = server.client(&[]);
        assert_eq!(read_reply(&client, &with_tool("other"), far_deadline()).await.1, Some(ModelError::BadResponse));
        assert!(!client.is_failing());
    }
}
