//! A conversation that changes its provider at each turn, with a tool call in each. The endpoints refuse what the real ones
//! refuse: ids of another form, unknown fields, and calls and thinking without their signatures.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value, json};
use support::{Completion, FakeEndpoint, Reply, Request, TestApp};

use crate::search_call;

const ANTHROPIC_SIGNATURE: &str = "EqQBCkYIAnthropic";
const BEDROCK_SIGNATURE: &str = "EqQBCkYIBedrock";
const GEMINI_SIGNATURE: &str = "CtEBGoogle";
const ENCRYPTED_REASONING: &str = "gAAAAABpPDIV";
const SEARCH: &str = r#"{"query":"天气"}"#;

/// A provider: its wire, its model, what it refuses, and its replies.
struct Provider {
    name: &'static str,
    wire: &'static str,
    model: &'static str,
    fault: fn(&Value) -> Option<String>,
    call: fn() -> Reply,
    text: fn() -> Reply,
}

static PROVIDERS: [Provider; 7] = [
    Provider {
        name: "gpt",
        wire: "openai",
        model: "gpt-4o",
        fault: |body| fault_of_chat(body, |id| id.len() <= 40),
        call: || Completion::new().call(0, "call_cclGbjTQkZDEnnHrRiU0n7NO", "search_web", SEARCH).end(),
        text: || Completion::of(["gpt。"]),
    },
    Provider {
        name: "claude",
        wire: "anthropic",
        model: "claude-sonnet-4-5",
        fault: fault_of_anthropic,
        call: anthropic_call,
        text: || anthropic_reply(&[json!({ "type": "text", "text": "claude。" })], "end_turn"),
    },
    Provider {
        name: "gemini",
        wire: "gemini",
        model: "gemini-3-pro-preview",
        fault: fault_of_gemini,
        call: || {
            let call = json!({ "name": "search_web", "args": { "query": "天气" } });
            gemini_reply(&json!({ "functionCall": call, "thoughtSignature": GEMINI_SIGNATURE }))
        },
        text: || gemini_reply(&json!({ "text": "gemini。" })),
    },
    Provider {
        name: "codex",
        wire: "responses",
        model: "gpt-5-codex",
        fault: fault_of_responses,
        call: || {
            let call = json!({
                "type": "function_call", "id": "fc_01830d", "call_id": "call_AB6AaRZ1FYZB2RwS6A5vbdqn",
                "name": "search_web", "arguments": SEARCH,
            });
            responses_reply(&[
                json!({ "type": "reasoning", "id": "rs_01830d", "summary": [], "encrypted_content": ENCRYPTED_REASONING }),
                call,
            ])
        },
        text: || {
            let content = json!([{ "type": "output_text", "text": "codex。" }]);
            responses_reply(&[json!({ "type": "message", "id": "msg_01830d", "content": content })])
        },
    },
    Provider {
        name: "mistral",
        wire: "openai",
        model: "mistral-large-latest",
        fault: |body| fault_of_chat(body, |id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        call: || Completion::new().call(0, "D681PevKs", "search_web", SEARCH).end(),
        text: || Completion::of(["mistral。"]),
    },
    Provider {
        name: "text",
        wire: "openai",
        model: "m",
        fault: |body| body.get("tools").map(|_| "m does not support tools".to_owned()),
        call: || Completion::of([search_call("天气")]),
        text: || Completion::of(["text。"]),
    },
    Provider {
        name: "bedrock",
        wire: "converse",
        model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        fault: fault_of_converse,
        call: || {
            let call = json!({ "toolUse": { "toolUseId": "call_0", "name": "search_web" } });
            let reasoning = json!({ "text": "hm", "signature": BEDROCK_SIGNATURE });
            converse_reply(
                vec![
                    ("contentBlockDelta", json!({ "delta": { "reasoningContent": reasoning } })),
                    ("contentBlockStop", json!({})),
                    ("contentBlockStart", json!({ "contentBlockIndex": 1, "start": call })),
                    (
                        "contentBlockDelta",
                        json!({ "contentBlockIndex": 1, "delta": { "toolUse": { "input": SEARCH } } }),
                    ),
                ],
                "tool_use",
            )
        },
        text: || converse_reply(vec![("contentBlockDelta", json!({ "delta": { "text": "bedrock。" } }))], "end_turn"),
    },
];

fn converse_reply(mut events: Vec<(&'static str, Value)>, reason: &str) -> Reply {
    events.push(("messageStop", json!({ "stopReason": reason })));
    FakeEndpoint::binary_events(events)
}

fn anthropic_call() -> Reply {
    let thinking = json!({ "type": "thinking", "thinking": "hm", "signature": ANTHROPIC_SIGNATURE });
    let call = json!({ "type": "tool_use", "id": "toolu_01MKS", "name": "search_web", "input": { "query": "天气" } });
    anthropic_reply(&[thinking, call], "tool_use")
}

fn anthropic_reply(blocks: &[Value], reason: &str) -> Reply {
    let usage = json!({ "usage": { "input_tokens": 3000, "output_tokens": 1 } });
    let mut events = vec![json!({ "type": "message_start", "message": usage })];
    for (index, block) in (0..).zip(blocks) {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events
        .push(json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 5 } }));
    events.push(json!({ "type": "message_stop" }));
    FakeEndpoint::events(events)
}

fn gemini_reply(part: &Value) -> Reply {
    FakeEndpoint::events([json!({ "candidates": [{ "content": { "parts": [part] }, "finishReason": "STOP" }] })])
}

fn responses_reply(items: &[Value]) -> Reply {
    let mut events = Vec::new();
    for (position, item) in items.iter().enumerate() {
        events.push(json!({ "type": "response.output_item.done", "output_index": position, "item": item }));
    }
    events.push(json!({ "type": "response.completed", "response": { "status": "completed" } }));
    FakeEndpoint::events(events)
}

/// What the Responses API refuses: ids of items that it does not store, foreign reasoning, reasoning without an item of the
/// model after it, a call of its own without the reasoning before it, and results without their call.
fn fault_of_responses(body: &Value) -> Option<String> {
    let items = body["input"].as_array()?;
    if let Some(id) = items.iter().find_map(|item| item["id"].as_str()) {
        return Some(format!("Item with id '{id}' not found. Items are not persisted when `store` is set to false."));
    }
    let mut ids = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match item["type"].as_str()? {
            "reasoning" if item["encrypted_content"] != ENCRYPTED_REASONING => {
                return Some("The encrypted content could not be verified.".to_owned());
            }
            "reasoning" if items.get(at + 1).is_none_or(|next| next["type"] != "function_call") => {
                return Some("Item of type 'reasoning' was provided without its required following item.".to_owned());
            }
            "function_call" => {
                let id = item["call_id"].as_str()?;
                if id.starts_with("call_AB6") && items[at - 1]["type"] != "reasoning" {
                    return Some("Item was provided without its required 'reasoning' item.".to_owned());
                }
                ids.push(id);
            }
            "function_call_output" if !ids.contains(&item["call_id"].as_str()?) => {
                return Some("No tool call found for function call output.".to_owned());
            }
            _ => {}
        }
    }
    None
}

/// What an endpoint with OpenAI's protocol refuses: unknown fields, ids of another form, results without their call.
fn fault_of_chat(body: &Value, is_id: fn(&str) -> bool) -> Option<String> {
    let mut ids = Vec::new();
    for message in body["messages"].as_array()? {
        let known = ["role", "content", "tool_calls", "tool_call_id"];
        if let Some(unknown) = unknown_field(message.as_object()?, &known) {
            return Some(format!("messages: Extra inputs are not permitted: {unknown}"));
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            if let Some(unknown) = unknown_field(call.as_object()?, &["id", "type", "function"]) {
                return Some(format!("messages.tool_calls: Extra inputs are not permitted: {unknown}"));
            }
            ids.push(call["id"].as_str()?);
        }
        let result = message["tool_call_id"].as_str();
        if let Some(id) = result.filter(|id| !ids.contains(id)) {
            return Some(format!("No tool call with id {id}"));
        }
    }
    let wrong = ids.into_iter().find(|id| !is_id(id))?;
    Some(format!("Tool call id was {wrong} but must be a-z, A-Z, 0-9, with a length of 9."))
}

fn unknown_field<'a>(object: &'a Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|key| !known.contains(key))
}

/// What Anthropic refuses while thinking is on: a running turn whose calls lack the thinking before them.
fn fault_of_anthropic(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    if body.to_string().matches("cache_control").count() > 4 {
        return Some("A maximum of 4 blocks with cache_control may be provided.".to_owned());
    }
    let results = messages.last()?["content"].as_array()?;
    if body.get("thinking").is_none() || results[0]["type"] != "tool_result" {
        return None;
    }
    let first = &messages[messages.len() - 2]["content"][0];
    let is_signed = first["type"] == "thinking" && first["signature"] == ANTHROPIC_SIGNATURE;
    (!is_signed).then(|| "Expected `thinking` or `redacted_thinking`, but found `tool_use`.".to_owned())
}

/// What Converse refuses: sides that do not alternate, ids that are used twice, calls without their results, and while
/// thinking is on a running turn whose calls lack the reasoning before them.
fn fault_of_converse(body: &Value) -> Option<String> {
    let messages = body["messages"].as_array()?;
    let (mut ids, mut pending) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        if message["role"] != ["user", "assistant"][at % 2] {
            return Some("A conversation must alternate between user and assistant roles.".to_owned());
        }
        let blocks = message["content"].as_array()?;
        let field = |block: &Value, name: &str| block[name]["toolUseId"].as_str().map(str::to_owned);
        let results: Vec<_> = blocks.iter().filter_map(|block| field(block, "toolResult")).collect();
        if results != std::mem::take(&mut pending) {
            return Some("Expected toolResult blocks for the toolUse blocks of the previous turn.".to_owned());
        }
        pending = blocks.iter().filter_map(|block| field(block, "toolUse")).collect();
        ids.extend(pending.clone());
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    if ids.len() < count {
        return Some("The toolUse ids must be unique.".to_owned());
    }
    let is_running = messages.last()?["content"][0].get("toolResult").is_some();
    let signature = &messages[messages.len() - 2]["content"][0]["reasoningContent"]["reasoningText"]["signature"];
    let is_signed = !is_running || signature == BEDROCK_SIGNATURE;
    (!is_signed).then(|| "Expected `thinking` or `redacted_thinking`, but found `tool_use`.".to_owned())
}

/// What Gemini 3 refuses: calls without a signature.
fn fault_of_gemini(body: &Value) -> Option<String> {
    let parts =
        body["contents"].as_array()?.iter().flat_map(|content| content["parts"].as_array().into_iter().flatten());
    let mut calls = parts.filter(|part| part.get("functionCall").is_some());
    calls.find(|part| part["thoughtSignature"].as_str().is_none_or(str::is_empty))?;
    Some("function call `search_web` in the 2. content block is missing a `thought_signature`.".to_owned())
}

/// Whether a request continues after the result of a call.
fn has_result(provider: &Provider, body: &Value) -> bool {
    match provider.wire {
        "anthropic" => body["messages"].as_array().unwrap().last().unwrap()["content"][0]["type"] == "tool_result",
        "converse" => body["messages"].as_array().unwrap().last().unwrap()["content"][0].get("toolResult").is_some(),
        "responses" => body["input"].as_array().unwrap().last().unwrap()["type"] == "function_call_output",
        "gemini" => body["contents"].as_array().unwrap().last().unwrap()["parts"][0].get("functionResponse").is_some(),
        _ => {
            let last = body["messages"].as_array().unwrap().last().unwrap();
            last["role"] == "tool" || last["content"].as_str().unwrap().contains("<search_results>")
        }
    }
}

fn respond(provider: &Provider, request: &Request, refusals: &AtomicUsize) -> Reply {
    let body = request.json();
    if let Some(message) = (provider.fault)(&body) {
        refusals.fetch_add(1, Ordering::SeqCst);
        return Reply::json(400, &json!({ "error": { "message": message, "type": "invalid_request_error" } }));
    }
    if has_result(provider, &body) { (provider.text)() } else { (provider.call)() }
}

#[tokio::test]
async fn conversation_with_calls_moves_between_providers() {
    let refusals = Arc::new(AtomicUsize::new(0));
    let (mut endpoints, mut rows) = (Vec::new(), Vec::new());
    for provider in &PROVIDERS {
        let endpoint = FakeEndpoint::start().await;
        let counted = Arc::clone(&refusals);
        endpoint.respond_with(move |request| respond(provider, request, &counted));
        let tools = if provider.name == "text" { "prompt" } else { "native" };
        rows.push(json!({
            "name": provider.name, "wire": provider.wire, "baseUrl": endpoint.url(), "model": provider.model,
            "apiKeyVar": "X_KEY", "tools": tools,
        }));
        endpoints.push(endpoint);
    }
    let options = r#"{"claude":{"thinking":"on"},"bedrock":{"thinking":"on"}}"#;
    let models = Value::from(rows).to_string();
    let settings = [("MODELS", &*models), ("MODEL_OPTIONS", options), ("X_KEY", "k"), ("DEFAULT_MODEL", "gpt")];
    let app = TestApp::start_with(&settings).await;
    let mut conversation = None;
    let order = ["gpt", "bedrock", "gemini", "codex", "mistral", "text", "bedrock", "claude"];
    for name in order.into_iter().chain(["codex", "gemini", "claude", "bedrock", "gpt"]) {
        let mut message = json!({ "message": "天气？", "modelType": name });
        if let Some(id) = &conversation {
            message["conversationId"] = Value::from(String::clone(id));
        }
        let turn = app.chat(&message).await;
        assert_eq!((turn.content(), turn.finish_reason()), (format!("{name}。"), "stop"));
        conversation = Some(turn.conversation_id());
    }
    assert_eq!(refusals.load(Ordering::SeqCst), 0);
    for (provider, endpoint) in PROVIDERS.iter().zip(&endpoints) {
        for request in endpoint.requests() {
            let body = request.json().to_string();
            assert!(provider.name == "claude" || !body.contains(ANTHROPIC_SIGNATURE), "{}", provider.name);
            assert!(provider.name == "bedrock" || !body.contains(BEDROCK_SIGNATURE), "{}", provider.name);
            assert!(provider.name == "gemini" || !body.contains(GEMINI_SIGNATURE), "{}", provider.name);
            assert!(provider.name == "codex" || !body.contains(ENCRYPTED_REASONING), "{}", provider.name);
        }
    }
    let later = endpoints[2].requests()[2].json().to_string();
    assert!(later.contains(GEMINI_SIGNATURE), "a later turn has the signature of an earlier one: {later}");
    let later = endpoints[3].requests()[2].json().to_string();
    assert!(later.contains(ENCRYPTED_REASONING), "a later turn has the reasoning of an earlier one: {later}");
}
