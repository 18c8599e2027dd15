//! The same turn over every wire: users see equal events, and each endpoint receives its own format.

use serde_json::{Value, json};
use support::{Completion, FakeEndpoint, FakeOllama, NativeApp, Reply, TestApp};

use crate::{ollama, search_call};

const QUESTION: &str = "天气？";

/// The events of a turn on the text path: content `好的。`, a search for `天气`, then content `晴。`.
async fn expected_events() -> Value {
    let app = TestApp::start().await;
    app.model.queue_replies([Completion::of(["好的。", &search_call("天气")]), Completion::of(["晴。"])]);
    run_turn(&app).await
}

async fn run_turn(app: &TestApp) -> Value {
    let turn = app.chat(&json!({ "message": QUESTION, "toolChoice": { "name": "search_web" } })).await;
    let mut events = turn.normalise();
    events[0]["model"] = "MODEL".into();
    events
}

/// Runs the turn with a model over this wire; returns its events and the bodies of its two requests.
async fn run_over_wire(wire: &str, replies: [Reply; 2]) -> (Value, [Value; 2]) {
    let endpoint = FakeEndpoint::start().await;
    let entry = json!([{ "name": "x", "wire": wire, "baseUrl": endpoint.url(), "model": "m", "apiKeyVar": "X_KEY" }]);
    let app = TestApp::start_with(&[("MODELS", &entry.to_string()), ("X_KEY", "k"), ("DEFAULT_MODEL", "x")]).await;
    endpoint.queue_replies(replies);
    let events = run_turn(&app).await;
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 2);
    (events, [requests[0].json(), requests[1].json()])
}

fn has_search_result(text: &Value) -> bool {
    text.as_str().is_some_and(|text| text.contains("天气：第1页"))
}

#[tokio::test]
async fn openai_wire_gives_the_expected_events() {
    let app = NativeApp::start().await;
    let first = Completion::new().text("好的。").call(0, "a", "search_web", "{\"query\":\"天气\"}").end();
    app.model.queue_replies([first, Completion::of(["晴。"])]);
    assert_eq!(run_turn(&app).await, expected_events().await);
}

#[tokio::test]
async fn ollama_wire_gives_the_expected_events() {
    let fake = FakeOllama::start(&["completion", "tools"]).await;
    let app = ollama::start_with_ollama(&fake).await;
    let function = json!({ "name": "search_web", "arguments": { "query": "天气" } });
    let message = json!({ "role": "assistant", "content": "好的。", "tool_calls": [{ "function": function }] });
    let first = FakeOllama::line_stream([FakeOllama::message_line(&message), FakeOllama::done_line("stop")]);
    fake.queue_replies([first, ollama::text_reply("晴。")]);
    assert_eq!(run_turn(&app).await, expected_events().await);
}

#[tokio::test]
async fn responses_wire_gives_the_expected_events() {
    let event = |kind: &str, position: u32, more: Value| {
        let mut event = json!({ "type": format!("response.{kind}"), "output_index": position });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let text = |position, text: &str| event("output_text.delta", position, json!({ "delta": text }));
    let arguments = |delta: &str| event("function_call_arguments.delta", 2, json!({ "delta": delta }));
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let end = || event("completed", 0, json!({ "response": { "status": "completed", "usage": usage } }));
    let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAAAB" });
    let call = |arguments: &str| {
        let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search_web", "arguments": arguments });
        json!({ "item": call })
    };
    let replies = [
        FakeEndpoint::events([
            event("output_item.done", 0, json!({ "item": reasoning })),
            text(1, "好的。"),
            event("output_item.added", 2, call("")),
            arguments("{\"query\":"),
            arguments("\"天气\"}"),
            event("output_item.done", 2, call("{\"query\":\"天气\"}")),
            end(),
        ]),
        FakeEndpoint::events([text(0, "晴。"), end()]),
    ];
    let (events, [first, second]) = run_over_wire("responses", replies).await;
    assert_eq!(events, expected_events().await);
    assert_eq!(first["tool_choice"], json!({ "type": "function", "name": "search_web" }));
    assert_eq!(first["tools"][0]["parameters"]["required"], json!(["query"]));
    assert!(first["instructions"].as_str().is_some_and(|text| !text.is_empty()));
    assert_eq!((second.get("tool_choice"), &second["store"]), (None, &json!(false)));
    let input = second["input"].as_array().unwrap();
    let kinds: Vec<_> = input.iter().map(|item| item["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "reasoning", "message", "function_call", "function_call_output"]);
    assert_eq!((&input[1]["encrypted_content"], &input[2]["content"]), (&json!("gAAAAAB"), &json!("好的。")));
    assert_eq!(input[3]["arguments"], "{\"query\":\"天气\"}");
    assert_eq!(input[3]["call_id"], input[4]["call_id"]);
    assert!(has_search_result(&input[4]["output"]));
}

#[tokio::test]
async fn anthropic_wire_gives_the_expected_events() {
    let block =
        |index: u32, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u32, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let start =
        || json!({ "type": "message_start", "message": { "usage": { "input_tokens": 10, "output_tokens": 1 } } });
    let end = |reason: &str| json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": { "output_tokens": 5 } });
    let text = |text: &str| delta(0, json!({ "type": "text_delta", "text": text }));
    let input = |part: &str| delta(1, json!({ "type": "input_json_delta", "partial_json": part }));
    let stop = || json!({ "type": "message_stop" });
    let tool_use = json!({ "type": "tool_use", "id": "toolu_1", "name": "search_web", "input": {} });
    let replies = [
        FakeEndpoint::events([
            start(),
            text("好的。"),
            block(1, tool_use),
            input("{\"query\":"),
            input("\"天气\"}"),
            end("tool_use"),
            stop(),
        ]),
        FakeEndpoint::events([start(), text("晴。"), end("end_turn"), stop()]),
    ];
    let (events, [first, second]) = run_over_wire("anthropic", replies).await;
    assert_eq!(events, expected_events().await);
    assert_eq!(first["tool_choice"], json!({ "type": "tool", "name": "search_web" }));
    assert_eq!(first["tools"][0]["input_schema"]["required"], json!(["query"]));
    assert_eq!((second.get("tool_choice"), &second["messages"][1]["role"]), (None, &json!("assistant")));
    let (used, result) = (&second["messages"][1]["content"][1], &second["messages"][2]["content"][0]);
    assert_eq!(json!([used["type"], used["input"]]), json!(["tool_use", { "query": "天气" }]));
    assert_eq!((&result["type"], &result["tool_use_id"]), (&json!("tool_result"), &used["id"]));
    assert!(has_search_result(&result["content"]));
}

#[tokio::test]
async fn gemini_wire_gives_the_expected_events() {
    let chunk = |parts: Value, more: Value| {
        let mut candidate = json!({ "content": { "role": "model", "parts": parts } });
        candidate.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "candidates": [candidate], "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5 } })
    };
    let function_call = json!({ "functionCall": { "name": "search_web", "args": { "query": "天气" } } });
    let replies = [
        FakeEndpoint::events([
            chunk(json!([{ "text": "好的。" }]), json!({})),
            chunk(json!([function_call]), json!({ "finishReason": "STOP" })),
        ]),
        FakeEndpoint::events([chunk(json!([{ "text": "晴。" }]), json!({ "finishReason": "STOP" }))]),
    ];
    let (events, [first, second]) = run_over_wire("gemini", replies).await;
    assert_eq!(events, expected_events().await);
    let calling = json!({ "mode": "ANY", "allowedFunctionNames": ["search_web"] });
    assert_eq!(first["toolConfig"]["functionCallingConfig"], calling);
    assert_eq!(first["tools"][0]["functionDeclarations"][0]["name"], "search_web");
    assert_eq!(second.get("toolConfig"), None);
    assert_eq!(second["contents"][1]["parts"][1], function_call);
    let response = &second["contents"][2]["parts"][0]["functionResponse"];
    assert!(response["name"] == "search_web" && has_search_result(&response["response"]["result"]), "{response}");
}

#[tokio::test]
async fn converse_wire_gives_the_expected_events() {
    let delta = |index: u32, delta: Value| ("contentBlockDelta", json!({ "contentBlockIndex": index, "delta": delta }));
    let text = |text: &str| delta(0, json!({ "text": text }));
    let input = |part: &str| delta(1, json!({ "toolUse": { "input": part } }));
    let call = json!({ "toolUse": { "toolUseId": "tooluse_1", "name": "search_web" } });
    let stop = |reason: &str| ("messageStop", json!({ "stopReason": reason }));
    let usage = || ("metadata", json!({ "usage": { "inputTokens": 10, "outputTokens": 5 } }));
    let replies = [
        FakeEndpoint::binary_events([
            text("好的。"),
            ("contentBlockStart", json!({ "contentBlockIndex": 1, "start": call })),
            input("{\"query\":"),
            input("\"天气\"}"),
            stop("tool_use"),
            usage(),
        ]),
        FakeEndpoint::binary_events([text("晴。"), stop("end_turn"), usage()]),
    ];
    let (events, [first, second]) = run_over_wire("converse", replies).await;
    assert_eq!(events, expected_events().await);
    assert_eq!(first["toolConfig"]["toolChoice"], json!({ "tool": { "name": "search_web" } }));
    let owner = first["requestMetadata"]["owner"].as_str().unwrap();
    assert!(owner.len() == 64 && owner.bytes().all(|byte| byte.is_ascii_hexdigit()), "{owner}");
    assert_eq!(second["toolConfig"]["tools"], first["toolConfig"]["tools"]);
    let (used, result) = (&second["messages"][1]["content"][1], &second["messages"][2]["content"][0]);
    assert_eq!(used["toolUse"]["input"], json!({ "query": "天气" }));
    assert_eq!(result["toolResult"]["toolUseId"], used["toolUse"]["toolUseId"]);
    assert!(has_search_result(&result["toolResult"]["content"][0]["text"]));
}
