//! External recordings of streams, from the folder in `EXTRA_STREAMS`; without that variable the test does nothing.
//!
//! Each stream must decode the same as a whole and in parts. The file types: `.sse`, `.ndjson`, `.chunks.txt` (the data
//! of one event per line), `.yaml` (recordings of requests and responses), and `.jsonl` with cases of native calls.

use std::fs;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::super::*;
use super::{call_stream, decode, decode_in_all_cuts};
use crate::Delta;
use crate::errors::EndpointError;

#[test]
fn recorded_streams_decode_the_same_in_parts() {
    let Ok(folder) = std::env::var("EXTRA_STREAMS") else { return };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        match name.rsplit('.').next() {
            Some("sse") => check(wire_of(&text), &without_elisions(&text), &name),
            Some("ndjson") => check(Wire::Ollama, &without_elisions(&text), &name),
            Some("txt") => check(wire_of(&text), &events(&text), &name),
            Some("yaml") => recordings(&text).iter().for_each(|one| one.check(&name)),
            Some("jsonl") if name.contains("native") => check_calls(&text),
            _ => {}
        }
    }
}

fn wire_of(events: &str) -> Wire {
    if events.contains("\"type\":\"response.") { Wire::Responses } else { Wire::Openai }
}

fn check(wire: Wire, body: &str, name: &str) {
    let found = decode_in_all_cuts(wire, false, body.as_bytes(), name);
    let size = |wanted: fn(&Delta) -> usize| found.iter().flatten().map(wanted).sum::<usize>();
    let text = size(|delta| if let Delta::Text(text) = delta { text.chars().count() } else { 0 });
    let thinking = size(|delta| if let Delta::Thinking(text) = delta { text.chars().count() } else { 0 });
    let calls: Vec<_> = found.iter().filter(|one| matches!(one, Ok(Delta::Call(_)))).collect();
    eprintln!("{name}: text {text}, thinking {thinking}, calls {calls:?}, end {:?}", found.last());
    let complete = matches!(found.last(), Some(Ok(Delta::Finish(_))));
    // One file has another protocol and contains an error.
    assert!(complete || name.contains("error"), "{name}: {found:?}");
}

/// Removes lines that mark an omission in a quoted stream.
fn without_elisions(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| if line.starts_with("...") { "" } else { line }).collect();
    lines.join("\n") + "\n"
}

fn events(lines: &str) -> String {
    lines.lines().map(|line| format!("data: {line}\n\n")).collect::<Vec<_>>().concat()
}

/// A recorded response.
struct Recording {
    status: u16,
    ollama: bool,
    body: String,
}

impl Recording {
    fn check(&self, name: &str) {
        let wire = if self.ollama { Wire::Ollama } else { Wire::Openai };
        if self.status == 200 {
            check(wire, &self.body, name);
        } else {
            let fault = EndpointError::parse(&self.body).to_attempt_error(self.status, None);
            eprintln!("{name}: {fault:?}");
            assert_ne!(fault.error, ModelError::BadResponse, "{name}");
        }
    }
}

/// Parses the only layout of the recordings: documents separated by `---`, the response under `then`.
fn recordings(yaml: &str) -> Vec<Recording> {
    yaml.split("\n---\n")
        .filter_map(|document| {
            let (request, response) = document.split_once("\nthen:\n")?;
            let status = response.lines().find_map(|line| line.strip_prefix("  status: "))?.parse().ok()?;
            Some(Recording { status, ollama: request.contains("path: /api/chat"), body: body(response)? })
        })
        .collect()
}

fn body(response: &str) -> Option<String> {
    let (_, body) = response.split_once("\n  body: ")?;
    match body.strip_prefix('\'') {
        Some(quoted) => Some(quoted.trim_end().strip_suffix('\'')?.replace("''", "'")),
        None => Some(body.lines().skip(1).map(|line| line.get(4..).unwrap_or_default()).collect::<Vec<_>>().join("\n")),
    }
}

#[derive(Deserialize)]
struct CallCase {
    id: String,
    deltas: Vec<Box<RawValue>>,
    finish_reason: Option<String>,
    expect: Expected,
}

#[derive(Deserialize)]
struct Expected {
    calls: Vec<Call>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Call {
    id: Option<String>,
    name: String,
    arguments: Value,
}

fn check_calls(lines: &str) {
    for case in lines.lines().map(|line| serde_json::from_str::<CallCase>(line).unwrap()) {
        let stream = call_stream(&case.deltas, case.finish_reason.as_deref().unwrap_or("stop"));
        let found = decode(Wire::Openai, false, [stream.as_bytes()]);
        let calls = found.iter().flatten().filter_map(|delta| match delta {
            Delta::Call(call) => Some(Call {
                id: Some(call.id.clone()).filter(|id| !id.is_empty()),
                name: call.name.clone(),
                arguments: serde_json::from_str(&call.arguments).unwrap(),
            }),
            _ => None,
        });
        assert_eq!(calls.collect::<Vec<_>>(), case.expect.calls, "{}", case.id);
        assert!(matches!(found.last(), Some(Ok(Delta::Finish(_)))));
    }
}
