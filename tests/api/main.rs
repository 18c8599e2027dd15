//! The product as its clients see it: a file for each route or theme, over HTTP, against scripted servers on loopback.
#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends the test")]

mod account;
mod agents;
mod ai_sdk;
mod articles;
mod auth;
mod backup;
mod body;
mod built_in_tools;
mod cache;
mod call_formats;
mod call_like_text;
mod call_results;
mod circuit_breaker;
mod citation_links;
mod citations;
mod context;
mod context_windows;
mod conversations;
mod custom_tools;
mod deadline;
mod demo;
mod direct_results;
mod document_rounds;
mod documents;
mod documents_in_s3;
mod executions;
mod failover;
mod failover_mid_answer;
mod faulty_replies;
mod final_transaction;
mod idempotency;
mod interrupted_answers;
mod limits;
mod load_spike;
mod loopback;
mod made_up_results;
mod masking;
mod mcp;
mod model_faults;
mod model_options;
mod native_tool_faults;
mod native_tools;
mod ollama;
mod open_thinking;
mod openai;
mod openai_tools;
mod ownership;
mod private_models;
mod prompt_cache;
mod prompt_locale;
mod prompt_snapshots;
mod prompts;
mod provider_changes;
mod public_routes;
mod recordings;
mod recovery;
mod regenerate;
mod required_calls;
mod resume;
mod resume_positions;
mod round_texts;
mod routes;
mod search_context;
mod search_prefetch;
mod secrets;
mod settings;
mod smoke;
mod split_points;
mod stable_history;
mod stages;
mod stop;
mod stream;
mod structured_answers;
mod thinking;
mod tool_documents;
mod tool_import;
mod tool_rounds;
mod tool_support;
mod turns;
mod unusual_responses;
mod usage;
mod wires;

use serde_json::json;
use support::{Completion, EventStream, Gate, TestApp, search_call};

/// Starts a turn that has sent `半句` and waits at the gate; returns its stream and the conversation's id.
async fn start_half_answer(app: &TestApp, gate: &Gate) -> (EventStream, String) {
    app.model.queue_replies([Completion::new().text("半句").wait(gate).text("，整句。").end()]);
    let mut turn = app.open(&json!({ "message": "说" })).await;
    let start = turn.next().await.unwrap();
    assert_eq!(turn.read_until("content").await["content"], "半句");
    gate.wait_until_reached().await;
    (turn, start["conversationId"].as_str().unwrap().to_owned())
}
