//! Masks personal data in a recording after its turn ended, because texts arrive in pieces.

use std::collections::BTreeMap;
use std::ops::Range;

use redaction::Redactor;
use serde_json::Value;

use super::head::Head;
use super::line::{EncodedBytes, Entry, Line};

/// Events whose texts continue one another: type and field.
const STREAMED: [(&str, &str); 2] = [("content", "content"), ("thinking", "thinking")];

/// Events after which a new text starts.
const TEXT_BREAKS: [&str; 2] = ["tool_call", "tool_result"];

/// Fields whose text is complete in each line.
const UNSPLIT_FIELDS: [&str; 10] = [
    "id",
    "model",
    "object",
    "role",
    "type",
    "name",
    "system_fingerprint",
    "service_tier",
    "finish_reason",
    "signature",
];

/// Replaces personal data in the lines of a turn with placeholders.
pub(super) fn mask_lines(mut lines: Vec<Line>, redactor: &Redactor) -> Vec<Line> {
    for (kind, field) in STREAMED {
        mask_streamed(&mut lines, redactor, kind, field);
    }
    for line in &mut lines {
        mask_whole(&mut line.entry, redactor);
    }
    mask_bodies(&mut lines, redactor);
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

fn is_empty(entry: &Entry) -> bool {
    STREAMED.iter().any(|(kind, field)| text_of(entry, kind, field) == Some(""))
        || matches!(entry, Entry::Body { bytes, .. } if bytes.decode().is_some_and(|bytes| bytes.is_empty()))
}

fn mask_bodies(lines: &mut [Line], redactor: &Redactor) {
    let mut attempts: BTreeMap<_, Vec<&mut EncodedBytes>> = BTreeMap::new();
    for line in lines {
        if let Entry::Body { id, bytes } = &mut line.entry {
            attempts.entry(*id).or_default().push(bytes);
        }
    }
    for pieces in attempts.into_values() {
        let parts: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.decode().unwrap_or_default()).collect();
        let whole = parts.concat();
        let edits = body_edits(&whole, redactor);
        let mut start = 0;
        for (piece, part) in pieces.into_iter().zip(parts).filter(|_| !edits.is_empty()) {
            let range = start..start + part.len();
            start = range.end;
            *piece = apply_edits(&whole, range, &edits).into();
        }
    }
}

/// The replacements of ranges of a body whose documents contain personal data: JSON, or other content as one text.
fn body_edits(body: &[u8], redactor: &Redactor) -> Vec<(Range<usize>, Vec<u8>)> {
    let documents = documents(body);
    let mut masked: Vec<Option<Value>> = documents.iter().map(|(_, json)| json.clone()).collect();
    mask_json(&mut masked, redactor);
    let edit = |((range, original), masked): ((Range<usize>, Option<Value>), Option<Value>)| {
        let new = if let Some(json) = masked {
            (Some(&json) != original.as_ref()).then(|| format!(" {json}"))
        } else {
            let text = String::from_utf8_lossy(&body[range.clone()]);
            Some(redactor.redact_text(&text).into_owned()).filter(|new| *new != text)
        };
        Some((range, new?.into_bytes()))
    };
    documents.into_iter().zip(masked).filter_map(edit).collect()
}

/// The documents of a body, each with its content if it is JSON: the body itself, else its lines that are not empty.
fn documents(body: &[u8]) -> Vec<(Range<usize>, Option<Value>)> {
    if let Ok(json) = serde_json::from_slice(body) {
        return vec![(0..body.len(), Some(json))];
    }
    let mut start = 0;
    let lines = body.split(|byte| matches!(byte, b'\n' | b'\r')).map(|line| {
        let prefix = if line.starts_with(b"data:") { 5 } else { 0 };
        let range = start + prefix..start + line.len();
        start += line.len() + 1;
        (range.clone(), serde_json::from_slice(&body[range]).ok())
    });
    lines.filter(|(range, _)| !range.is_empty()).collect()
}

/// Returns a part of a body after the edits; a replacement goes to the part in which the original ended.
fn apply_edits(whole: &[u8], part: Range<usize>, edits: &[(Range<usize>, Vec<u8>)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = part.start;
    for (range, new) in edits.iter().filter(|(range, _)| range.start < part.end && range.end > part.start) {
        out.extend_from_slice(whole.get(at..range.start.max(at)).unwrap_or_default());
        if range.end <= part.end {
            out.extend_from_slice(new);
        }
        at = range.end.min(part.end);
    }
    out.extend_from_slice(whole.get(at..part.end).unwrap_or_default());
    out
}

/// Masks personal data in the concatenated texts at the same path of all documents.
fn mask_json(documents: &mut [Option<Value>], redactor: &Redactor) {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for json in documents.iter_mut().flatten() {
        for_each_text(json, "", &mut |path, text| texts.entry(path.to_owned()).or_default().push(text.clone()));
    }
    let mask = |(path, pieces): (String, Vec<String>)| {
        let is_whole = UNSPLIT_FIELDS.iter().any(|name| path.ends_with(&format!("/{name}")));
        let masked = if is_whole {
            pieces.iter().map(|piece| redactor.redact_text(piece).into_owned()).collect()
        } else {
            mask_pieces(&pieces, redactor)
        };
        (path, masked.into_iter())
    };
    let mut masked: BTreeMap<String, std::vec::IntoIter<String>> = texts.into_iter().map(mask).collect();
    for json in documents.iter_mut().flatten() {
        for_each_text(json, "", &mut |path, text| {
            *text = masked.get_mut(path).and_then(Iterator::next).unwrap_or_default();
        });
    }
}

/// Visits every text with its path; the number in a field `index` selects which of several texts a piece continues.
fn for_each_text(value: &mut Value, path: &str, give: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => give(path, text),
        Value::Array(items) => items.iter_mut().for_each(|item| for_each_text(item, &format!("{path}/*"), give)),
        Value::Object(fields) => {
            let index = fields.get("index").and_then(Value::as_u64);
            let path = index.map_or_else(|| path.to_owned(), |index| format!("{path}/{index}"));
            for (name, value) in fields {
                for_each_text(value, &format!("{path}/{name}"), give);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Masks a text that is split into pieces: the placeholder goes where personal data begins, the rest is removed.
fn mask_pieces(pieces: &[String], redactor: &Redactor) -> Vec<String> {
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
