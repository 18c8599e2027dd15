//! Masks personal data in a recording after its turn ended, because texts arrive in pieces.

use redaction::Redactor;
use serde_json::Value;

use super::body;
use super::head::Head;
use super::line::{Entry, Line};
use super::pieces::mask_pieces;

/// Events whose texts continue one another: type and field.
const STREAMED: [(&str, &str); 2] = [("content", "content"), ("thinking", "thinking")];

/// Events after which a new text starts.
const TEXT_BREAKS: [&str; 2] = ["tool_call", "tool_result"];

/// Replaces personal data in the lines of a turn with placeholders.
pub(super) fn mask_lines(mut lines: Vec<Line>, redactor: &Redactor) -> Vec<Line> {
    for (kind, field) in STREAMED {
        mask_streamed(&mut lines, redactor, kind, field);
    }
    for line in &mut lines {
        mask_whole(&mut line.entry, redactor);
    }
    body::mask(&mut lines, redactor);
    lines.retain(|line| !is_empty(&line.entry));
    lines
}

/// Replaces personal data in the user's texts and the operator's prompt with placeholders.
pub(super) fn mask_head(head: Head, redactor: &Redactor) -> Head {
    let text = |text: &str| redactor.redact_text(text).into_owned();
    let json = |value: Value| redactor.redact_json(&value);
    let history = serde_json::to_value(&head.history).map(json).and_then(serde_json::from_value);
    let summary = serde_json::to_value(&head.summary).map(json).and_then(serde_json::from_value);
    Head {
        masked: true,
        system_prompt: head.system_prompt.as_deref().map(text),
        added_prompt: head.added_prompt.as_deref().map(text),
        question: text(&head.question),
        history: history.unwrap_or_default(),
        summary: summary.unwrap_or_default(),
        ..head
    }
}

fn mask_streamed(lines: &mut [Line], redactor: &Redactor, kind: &str, field: &str) {
    let is_between = |line: &Line| matches!(&line.entry, Entry::Event { event } if TEXT_BREAKS.iter().any(|kind| event["type"] == *kind));
    for part in lines.split_mut(is_between) {
        let events = || part.iter().filter_map(|line| text_of(&line.entry, kind, field));
        let pieces: Vec<String> = events().map(str::to_owned).collect();
        let mut masked = mask_pieces(&pieces, redactor).into_iter();
        for line in part.iter_mut().filter(|line| text_of(&line.entry, kind, field).is_some()) {
            if let (Entry::Event { event }, Some(text)) = (&mut line.entry, masked.next()) {
                event[field] = text.into();
            }
        }
    }
}

fn text_of<'a>(entry: &'a Entry, kind: &str, field: &str) -> Option<&'a str> {
    match entry {
        Entry::Event { event } if event["type"] == kind => event[field].as_str(),
        _ => None,
    }
}

/// Masks entries with complete texts: calls with their results, and the events about them.
fn mask_whole(entry: &mut Entry, redactor: &Redactor) {
    match entry {
        Entry::Tool { call, result } => {
            call.arguments = redactor.redact_json(&call.arguments);
            let value = result.as_ref().and_then(|result| serde_json::to_value(result).ok());
            *result = value.and_then(|value| serde_json::from_value(redactor.redact_json(&value)).ok());
        }
        Entry::Event { event } => {
            let whole = ["tool_call", "tool_result", "title", "error"].iter().any(|kind| event["type"] == *kind);
            if whole {
                *event = redactor.redact_json(event);
            }
        }
        Entry::ModelCall { .. } | Entry::Response { .. } | Entry::Body { .. } | Entry::End { .. } => {}
    }
}

/// Whether masking left nothing of an entry.
fn is_empty(entry: &Entry) -> bool {
    STREAMED.iter().any(|(kind, field)| text_of(entry, kind, field) == Some(""))
        || matches!(entry, Entry::Body { bytes, .. } if bytes.decode().is_some_and(|bytes| bytes.is_empty()))
}
