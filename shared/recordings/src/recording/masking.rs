//! Masks personal data in a recording after its turn ended, because texts arrive in pieces.

use std::collections::BTreeMap;
use std::ops::Range;

use redaction::Redactor;
use serde_json::Value;

use super::head::Head;
use super::line::{EncodedBytes, Entry, Line};

/// Events whose texts continue one another, each in the field that is named like its type.
const STREAMED: [&str; 2] = ["content", "thinking"];

/// Events after which a new text starts.
const TEXT_BREAKS: [&str; 2] = ["tool_call", "tool_result"];

/// Events whose texts are complete.
const WHOLE: [&str; 4] = ["tool_call", "tool_result", "title", "error"];

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

/// A range of a text and what replaces it.
type Edit = (Range<usize>, Vec<u8>);

/// Replaces personal data in the lines of a turn with placeholders.
pub(super) fn mask_lines(mut lines: Vec<Line>, redactor: &Redactor) -> Vec<Line> {
    for part in lines.split_mut(|line| is_event(&line.entry, &TEXT_BREAKS)) {
        mask_json(part.iter_mut().filter_map(|line| streamed_event(&mut line.entry)).collect(), redactor);
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

fn is_event(entry: &Entry, kinds: &[&str]) -> bool {
    matches!(entry, Entry::Event { event } if kinds.iter().any(|kind| event["type"] == *kind))
}

fn streamed_event(entry: &mut Entry) -> Option<&mut Value> {
    let is_streamed = is_event(entry, &STREAMED);
    if let Entry::Event { event } = entry { Some(event).filter(|_| is_streamed) } else { None }
}

/// Masks entries with complete texts: calls with their results, and the events about them.
fn mask_whole(entry: &mut Entry, redactor: &Redactor) {
    match entry {
        Entry::Tool { call, result } => {
            call.arguments = redactor.redact_json(&call.arguments);
            let value = result.as_ref().and_then(|result| serde_json::to_value(result).ok());
            *result = value.and_then(|value| serde_json::from_value(redactor.redact_json(&value)).ok());
        }
        Entry::Event { event } if WHOLE.iter().any(|kind| event["type"] == *kind) => {
            *event = redactor.redact_json(event);
        }
        Entry::Event { .. }
        | Entry::ModelCall { .. }
        | Entry::Response { .. }
        | Entry::Body { .. }
        | Entry::End { .. } => {}
    }
}

fn is_empty(entry: &Entry) -> bool {
    match entry {
        Entry::Event { event } => STREAMED.iter().any(|kind| event["type"] == *kind && event[*kind] == ""),
        Entry::Body { bytes, .. } => bytes.decode().is_some_and(|bytes| bytes.is_empty()),
        _ => false,
    }
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
        let masked = apply_edits(&whole, parts.iter().map(Vec::len), &edits, |edit, part| edit.end <= part.end);
        for (piece, part) in pieces.into_iter().zip(masked).filter(|_| !edits.is_empty()) {
            *piece = part.into();
        }
    }
}

/// The replacements of ranges of a body whose documents contain personal data: JSON, or other content as one text.
fn body_edits(body: &[u8], redactor: &Redactor) -> Vec<Edit> {
    let documents = documents(body);
    let mut masked: Vec<Option<Value>> = documents.iter().map(|(_, json)| json.clone()).collect();
    mask_json(masked.iter_mut().flatten().collect(), redactor);
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

/// Returns the parts of a text after the edits, from the lengths of the parts; of those that an edit touches the one that
/// `has_edit` accepts has the replacement.
fn apply_edits(
    whole: &[u8],
    lengths: impl IntoIterator<Item = usize>,
    edits: &[Edit],
    has_edit: fn(&Range<usize>, &Range<usize>) -> bool,
) -> Vec<Vec<u8>> {
    let mut end = 0;
    let edited = lengths.into_iter().map(|length| {
        let part = end..end + length;
        end = part.end;
        let (mut out, mut at) = (Vec::new(), part.start);
        for (range, new) in edits.iter().filter(|(range, _)| range.start < part.end && range.end > part.start) {
            out.extend_from_slice(whole.get(at..range.start.max(at)).unwrap_or_default());
            out.extend(new.iter().filter(|_| has_edit(range, &part)));
            at = range.end.min(part.end);
        }
        out.extend_from_slice(whole.get(at..part.end).unwrap_or_default());
        out
    });
    edited.collect()
}

/// Masks personal data in the concatenated texts at the same path of all documents.
fn mask_json(mut documents: Vec<&mut Value>, redactor: &Redactor) {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for json in &mut documents {
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
    for json in documents {
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
    let edits = redactor.spans(&whole).into_iter().map(|span| (span.range, span.placeholder.as_bytes().to_vec()));
    let edits: Vec<Edit> = edits.collect();
    let lengths = pieces.iter().map(String::len);
    let masked = apply_edits(whole.as_bytes(), lengths, &edits, |edit, part| edit.start >= part.start);
    masked.into_iter().map(|piece| String::from_utf8_lossy(&piece).into_owned()).collect()
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
