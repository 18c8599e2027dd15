//! Every wire on complete responses, split in many ways, against the transcripts in `fixtures`.

mod dialects;
mod pictures;
mod provider_data;
mod recorded;

use std::fs;
use std::path::{Path, PathBuf};

use domain::{Message, ToolCall, ToolChoice, ToolMessage, ToolSpec};
use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::providers;
use crate::{Delta, Finish, GenerationParams, ModelConfig, NativeCall, Options};

/// Decodes a response in `chunks`: its deltas, with adjacent ones of one kind joined, and the final error.
pub(super) fn decode<'a>(
    wire: Wire,
    json: bool,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Result<Delta, ModelError>> {
    let mut decoder = ResponseDecoder::new(wire, json);
    let mut found = Vec::new();
    let mut result = Ok(());
    for chunk in chunks {
        if result.is_ok() && decoder.phase() < Phase::Done {
            result = decoder.push(chunk);
            collect(&mut decoder, &mut found);
        }
    }
    let result = result.and_then(|()| decoder.end());
    collect(&mut decoder, &mut found);
    found.extend(result.err().map(|fault| Err(fault.error)));
    found
}

fn collect(decoder: &mut ResponseDecoder, found: &mut Vec<Result<Delta, ModelError>>) {
    while let Some(delta) = decoder.deltas().pop() {
        match (found.last_mut(), delta) {
            (Some(Ok(Delta::Text(text))), Delta::Text(more))
            | (Some(Ok(Delta::Thinking(text))), Delta::Thinking(more)) => text.push_str(&more),
            (_, delta) => found.push(Ok(delta)),
        }
    }
}

/// Decodes the whole response, byte by byte, split at every position (if short), and split at random; all must agree.
pub(super) fn decode_in_all_cuts(wire: Wire, json: bool, bytes: &[u8], name: &str) -> Vec<Result<Delta, ModelError>> {
    let whole = decode(wire, json, [bytes]);
    assert_eq!(decode(wire, json, bytes.chunks(1)), whole, "{name}, byte by byte");
    for cut in (0..bytes.len()).take_while(|_| bytes.len() <= 4096) {
        let (before, after) = bytes.split_at(cut);
        assert_eq!(decode(wire, json, [before, after]), whole, "{name}, cut at {cut}");
    }
    for seed in 1..=20 {
        assert_eq!(decode(wire, json, random_cuts(bytes, seed)), whole, "{name}, cut at random with seed {seed}");
    }
    whole
}

fn random_cuts(mut bytes: &[u8], seed: u64) -> Vec<&[u8]> {
    let mut state = seed;
    let mut chunks = Vec::new();
    while !bytes.is_empty() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let length = usize::try_from(state >> 40).unwrap() % 200;
        let (chunk, rest) = bytes.split_at(length.min(bytes.len()));
        chunks.push(chunk);
        bytes = rest;
    }
    chunks
}

/// Returns the quirks of a model with `options`.
pub(super) fn quirks_with(model: &str, wire: Wire, base_url: &str, options: Options) -> Quirks {
    let config = ModelConfig { options, ..ModelConfig::new("x", base_url, model, wire) };
    Quirks::new(providers::provider_of(&config), &config, &GenerationParams::default())
}

pub(super) fn quirks() -> Quirks {
    quirks_with("m", Wire::Openai, "http://localhost", Options::default())
}

/// Returns path and body of the encoded request.
pub(super) fn body(
    encode: fn(WireRequest<'_>) -> Result<HttpRequestParts, AttemptError>,
    prompt: &Prompt,
    quirks: Quirks,
) -> (String, serde_json::Value) {
    let encoded = encode(WireRequest { model: "m", origin: "o", prompt, quirks }).unwrap();
    (encoded.path, serde_json::from_slice(&encoded.body).unwrap())
}

/// A conversation with every kind of message: an empty one, two calls, one of them malformed, and a failed result.
pub(super) fn conversation(tool_choice: ToolChoice) -> Prompt {
    let user = |text: &str| Message::user(text);
    let assistant = |text: &str, thinking: &str, calls| {
        let (text, thinking) = (text.to_owned(), thinking.to_owned());
        Message::Assistant { text, thinking, calls, provider_data: None }
    };
    let call = |id: &str, arguments| ToolCall { id: id.to_owned(), name: "now".to_owned(), arguments };
    let result = |id: &str, ok, content: &str| {
        let (call_id, name, content) = (id.to_owned(), "now".to_owned(), content.to_owned());
        Message::Tool(ToolMessage { call_id, name, ok, content })
    };
    let tool = ToolSpec {
        name: "now".to_owned(),
        description: "Tells the time.".to_owned(),
        parameters: json!({"type": "object"}),
        examples: vec![],
    };
    let calls = vec![call("a", json!({"zone": "CET"})), call("b", json!("broken"))];
    let messages = vec![
        user("hi"),
        assistant("hello", "greet", vec![]),
        assistant("", "", vec![]),
        user("time?"),
        assistant("", "look", calls),
        result("a", true, "noon"),
        result("b", false, "no such zone"),
    ];
    Prompt { system: "Be brief.".to_owned(), messages, tools: [tool].into(), tool_choice, ..Prompt::default() }
}

fn transcript(found: &[Result<Delta, ModelError>]) -> String {
    let line = |one: &Result<Delta, ModelError>| match one {
        Ok(delta) => format!("{delta:?}\n"),
        Err(error) => format!("Err({error:?})\n"),
    };
    found.iter().map(line).collect()
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|extension| extension != "txt")).collect()
}

fn check_fixtures(wire: Wire, folder: &str) {
    let files = fixtures(folder);
    assert!(!files.is_empty());
    for file in files {
        let json = file.extension().is_some_and(|extension| extension == "json");
        let name = file.display().to_string();
        let found = decode_in_all_cuts(wire, json, &fs::read(&file).unwrap(), &name);
        assert_eq!(transcript(&found), fs::read_to_string(file.with_extension("txt")).unwrap(), "{name}");
    }
}

#[test]
fn f026_f027_chat_completions_dialects_are_decoded() {
    check_fixtures(Wire::Openai, "openai");
}

#[test]
fn ollama_lines_are_decoded() {
    check_fixtures(Wire::Ollama, "ollama");
}

#[test]
fn responses_events_are_decoded() {
    check_fixtures(Wire::Responses, "responses");
}

#[test]
fn anthropic_events_are_decoded() {
    check_fixtures(Wire::Anthropic, "anthropic");
}

#[test]
fn gemini_events_are_decoded() {
    check_fixtures(Wire::Gemini, "gemini");
}

#[derive(serde::Deserialize)]
struct CallCase {
    name: String,
    deltas: Vec<Box<RawValue>>,
    finish: Option<String>,
    calls: Vec<(String, String, String)>,
    /// Whether the output limit truncated a call.
    #[serde(default)]
    cut: bool,
}

/// Builds events that carry one delta each.
pub(super) fn call_stream(deltas: &[Box<RawValue>], finish: &str) -> String {
    let one = |delta: &RawValue| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{delta}]}}}}]}}\n\n")
    };
    let end = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{finish}\"}}]}}\n\n");
    deltas.iter().map(|delta| one(delta)).collect::<String>() + &end
}

#[test]
fn f029_f031_native_calls_are_assembled_from_fragments() {
    let cases = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/native_calls.jsonl")).unwrap();
    for case in cases.lines().map(|line| serde_json::from_str::<CallCase>(line).unwrap()) {
        let finish = case.finish.as_deref().unwrap_or("tool_calls");
        let found = decode_in_all_cuts(Wire::Openai, false, call_stream(&case.deltas, finish).as_bytes(), &case.name);
        let end = match finish {
            "length" => Finish::Length,
            _ if case.calls.is_empty() => Finish::Stop,
            _ => Finish::ToolCalls,
        };
        let calls = case
            .calls
            .into_iter()
            .map(|(id, name, arguments)| Delta::Call(NativeCall { id, name, arguments, signature: String::new() }));
        let cut = case.cut.then_some(Delta::CutCall);
        let expected: Vec<_> = calls.chain(cut).chain([Delta::Finish(end)]).map(Ok).collect();
        assert_eq!(found, expected, "{}", case.name);
    }
}
