//! What a reply of each provider makes the next request contain, and that other models receive none of it.

use std::collections::BTreeMap;

use domain::{Message, ProviderData, ReasoningItem, ToolCall, ToolChoice, ToolMessage};
use serde_json::{Value, json};

use super::super::*;
use super::{conversation, decode, quirks_with};
use crate::{Delta, Options, Prompt, Thinking};

/// Returns the body of the request that follows a reply, for a model with this origin.
fn next_request(wire: Wire, model: &str, reply: &str, origin: &str) -> Value {
    let prompt = next_prompt(wire, reply);
    let options = Options { thinking: Some(Thinking::On), ..Options::default() };
    let quirks = quirks_with(model, wire, "http://localhost", options);
    let encoded = encode(WireRequest { model, origin, prompt: &prompt, quirks }).unwrap();
    serde_json::from_slice(&encoded.body).unwrap()
}

/// Decodes a reply and answers its calls.
fn next_prompt(wire: Wire, reply: &str) -> Prompt {
    let mut data = ProviderData { origin: "own".to_owned(), ..ProviderData::default() };
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    for delta in decode(wire, false, [reply.as_bytes()]) {
        match delta.unwrap() {
            Delta::Reasoning(item) => data.reasoning.push(*item),
            Delta::Call(call) => {
                let id = format!("call_{}", calls.len());
                if !call.signature.is_empty() {
                    data.call_signatures.insert(id.clone(), call.signature);
                }
                let (call_id, content) = (id.clone(), "noon".to_owned());
                results.push(Message::Tool(ToolMessage { call_id, name: call.name.clone(), ok: true, content }));
                calls.push(ToolCall { id, name: call.name, arguments: json!({}) });
            }
            _ => {}
        }
    }
    let user = Message::user("time?");
    let provider_data = Some(Box::new(data));
    let called = Message::Assistant { text: "I look.".to_owned(), thinking: "hm".to_owned(), calls, provider_data };
    let messages = [user, called].into_iter().chain(results).collect();
    Prompt { messages, ..conversation(ToolChoice::Auto) }
}

fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat()
}

fn anthropic_reply() -> String {
    let start =
        |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    events(&[
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "h"})),
        delta(0, json!({"type": "thinking_delta", "thinking": "m"})),
        delta(0, json!({"type": "signature_delta", "signature": "EqQ"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "Emw"})),
        stop(1),
        start(2, json!({"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}})),
        stop(2),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ])
}

#[test]
fn thinking_blocks_return_to_their_model_only() {
    let blocks = |model, origin| {
        let body = next_request(Wire::Anthropic, model, &anthropic_reply(), origin);
        (body["messages"][1]["content"].clone(), body["thinking"].clone())
    };
    let text = json!({"type": "text", "text": "I look."});
    let call = json!({"type": "tool_use", "id": "call_1", "name": "now", "input": {}});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "EqQ"});
    let redacted = json!({"type": "redacted_thinking", "data": "Emw"});
    let all = json!([thinking, redacted, text, call]);
    assert_eq!(blocks("claude-opus-4-6", "own"), (all.clone(), json!({"type": "adaptive"})));
    let budget = json!({"type": "enabled", "budget_tokens": 4096});
    assert_eq!(blocks("claude-sonnet-4-5", "own"), (all, budget), "it goes on thinking after a call");
    assert_eq!(blocks("claude-sonnet-4-5", "other"), (json!([text, call]), Value::Null));
}

fn gemini_reply() -> String {
    let call = json!({"functionCall": {"name": "now", "args": {}}, "thoughtSignature": "CtE"});
    let second = json!({"functionCall": {"name": "now", "args": {}}});
    let text = json!({"text": "I look.", "thoughtSignature": "CtT"});
    events(&[json!({"candidates": [{"content": {"parts": [text, call, second]}, "finishReason": "STOP"}]})])
}

#[test]
fn signatures_return_to_gemini_only() {
    let parts =
        |model, origin| next_request(Wire::Gemini, model, &gemini_reply(), origin)["contents"][1]["parts"].clone();
    let call = |signature: Option<&str>| {
        let mut part = json!({"functionCall": {"name": "now", "args": {}}});
        if let Some(signature) = signature {
            part["thoughtSignature"] = signature.into();
        }
        part
    };
    let text = json!({"text": "I look.", "thoughtSignature": "CtT"});
    assert_eq!(parts("gemini-3-pro-preview", "own"), json!([text, call(Some("CtE")), call(None)]));
    let (text, skip) = (json!({"text": "I look."}), Some("skip_thought_signature_validator"));
    assert_eq!(parts("gemini-3-pro-preview", "other"), json!([text, call(skip), call(skip)]));
    assert_eq!(parts("gemini-2.5-flash", "other"), json!([text, call(None), call(None)]));
}

#[test]
fn extra_content_returns_with_its_call() {
    let signature = json!({"google": {"thought_signature": "CtE"}});
    let call =
        json!({"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}, "extra_content": signature});
    let reply = events(&[json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})]);
    let sent =
        |origin| next_request(Wire::Openai, "gemini-3-pro", &reply, origin)["messages"][2]["tool_calls"][0].clone();
    assert_eq!(sent("own")["extra_content"], signature);
    assert_eq!(sent("other").get("extra_content"), None);
}

#[test]
fn reasoning_details_return_joined_and_in_order() {
    let chunk = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let text = |text: &str| json!({"type": "reasoning.text", "text": text, "format": "f", "index": 0});
    let secret = json!({"type": "reasoning.encrypted", "data": "gAA", "id": "rs_1", "format": "f", "index": 1});
    let call = json!({"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}});
    let reply = events(&[
        chunk(json!({"reasoning": "h", "reasoning_details": [text("h")]})),
        chunk(json!({"reasoning": "m", "reasoning_details": [text("m"), {"type": "reasoning.new", "index": {}}]})),
        chunk(json!({"reasoning_details": [secret.clone()]})),
        chunk(json!({"tool_calls": [call], "reasoning_details": []})),
        json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
    ]);
    let sent = |origin| next_request(Wire::Openai, "m", &reply, origin)["messages"][2]["reasoning_details"].clone();
    assert_eq!(sent("own"), json!([text("hm"), secret]));
    assert_eq!(sent("other"), Value::Null);
    let thinking: String = decode(Wire::Openai, false, [reply.as_bytes()])
        .into_iter()
        .filter_map(|delta| if let Ok(Delta::Thinking(text)) = delta { Some(text) } else { None })
        .collect();
    assert_eq!(thinking, "hm", "shown once");
}

#[test]
fn reasoning_content_returns_within_the_turn() {
    let call = json!({"index": 0, "id": "a", "function": {"name": "now", "arguments": "{}"}});
    let reply = events(&[json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})]);
    let sent = |url: &str, origin| {
        let mut quirks = quirks_with("glm-5", Wire::Openai, url, Options::default());
        quirks.parameters.thinking = None;
        let prompt = next_prompt(Wire::Openai, &reply);
        let request = WireRequest { model: "glm-5", origin, prompt: &prompt, quirks };
        let body: Value = serde_json::from_slice(&encode(request).unwrap().body).unwrap();
        body["messages"][2]["reasoning_content"].clone()
    };
    assert_eq!(sent("https://open.bigmodel.cn/api/paas/v4", "own"), "hm");
    assert_eq!(sent("https://open.bigmodel.cn/api/paas/v4", "other"), Value::Null);
    assert_eq!(sent("http://localhost", "own"), Value::Null);
}

fn responses_reply() -> String {
    let done = |position: u32, item: Value| json!({"type": "response.output_item.done", "output_index": position, "item": item});
    let reasoning = |data: &str| json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": data});
    let call =
        |id: &str| json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": "now", "arguments": "{}"});
    events(&[
        done(0, reasoning("gA1")),
        done(1, json!({"type": "message", "content": [{"type": "output_text", "text": "I look."}]})),
        done(2, call("a")),
        done(3, reasoning("gA2")),
        done(4, call("b")),
        done(5, reasoning("gA3")),
        json!({"type": "response.completed", "response": {"status": "completed"}}),
    ])
}

#[test]
fn encrypted_reasoning_returns_before_its_call() {
    let input = |origin| {
        let body = next_request(Wire::Responses, "gpt-5-codex", &responses_reply(), origin);
        body["input"].as_array().unwrap()[1..].to_vec()
    };
    let text = json!({"type": "message", "role": "assistant", "content": "I look."});
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "now", "arguments": "{}"});
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "noon"});
    let reasoning = |data: &str| json!({"type": "reasoning", "summary": [], "encrypted_content": data});
    let (a, b) = ("call_0", "call_1");
    let own = [reasoning("gA1"), text.clone(), call(a), reasoning("gA2"), call(b), result(a), result(b)];
    assert_eq!(input("own"), own);
    assert_eq!(input("other"), [text, call(a), call(b), result(a), result(b)]);
}

#[test]
fn data_is_sent_to_no_other_wire() {
    let call_signatures = BTreeMap::from([("a".to_owned(), "CANARY".to_owned())]);
    let reasoning = vec![
        ReasoningItem::Thinking { text: "CANARY".to_owned(), signature: "CANARY".to_owned() },
        ReasoningItem::TextSignature { signature: "CANARY".to_owned() },
        ReasoningItem::EncryptedReasoning { data: "CANARY".to_owned(), calls: 0 },
    ];
    let data = ProviderData { origin: "own".to_owned(), call_signatures, reasoning };
    let mut prompt = conversation(ToolChoice::Auto);
    for message in &mut prompt.messages {
        if let Message::Assistant { provider_data, .. } = message {
            *provider_data = Some(Box::new(data.clone()));
        }
    }
    for wire in [Wire::Openai, Wire::Responses, Wire::Ollama, Wire::Anthropic, Wire::Gemini, Wire::Converse] {
        let quirks = quirks_with("m", wire, "http://localhost", Options::default());
        let encoded = encode(WireRequest { model: "m", origin: "other", prompt: &prompt, quirks }).unwrap();
        assert!(!String::from_utf8(encoded.body).unwrap().contains("CANARY"), "{wire:?}");
    }
}

#[test]
fn ids_for_mistral_agree_between_call_and_result() {
    let prompt = conversation(ToolChoice::Auto);
    let quirks = quirks_with("mistral-large-latest", Wire::Openai, "https://api.mistral.ai/v1", Options::default());
    let encoded = encode(WireRequest { model: "m", origin: "o", prompt: &prompt, quirks }).unwrap();
    let body: Value = serde_json::from_slice(&encoded.body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let calls = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let calls: Vec<_> = calls.map(|call| call["id"].as_str().unwrap()).collect();
    let results: Vec<_> = messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!((calls.len(), &calls), (2, &results));
    assert!(calls.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())), "{calls:?}");
}
