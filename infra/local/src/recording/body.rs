//! Masks personal data in raw model responses: lines of JSON, whose texts continue those of earlier lines.

use std::collections::BTreeMap;
use std::ops::Range;

use redaction::Redactor;
use serde_json::Value;

use super::line::{EncodedBytes, Entry, Line};
use super::pieces::mask_pieces;

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

/// A line of a body: JSON, or other content as one text.
struct Document {
    /// Its byte range in the body.
    range: Range<usize>,
    json: Value,
    is_json: bool,
    changed: bool,
}

/// Masks personal data in the bodies of all attempts.
pub(super) fn mask(lines: &mut [Line], redactor: &Redactor) {
    let mut attempts: BTreeMap<(usize, usize), Vec<&mut EncodedBytes>> = BTreeMap::new();
    for line in lines {
        if let Entry::Body { model_call, attempt, bytes } = &mut line.entry {
            attempts.entry((*model_call, *attempt)).or_default().push(bytes);
        }
    }
    for pieces in attempts.into_values() {
        mask_body(pieces, redactor);
    }
}

fn mask_body(pieces: Vec<&mut EncodedBytes>, redactor: &Redactor) {
    let parts: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.decode().unwrap_or_default()).collect();
    let whole = parts.concat();
    let mut documents = documents(&whole);
    mask_documents(&mut documents, redactor);
    let edits: Vec<(Range<usize>, Vec<u8>)> =
        documents.into_iter().filter(|one| one.changed).map(|one| (one.range.clone(), one.into_bytes())).collect();
    if edits.is_empty() {
        return;
    }
    let mut start = 0;
    for (piece, part) in pieces.into_iter().zip(parts) {
        let range = start..start + part.len();
        start = range.end;
        *piece = apply_edits(&whole, range, &edits).into();
    }
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

/// Splits a body into documents: the body itself if it is JSON, else its lines.
fn documents(body: &[u8]) -> Vec<Document> {
    if let Ok(json) = serde_json::from_slice(body) {
        return vec![Document { range: 0..body.len(), json, is_json: true, changed: false }];
    }
    let mut start = 0;
    let mut documents = Vec::new();
    for line in body.split(|byte| matches!(byte, b'\n' | b'\r')) {
        let prefix = if line.starts_with(b"data:") { 5 } else { 0 };
        let range = start + prefix..start + line.len();
        start += line.len() + 1;
        let text = body.get(range.clone()).unwrap_or_default();
        if text.is_empty() {
            continue;
        }
        let json = serde_json::from_slice::<Value>(text).ok();
        let is_json = json.is_some();
        let json = json.unwrap_or_else(|| String::from_utf8_lossy(text).into());
        documents.push(Document { range, json, is_json, changed: false });
    }
    documents
}

impl Document {
    fn into_bytes(self) -> Vec<u8> {
        match self.json {
            Value::String(text) if !self.is_json => text.into_bytes(),
            json => format!(" {json}").into_bytes(),
        }
    }
}

/// Masks personal data in the concatenated texts at the same path of all documents.
fn mask_documents(documents: &mut [Document], redactor: &Redactor) {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for document in documents.iter_mut().filter(|document| document.is_json) {
        for_each_text(&mut document.json, "", &mut |path, text| {
            texts.entry(path.to_owned()).or_default().push(text.clone());
        });
    }
    let mask = |(path, pieces): (String, Vec<String>)| {
        let whole = UNSPLIT_FIELDS.iter().any(|name| path.ends_with(&format!("/{name}")));
        let masked = if whole {
            pieces.iter().map(|piece| redactor.redact_text(piece).into_owned()).collect()
        } else {
            mask_pieces(&pieces, redactor)
        };
        (path, masked.into_iter())
    };
    let mut masked: BTreeMap<String, std::vec::IntoIter<String>> = texts.into_iter().map(mask).collect();
    for document in documents {
        let Document { json, changed, is_json, .. } = document;
        if *is_json {
            for_each_text(json, "", &mut |path, text| {
                let new = masked.get_mut(path).and_then(Iterator::next).unwrap_or_default();
                *changed |= new != *text;
                *text = new;
            });
        } else if let Value::String(text) = json {
            let new = redactor.redact_text(text).into_owned();
            *changed = new != *text;
            *text = new;
        }
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
