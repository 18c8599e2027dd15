//! One turn, rendered by every protocol: all carry the same content.
#![expect(clippy::unwrap_used, reason = "what a test expects and does not find ends the test")]

use client_protocols::openai::{CompletionChunks, CompletionMeta, render_completion};
use client_protocols::{Accumulated, AiSdkStream, NativeSse, Protocol, TurnDocument};
use domain::{
    AnswerDelta, Event, FinishReason, Note, Source, ToolCall, ToolEvent, ToolOutcome, TurnAccumulator, TurnStart, Usage,
};
use serde_json::{Value, json};

/// The content of a turn, independent of the protocol.
#[derive(Debug, Default, PartialEq)]
struct TurnContent {
    text: String,
    thinking: String,
    sources: Vec<String>,
    tokens: (u64, u64),
    finish: String,
}

fn turn() -> Vec<Event> {
    let source =
        |index: usize, url: &str| Source { index, title: "页".into(), url: url.into(), excerpt: String::new() };
    let report = ToolOutcome {
        id: "call_1".into(),
        name: "search_web".into(),
        ok: true,
        cached: false,
        duration_ms: 1,
        summary: "2 results".into(),
        sources: vec![source(1, "https://a.example"), source(2, "https://b.example")],
        error: None,
    };
    vec![
        Event::Started(Box::new(TurnStart {
            continues: false,
            conversation_id: "c".into(),
            message_id: "m".into(),
            model: "volcano".into(),
        })),
        Event::Delta(AnswerDelta::Thinking("想".into())),
        Event::Delta(AnswerDelta::Text("好的，".into())),
        Event::Tool(ToolEvent::Call(Box::new(ToolCall {
            id: "call_1".into(),
            name: "search_web".into(),
            arguments: json!({"query": "茶"}),
        }))),
        Event::Tool(ToolEvent::Result(Box::new(report))),
        Event::Delta(AnswerDelta::Thinking("完".into())),
        Event::Delta(AnswerDelta::Text("茶[1]\n".into())),
        Event::Delta(AnswerDelta::Text("水[2]。".into())),
        Event::Note(Note::Usage(Box::new(Usage { input_tokens: 12, output_tokens: 7, ..Usage::default() }))),
        Event::End(Ok(FinishReason::Stop)),
    ]
}

fn expected_content() -> TurnContent {
    TurnContent {
        text: "好的，茶[1]\n水[2]。".into(),
        thinking: "想完".into(),
        sources: vec!["https://a.example".into(), "https://b.example".into()],
        tokens: (12, 7),
        finish: "stop".into(),
    }
}

fn head() -> CompletionMeta {
    CompletionMeta { id: "chatcmpl-1".into(), created: 1, model: "volcano".into(), citation_links: false }
}

/// The payloads of all frames.
fn payloads(mut protocol: impl Protocol) -> Vec<Value> {
    let mut out = String::new();
    for event in turn() {
        protocol.write_frames(&event, &mut out);
    }
    let data = out.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn urls(list: &Value, url: &str) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|one| text(one.pointer(url).unwrap())).collect()
}

fn tokens(usage: &Value, names: [&str; 2]) -> (u64, u64) {
    let [input, output] = names.map(|name| usage[name].as_u64().unwrap());
    (input, output)
}

/// The content of native frames; `add` joins a frame's text to the text so far.
fn native_content(frames: &[Value], add: fn(&mut String, &Value)) -> TurnContent {
    let mut content = TurnContent::default();
    for frame in frames {
        match frame["type"].as_str().unwrap() {
            "content" | "thinking" => {
                add(&mut content.text, &frame["content"]);
                add(&mut content.thinking, &frame["thinking"]);
            }
            "tool_result" => content.sources = urls(&frame["sources"], "/url"),
            "usage" => content.tokens = tokens(frame, ["inputTokens", "outputTokens"]),
            "done" => content.finish = text(&frame["finishReason"]),
            _ => {}
        }
    }
    content
}

#[test]
fn native_protocols_carry_the_same_content() {
    let frames = payloads(NativeSse::new("T", "r"));
    assert_eq!(native_content(&frames, |all, more| all.push_str(&text(more))), expected_content());
    let frames = payloads(Accumulated::new(NativeSse::new("T", "r")));
    assert_eq!(native_content(&frames, |all, now| *all = text(now)), expected_content());
}

fn document() -> TurnDocument {
    let mut accumulated = TurnAccumulator::default();
    for event in &turn() {
        accumulated.apply(event);
    }
    TurnDocument::new(accumulated).unwrap()
}

#[test]
fn native_document_carries_the_same_content() {
    let document = serde_json::to_value(document()).unwrap();
    let found = TurnContent {
        text: text(&document["content"]),
        thinking: text(&document["thinking"]),
        sources: urls(&document["sources"], "/url"),
        tokens: tokens(&document["usage"], ["inputTokens", "outputTokens"]),
        finish: text(&document["finishReason"]),
    };
    assert_eq!(found, expected_content());
}

#[test]
fn openai_chunks_carry_the_same_content() {
    let mut found = TurnContent::default();
    for chunk in payloads(CompletionChunks::new(head(), true)) {
        let choice = &chunk["choices"][0];
        found.text.push_str(&text(&choice["delta"]["content"]));
        found.thinking.push_str(&text(&choice["delta"]["reasoning_content"]));
        found.sources.extend(urls(&choice["delta"]["annotations"], "/url_citation/url"));
        found.finish.push_str(&text(&choice["finish_reason"]));
        if chunk["usage"].is_object() {
            found.tokens = tokens(&chunk["usage"], ["prompt_tokens", "completion_tokens"]);
        }
    }
    assert_eq!(found, expected_content());
}

#[test]
fn openai_document_carries_the_same_content() {
    let document: Value = serde_json::from_str(&render_completion(&head(), &document())).unwrap();
    let choice = &document["choices"][0];
    let found = TurnContent {
        text: text(&choice["message"]["content"]),
        thinking: text(&choice["message"]["reasoning_content"]),
        sources: urls(&choice["message"]["annotations"], "/url_citation/url"),
        tokens: tokens(&document["usage"], ["prompt_tokens", "completion_tokens"]),
        finish: text(&choice["finish_reason"]),
    };
    assert_eq!(found, expected_content());
}

#[test]
fn ai_sdk_chunks_carry_the_same_content() {
    let mut found = TurnContent::default();
    for chunk in payloads(AiSdkStream::new("r")) {
        let delta = text(&chunk["delta"]);
        match chunk["type"].as_str().unwrap() {
            "text-delta" => found.text.push_str(&delta),
            "reasoning-delta" => found.thinking.push_str(&delta),
            "source-url" => found.sources.push(text(&chunk["url"])),
            "finish" => {
                found.tokens = tokens(&chunk["messageMetadata"]["usage"], ["inputTokens", "outputTokens"]);
                found.finish = text(&chunk["finishReason"]);
            }
            _ => {}
        }
    }
    assert_eq!(found, expected_content());
}
