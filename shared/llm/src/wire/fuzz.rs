//! Responses of every wire with random mutations.

use std::fs;
use std::path::Path;

use ::fuzz::{Outcome, ensure, run, split_bytes};

use super::converse::frame;
use super::tests::decode;
use super::*;
use crate::Delta;

const FRAGMENTS: [&str; 22] = [
    "data: ",
    "data:",
    "\n\n",
    "\r\n\r\n",
    "event: error\n",
    ": ",
    "[DONE]",
    "\"finish_reason\":\"stop\"",
    "\"delta\":{",
    "\"tool_calls\":[",
    "\"index\":0,",
    "\"arguments\":\"",
    "\"usage\":{",
    "{\"error\":{\"message\":\"x\"}}",
    "null",
    "\"\"",
    "\"content\":",
    "\"done\":true",
    "\"output_index\":1,",
    "\"type\":\"response.output_item.done\",\"item\":{",
    "\"type\":\"function_call\",",
    "\"encrypted_content\":\"",
];

/// Reads the responses in a folder of the fixtures.
fn samples(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind != "txt"));
    files.sort();
    files.into_iter().map(|file| fs::read(file).unwrap()).collect()
}

/// Checks that the deltas do not depend on chunk boundaries, and that there is not more text than input.
fn check(wire: Wire, json: bool, bytes: &[u8]) -> Outcome {
    let (whole, cut) = (decode(wire, json, [bytes]), decode(wire, json, split_bytes(bytes)));
    ensure(whole == cut, || format!("whole {whole:?}\ncut {cut:?}"))?;
    let size = |delta: &Result<Delta, ModelError>| match delta {
        Ok(Delta::Text(text) | Delta::Thinking(text)) => text.len(),
        _ => 0,
    };
    // An invalid byte becomes a character of three bytes.
    let size: usize = whole.iter().map(size).sum();
    ensure(size <= 3 * bytes.len(), || format!("{size} bytes of {}", bytes.len()))
}

fn fuzz_wire(target: &str, folder: &str, wire: Wire) {
    let samples = samples(folder);
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    run(target, &samples, &FRAGMENTS, |bytes| {
        check(wire, false, bytes)?;
        check(wire, true, bytes)
    });
}

#[test]
fn fuzz_chat_completions_at_any_chunk_boundary() {
    fuzz_wire("chat completions", "openai", Wire::Openai);
}

#[test]
fn fuzz_responses_events_at_any_chunk_boundary() {
    fuzz_wire("responses", "responses", Wire::Responses);
}

#[test]
fn fuzz_ollama_lines_at_any_chunk_boundary() {
    fuzz_wire("ollama", "ollama", Wire::Ollama);
}

#[test]
fn fuzz_anthropic_events_at_any_chunk_boundary() {
    fuzz_wire("anthropic", "anthropic", Wire::Anthropic);
}

#[test]
fn fuzz_gemini_chunks_at_any_chunk_boundary() {
    fuzz_wire("gemini", "gemini", Wire::Gemini);
}

/// Mutates the payloads, whose lines become frames, because a mutated frame has another checksum; and whole frames.
#[test]
fn fuzz_converse_frames_at_any_chunk_boundary() {
    let lines = br#"contentBlockStart{"contentBlockIndex":1,"start":{"toolUse":{"toolUseId":"a","name":"f"}}}
contentBlockDelta{"contentBlockIndex":1,"delta":{"toolUse":{"input":"{}"}}}
contentBlockDelta{"contentBlockIndex":0,"delta":{"text":"x","reasoningContent":{"text":"t","signature":"s","redactedContent":"r"}}}
contentBlockStop{"contentBlockIndex":0}
messageStop{"stopReason":"end_turn"}
metadata{"usage":{"inputTokens":1,"outputTokens":2}}"#;
    let frames = |bytes: &[u8]| -> Vec<u8> {
        let frames = bytes.split(|byte| *byte == b'\n').map(|line| {
            let kinds = ["contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"];
            let kind = kinds.into_iter().find(|kind| line.starts_with(kind.as_bytes())).unwrap_or("contentBlockDelta");
            let payload = line.strip_prefix(kind.as_bytes()).unwrap_or(line);
            frame(&[(":message-type", "event"), (":event-type", kind)], payload)
        });
        frames.flatten().collect()
    };
    run("converse", &[lines], &FRAGMENTS, |bytes| check(Wire::Converse, true, &frames(bytes)));
    let whole = frames(lines);
    run("converse frames", &[&whole], &[], |bytes| check(Wire::Converse, true, bytes));
}
