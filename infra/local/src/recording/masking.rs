//! Masks personal data in a recording after its turn ended, because texts arrive in pieces.

use redaction::Redactor;
use serde_json::Value;

use super::body;
use super::head::Head;
use super::line::{Entry, Line};

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
        question: text(&head.question),
        history: history.unwrap_or_default(),
        summary: summary.unwrap_or_default(),
        ..head
    }
}

/// Masks a text that is split into pieces: the placeholder goes where personal data begins, the rest is removed.
pub(super) fn mask_pieces(pieces: &[String], redactor: &Redactor) -> Vec<String> {
    let whole = pieces.concat();
    let spans = redactor.spans(&whole);
    let mut masked = Vec::with_capacity(pieces.len());
    let (mut start, mut next) = (0, 0);
    for piece in pieces {
        let end = start + piece.len();
        let (mut out, mut at) = (String::new(), start);
        while let Some(span) = spans.get(next).filter(|span| span.range.start < end) {
            if span.range.start >= start {
                out.push_str(whole.get(at..span.range.start).unwrap_or_default());
                out.push_str(span.placeholder);
            }
            at = span.range.end.min(end);
            if span.range.end > end {
                break;
            }
            next += 1;
        }
        out.push_str(whole.get(at..end).unwrap_or_default());
        masked.push(out);
        start = end;
    }
    masked
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

#[cfg(test)]
mod tests {
    use platform::settings::Settings;

    use super::*;

    #[test]
    fn split_personal_data_is_masked_at_its_start() {
        let redactor = Redactor::from_settings(&Settings::from_pairs([("MASK", "all")])).unwrap();
        let masked = |pieces: &[&str]| {
            let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
            mask_pieces(&pieces, &redactor)
        };
        assert_eq!(masked(&["call 138", "0013", "8000 now"]), ["call [phone]", "", " now"]);
        assert_eq!(masked(&["a@b.example c@", "d.example", "好"]), ["[email] [email]", "", "好"]);
        assert_eq!(masked(&["13800138000", "，", "13900139000"]), ["[phone]", "，", "[phone]"]);
        assert_eq!(masked(&["", "plain", ""]), ["", "plain", ""]);
        for at in 0..=11 {
            let (begin, end) = "13800138000".split_at(at);
            assert_eq!(masked(&["x ", begin, end, " y"]).concat(), "x [phone] y");
        }
    }
}
