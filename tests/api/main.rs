//! The product as its clients see it: a file for each route or theme, over HTTP, against scripted servers on loopback.
#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends the test")]

mod accounts;
mod agents;
mod auth;
mod backup;
mod body;
mod broken_answers;
mod cache;
mod call_forms;
mod call_results;
mod capabilities;
mod context;
mod conversations;
mod crowd;
mod cuts;
mod deadline;
mod demo;
mod direct;
mod executions;
mod failover;
mod going_on;
mod idempotency;
mod limits;
mod loopback;
mod masking;
mod mcp;
mod me;
mod model_answers;
mod model_faults;
mod native;
mod native_faults;
mod not_calls;
mod ollama;
mod only_for;
mod openai;
mod openai_tools;
mod options;
mod outages;
mod pages;
mod pre_search;
mod prompts;
mod recorded;
mod recordings;
mod regenerate;
mod resume;
mod routes;
mod secrets;
mod settings;
mod smoke;
mod stop;
mod stream;
mod thinking;
mod tool_rounds;
mod tools;
mod tools_as_rows;
mod turn_ends;
mod turns;
mod ui_chat;
mod usage;
mod wires;

use serde_json::json;
use support::{Completion, EventStream, Gate, TestApp};

/// A search call in the text format that the prompt teaches.
fn call(query: &str) -> String {
    format!("<tool_call>{{\"tool\": \"search_web\", \"query\": \"{query}\"}}</tool_call>")
}

/// Starts a turn that has sent `半句` and waits at the gate; returns its stream and the conversation's id.
async fn half_said(app: &TestApp, gate: &Gate) -> (EventStream, String) {
    app.model.replies([Completion::new().text("半句").wait(gate).text("，整句。").end()]);
    let mut turn = app.open(&json!({ "message": "说" })).await;
    let start = turn.next().await.unwrap();
    assert_eq!(turn.until("content").await["content"], "半句");
    gate.reached().await;
    (turn, start["conversationId"].as_str().unwrap().to_owned())
}
