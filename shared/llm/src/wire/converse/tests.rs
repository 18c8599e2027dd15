use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use domain::{Message as ChatMessage, ProviderData, ReasoningItem, ToolCall, ToolChoice, ToolMessage};
use serde_json::{Value, json};

use super::request::encode;
use crate::wire::WireRequest;
use crate::wire::tests::{conversation, decode, decode_in_all_cuts, quirks_with};
use crate::{Delta, Finish, ModelError, NativeCall, Options, Prompt, Thinking, TokenUsage, Wire};

const CLAUDE: &str = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

/// Returns a frame with these headers, in this order.
pub(in crate::wire) fn frame(headers: &[(&'static str, &'static str)], payload: &[u8]) -> Vec<u8> {
    let mut message = Message::new(payload.to_vec());
    for (name, value) in headers {
        message = message.add_header(Header::new(*name, HeaderValue::String((*value).into())));
    }
    let mut bytes = Vec::new();
    write_message_to(&message, &mut bytes).unwrap();
    bytes
}

fn event(kind: &'static str, payload: &Value) -> Vec<u8> {
    let mut payload = payload.clone();
    payload["p"] = "abcdefgh".into();
    let headers = [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
    frame(&headers, payload.to_string().as_bytes())
}

fn start(index: u64, id: &str, name: &str) -> Vec<u8> {
    let call = json!({"toolUse": {"toolUseId": id, "name": name}});
    event("contentBlockStart", &json!({"contentBlockIndex": index, "start": call}))
}

fn delta(index: u64, delta: &Value) -> Vec<u8> {
    event("contentBlockDelta", &json!({"contentBlockIndex": index, "delta": delta}))
}

fn stop(index: u64) -> Vec<u8> {
    event("contentBlockStop", &json!({"contentBlockIndex": index}))
}

fn end(reason: &str) -> Vec<u8> {
    let usage =
        json!({"inputTokens": 12, "outputTokens": 34, "cacheReadInputTokens": 900, "cacheWriteInputTokens": 100});
    [event("messageStop", &json!({"stopReason": reason})), event("metadata", &json!({ "usage": usage }))].concat()
}

fn all_cuts(frames: &[Vec<u8>], name: &str) -> Vec<Result<Delta, ModelError>> {
    decode_in_all_cuts(Wire::Converse, true, &frames.concat(), name)
}

fn call(id: &str, arguments: &str) -> Delta {
    Delta::Call(NativeCall::new(id, "find", arguments))
}

fn usage() -> Delta {
    Delta::Usage(TokenUsage { input: 1012, cached: 900, cache_writes: 100, output: 34 })
}

#[test]
fn reply_is_decoded_at_every_cut() {
    let frames = [
        event("messageStart", &json!({"role": "assistant"})),
        delta(0, &json!({"reasoningContent": {"text": "Hm"}})),
        delta(0, &json!({"reasoningContent": {"signature": "c2ln"}})),
        delta(0, &json!({"reasoningContent": {"signature": "bmVk"}})),
        stop(0),
        delta(1, &json!({"reasoningContent": {"redactedContent": "c2VjcmV0"}})),
        stop(1),
        delta(2, &json!({"text": "我"})),
        delta(2, &json!({"text": " see."})),
        stop(2),
        start(3, "tooluse_A", "find"),
        delta(3, &json!({"toolUse": {"input": "{\"q\":"}})),
        delta(3, &json!({"toolUse": {"input": "1}"}})),
        stop(3),
        end("tool_use"),
    ];
    let expected = [
        Delta::Thinking("Hm".to_owned()),
        Delta::Reasoning(Box::new(ReasoningItem::Thinking { text: "Hm".to_owned(), signature: "c2lnbmVk".to_owned() })),
        Delta::Reasoning(Box::new(ReasoningItem::RedactedThinking { data: "c2VjcmV0".to_owned() })),
        Delta::Text("我 see.".to_owned()),
        call("tooluse_A", "{\"q\":1}"),
        usage(),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(all_cuts(&frames, "reply"), expected.map(Ok));
}

#[test]
fn calls_are_distinguished_by_their_block() {
    let frames = [
        start(0, "call_0", "find"),
        start(1, "call_0", "find"),
        delta(1, &json!({"toolUse": {"input": "{\"q\":"}})),
        delta(0, &json!({"toolUse": {"input": "{}"}})),
        delta(1, &json!({"toolUse": {"input": "2}"}})),
        start(2, "call_2", "find"),
        delta(2, &json!({"toolUse": {"input": ""}})),
        event(
            "contentBlockStart",
            &json!({"contentBlockIndex": 3, "start": {"toolUse": {"toolUseId": "s", "name": "run", "type": "server_tool_use"}}}),
        ),
        delta(3, &json!({"toolUse": {"input": "{}"}})),
        // Some models end with another reason after a call.
        end("end_turn"),
    ];
    let calls = [call("call_0", "{}"), call("call_0-1", "{\"q\":2}"), call("call_2", "{}")];
    let expected = calls.into_iter().chain([usage(), Delta::Finish(Finish::ToolCalls)]).map(Ok);
    assert_eq!(all_cuts(&frames, "calls"), expected.collect::<Vec<_>>());
}

#[test]
fn end_reasons_are_mapped() {
    let text = || delta(0, &json!({"text": "a"}));
    for (reason, expected) in [
        ("end_turn", Ok(Finish::Stop)),
        ("stop_sequence", Ok(Finish::Stop)),
        ("of a later version", Ok(Finish::Stop)),
        ("max_tokens", Ok(Finish::Length)),
        ("model_context_window_exceeded", Ok(Finish::Length)),
        ("guardrail_intervened", Ok(Finish::ContentFilter)),
        ("content_filtered", Ok(Finish::ContentFilter)),
        ("malformed_tool_use", Err(ModelError::BadResponse)),
        ("malformed_model_output", Err(ModelError::BadResponse)),
    ] {
        let found = all_cuts(&[text(), end(reason)], reason);
        assert_eq!(found.last(), Some(&expected.map(Delta::Finish)), "{reason}");
        assert_eq!(found[0], Ok(Delta::Text("a".to_owned())), "{reason}");
    }
}

#[test]
fn half_a_call_is_dropped_at_the_limit() {
    let frames = [start(0, "a", "find"), delta(0, &json!({"toolUse": {"input": "{\"q\""}})), end("max_tokens")];
    let expected = [Delta::CutCall, usage(), Delta::Finish(Finish::Length)];
    assert_eq!(all_cuts(&frames, "cut call"), expected.map(Ok));
}

#[test]
fn unknown_events_and_order_change_nothing() {
    let metadata =
        event("metadata", &json!({"usage": {"inputTokens": 1, "outputTokens": 2}, "metrics": {"latencyMs": 9}}));
    let frames = [
        metadata,
        event("initial-response", &json!({})),
        event("contentBlockStart", &json!({"contentBlockIndex": 0, "start": {}})),
        delta(0, &json!({"citation": {"title": "t"}})),
        frame(
            &[(":message-type", "event"), (":other", "x"), (":event-type", "contentBlockDelta")],
            br#"{"delta":{"text":"b"}}"#,
        ),
        event("messageStop", &json!({"stopReason": "end_turn"})),
    ];
    let usage = TokenUsage { input: 1, output: 2, ..TokenUsage::default() };
    let expected = [Delta::Text("b".to_owned()), Delta::Usage(usage), Delta::Finish(Finish::Stop)];
    assert_eq!(all_cuts(&frames, "order"), expected.map(Ok));
}

#[test]
fn exceptions_and_damage_end_the_reply() {
    let text = delta(0, &json!({"text": "a"}));
    let exception = |kind, payload: &[u8]| frame(&[(":message-type", "exception"), (":exception-type", kind)], payload);
    let mut damaged = delta(0, &json!({"text": "b"}));
    let last = damaged.len() - 20;
    damaged[last] ^= 1;
    let cases = [
        (
            exception("throttlingException", br#"{"message":"Too many tokens, please wait"}"#),
            ModelError::RateLimited { retry_after: None },
        ),
        (
            exception("throttlingException", br#"{"Message":"Slow down"}"#),
            ModelError::RateLimited { retry_after: None },
        ),
        (exception("serviceUnavailableException", b""), ModelError::Unavailable),
        (exception("ofALaterVersion", b"{}"), ModelError::Unavailable),
        (
            frame(&[(":message-type", "error"), (":error-code", "InternalError"), (":error-message", "x")], b""),
            ModelError::Unavailable,
        ),
        (
            frame(&[(":message-type", "event"), (":event-type", "contentBlockDelta")], b"{\"delta\""),
            ModelError::BadResponse,
        ),
        (damaged, ModelError::BadResponse),
        (vec![0xff; 40], ModelError::BadResponse),
        (text[..text.len() - 1].to_vec(), ModelError::Disconnected),
        (Vec::new(), ModelError::Disconnected),
    ];
    for (number, (last, error)) in cases.into_iter().enumerate() {
        let expected = [Ok(Delta::Text("a".to_owned())), Err(error)];
        assert_eq!(all_cuts(&[text.clone(), last], "exception"), expected, "case {number}");
    }
    let damaged = [text.clone(), end("end_turn"), vec![0xff; 9]];
    assert_eq!(all_cuts(&damaged, "damage").last(), Some(&Ok(Delta::Finish(Finish::Stop))), "the reply was complete");
    let late = [text, end("end_turn"), exception("throttlingException", b"{}")];
    assert_eq!(all_cuts(&late, "late").last(), Some(&Ok(Delta::Finish(Finish::Stop))), "the reply was complete");
}

#[test]
fn document_is_decoded_like_a_stream() {
    let content = json!([
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "s"}}},
        {"text": "Yes."},
        {"toolUse": {"toolUseId": "t", "name": "find", "input": {"q": 1}}},
    ]);
    let usage = json!({"inputTokens": 1, "outputTokens": 2, "totalTokens": 3});
    let body = json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use", "usage": usage});
    let found = decode(Wire::Converse, true, [body.to_string().as_bytes()]);
    let expected = [
        Delta::Thinking("Hm".to_owned()),
        Delta::Reasoning(Box::new(ReasoningItem::Thinking { text: "Hm".to_owned(), signature: "s".to_owned() })),
        Delta::Text("Yes.".to_owned()),
        call("t", "{\"q\":1}"),
        Delta::Usage(TokenUsage { input: 1, output: 2, ..TokenUsage::default() }),
        Delta::Finish(Finish::ToolCalls),
    ];
    assert_eq!(found, expected.map(Ok));
    for output in [json!({}), json!({"message": {"role": "assistant"}})] {
        let body = json!({"output": output, "stopReason": "content_filtered"}).to_string();
        assert_eq!(decode(Wire::Converse, true, [body.as_bytes()]), [Ok(Delta::Finish(Finish::ContentFilter))]);
    }
}

/// Returns path and body of a request to a model.
fn sent(model: &str, prompt: &Prompt, options: Options) -> (String, Value) {
    let quirks = quirks_with(model, Wire::Converse, "http://localhost", options);
    let parts = encode(WireRequest { model, origin: "o", prompt, quirks }).unwrap();
    (parts.path, serde_json::from_slice(&parts.body).unwrap())
}

#[test]
fn conversation_is_encoded_for_the_wire() {
    let prompt = Prompt { owner: Some(domain::Owner::new("ada")), ..conversation(ToolChoice::Required) };
    let (path, body) = sent(
        "mistral.mistral-large-2407-v1:0",
        &prompt,
        Options { temperature: Some(0.5), max_tokens: Some(9), ..Options::default() },
    );
    assert_eq!(path, "/model/mistral.mistral-large-2407-v1%3A0/converse-stream");
    let expected = json!({
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "hi"}]},
            {"role": "assistant", "content": [{"text": "hello"}]},
            {"role": "user", "content": [{"text": "time?"}]},
            {"role": "assistant", "content": [
                {"toolUse": {"toolUseId": "call00001", "name": "now", "input": {"zone": "CET"}}},
                {"toolUse": {"toolUseId": "call00002", "name": "now", "input": {}}},
            ]},
            {"role": "user", "content": [
                {"toolResult": {"toolUseId": "call00001", "content": [{"text": "noon"}]}},
                {"toolResult": {"toolUseId": "call00002", "content": [{"text": "{\"error\":\"no such zone\"}"}]}},
            ]},
        ],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "now", "description": prompt.tools[0].description, "inputSchema": {"json": {"type": "object"}}}}],
            "toolChoice": {"any": {}},
        },
        "inferenceConfig": {"maxTokens": 9, "temperature": 0.5},
        "requestMetadata": {"owner": "fdee430d40bd57deeac186cd9790033d0f06f909a8806e7ce6e717ab7c7d5029"},
    });
    assert_eq!(body, expected);
}

#[test]
fn profile_arn_is_one_segment_of_the_path() {
    let (path, _) = sent(
        "arn:aws:bedrock:eu-west-1:1:application-inference-profile/a",
        &conversation(ToolChoice::Auto),
        Options::default(),
    );
    assert_eq!(path, "/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A1%3Aapplication-inference-profile%2Fa/converse-stream");
}

#[test]
fn calls_and_results_pair_with_unique_ids() {
    let call = |id: &str, name: &str| ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: json!({}) };
    let reply = |calls: Vec<ToolCall>| ChatMessage::Assistant {
        text: " ".to_owned(),
        thinking: String::new(),
        calls,
        provider_data: None,
    };
    let result = |id: &str, content: &str| {
        let (call_id, name, content) = (id.to_owned(), "f".to_owned(), content.to_owned());
        ChatMessage::Tool(ToolMessage { call_id, name, ok: true, content })
    };
    let user = |text: &str| ChatMessage::user(text);
    let messages = vec![
        reply(vec![call("call_0", "f"), call("call_0", "g h")]),
        result("call_0", "1"),
        result("lost", "a result without a call"),
        result("call_0", ""),
        reply(vec![call("call_0", ""), call("call_1", "f")]),
        result("call_1", "2"),
        user("and?"),
        user("well?"),
    ];
    let prompt = Prompt { messages, ..conversation(ToolChoice::None) };
    let (_, body) = sent("other.model", &prompt, Options::default());
    let called = |id: &str, name: &str| json!({"toolUse": {"toolUseId": id, "name": name, "input": {}}});
    let outcome = |id: &str, text: &str| json!({"toolResult": {"toolUseId": id, "content": [{"text": text}]}});
    let expected = json!([
        {"role": "user", "content": [{"text": "…"}]},
        {"role": "assistant", "content": [called("call_1", "f"), called("call_2", "g_h")]},
        {"role": "user", "content": [outcome("call_1", "1"), {"text": "a result without a call"}, outcome("call_2", "…")]},
        {"role": "assistant", "content": [called("call_3", "_"), called("call_4", "f")]},
        {"role": "user", "content": [outcome("call_4", "2"), outcome("call_3", "…"), {"text": "and?"}, {"text": "well?"}]},
    ]);
    assert_eq!(body["messages"], expected);
    assert_eq!(body["toolConfig"].get("toolChoice"), None, "the wire has no choice `none`");
    let without_tools = Prompt { tools: [].into(), ..prompt };
    let (_, body) = sent("other.model", &without_tools, Options::default());
    assert!(!body.to_string().contains("tool"), "{body}");
}

#[test]
fn reasoning_of_claude_is_sent_back_unchanged() {
    let reasoning = vec![
        ReasoningItem::Thinking { text: "Look.\n\n查".to_owned(), signature: "c2ln".to_owned() },
        ReasoningItem::RedactedThinking { data: "c2VjcmV0".to_owned() },
    ];
    let mut prompt = conversation(ToolChoice::Auto);
    if let Some(ChatMessage::Assistant { provider_data, .. }) = prompt.messages.get_mut(4) {
        *provider_data = Some(Box::new(ProviderData { origin: "o".to_owned(), reasoning, ..ProviderData::default() }));
    }
    let options = Options {
        thinking: Some(Thinking::On),
        temperature: Some(0.7),
        top_p: Some(0.9),
        max_tokens: Some(8000),
        ..Options::default()
    };
    let (_, body) = sent(CLAUDE, &prompt, options);
    let expected = [
        json!({"reasoningContent": {"reasoningText": {"text": "Look.\n\n查", "signature": "c2ln"}}}),
        json!({"reasoningContent": {"redactedContent": "c2VjcmV0"}}),
    ];
    assert_eq!(body["messages"][3]["content"].as_array().unwrap()[..2], expected);
    assert_eq!(body["inferenceConfig"], json!({"maxTokens": 8000}), "no sampling with thinking");
    let thinking = json!({"type": "enabled", "budget_tokens": 4000});
    assert_eq!(body["additionalModelRequestFields"], json!({ "thinking": thinking }));
    assert_eq!(body.to_string().matches("cachePoint").count(), 2);
    assert_eq!(body["system"][1], json!({"cachePoint": {"type": "default"}}));
}
