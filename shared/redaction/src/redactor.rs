use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use platform::settings::{SettingError, Settings};
use serde_json::Value;

use crate::line::{self, Line};
use crate::patterns::{self, Pattern};
use crate::{DataKind, email, forms, keywords, numbers};

/// Maximum number of searches of a part of a text: a replacement may expose data that was joined to it.
///
/// The work is bounded by construction: the parts of one search lie between the replacements of the one before, so they
/// are disjoint. If the last search still finds something, its whole part is replaced, so that nothing of a longer chain
/// is left.
const MAX_PASSES: usize = 3;

/// Maximum length of a field name that is read with its value, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Maximum depth of JSON texts inside JSON texts.
const MAX_JSON_DEPTH: usize = 4;

/// Maximum number of searches of a JSON text that has personal data across its values; after the last one it is replaced
/// as a whole.
const MAX_JSON_PASSES: usize = 2;

const ACCEPTED: &str = "all, or some of email, phone, id and card with commas between them";

/// Personal data in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span<'a> {
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The text that replaces it.
    pub placeholder: &'a str,
}

/// Replaces the configured kinds of personal data; none by default. Clones share the configuration.
#[derive(Clone, Default)]
pub struct Redactor(Arc<Rules>);

#[derive(Default)]
struct Rules {
    kinds: Vec<DataKind>,
    patterns: Vec<Pattern>,
    redacts_results: bool,
    redacts_answers: bool,
}

impl Redactor {
    /// Reads `MASK`, `MASK_PATTERNS`, `MASK_RESULTS` and `MASK_ANSWERS`.
    ///
    /// # Errors
    /// An unknown kind, an invalid pattern, or results or answers that are to be redacted without any of them.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let kinds = settings.parse("MASK", ACCEPTED, parse_kinds)?.unwrap_or_default();
        let patterns = patterns::read(settings)?;
        let redacts_results = settings.is_yes("MASK_RESULTS")?;
        let redacts_answers = settings.is_yes("MASK_ANSWERS")?;
        let redactor = Self(Arc::new(Rules { kinds, patterns, redacts_results, redacts_answers }));
        for (name, is_wanted) in [("MASK_RESULTS", redacts_results), ("MASK_ANSWERS", redacts_answers)] {
            if is_wanted && redactor.is_off() {
                return Err(SettingError::new(name, "yes only with MASK or MASK_PATTERNS"));
            }
        }
        if !redactor.0.kinds.is_empty() {
            // A build whose tables cannot be read must not start: it would mask nothing.
            let mut tables = forms::FORMS.iter().map(|forms| &forms.table).chain([&*email::TABLE, &*keywords::TABLE]);
            if tables.any(|table| table.0.is_none()) {
                return Err(SettingError::new("MASK", "empty: the tables of this build cannot be read"));
            }
        }
        Ok(redactor)
    }

    /// Whether redaction is off.
    pub fn is_off(&self) -> bool {
        self.0.kinds.is_empty() && self.0.patterns.is_empty()
    }

    /// The names of the kinds and patterns that are replaced, in order.
    pub fn names(&self) -> Vec<&str> {
        self.0.placeholders(&self.0.kinds).map(name).collect()
    }

    /// The personal data in a text, in order and without overlap. Time and memory are linear in the text.
    pub fn spans(&self, text: &str) -> Vec<Span<'_>> {
        if self.is_off() { Vec::new() } else { self.0.spans("", text) }
    }

    /// Whether a text contains personal data.
    pub fn contains_personal_data(&self, text: &str) -> bool {
        !self.spans(text).is_empty()
    }

    /// Replaces personal data in a text with placeholders; a second pass finds nothing more.
    pub fn redact_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let spans = self.spans(text);
        if spans.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(replace_spans(text, &spans)) }
    }

    /// Whether the results of tools are redacted.
    pub fn redacts_results(&self) -> bool {
        self.0.redacts_results
    }

    /// Whether the answers of models are redacted.
    pub fn redacts_answers(&self) -> bool {
        self.0.redacts_answers
    }

    /// Replaces personal data in JSON with placeholders: in texts, and whole numbers that are personal data. Field
    /// names are unchanged.
    #[must_use]
    pub fn redact_json(&self, value: &Value) -> Value {
        self.redact_field("", value)
    }

    /// Redacts the value of a field, whose name may identify its digits. A text that is JSON is also read as JSON.
    #[must_use]
    pub fn redact_field(&self, name: &str, value: &Value) -> Value {
        self.redact_nested(name, value, MAX_JSON_DEPTH)
    }

    fn redact_nested(&self, name: &str, value: &Value, depth_left: usize) -> Value {
        match value {
            Value::String(text) => self.redact_named(name, text, depth_left).into(),
            Value::Number(number) => {
                let text = number.to_string();
                let redacted = self.redact_named(name, &text, 0);
                if redacted == text { value.clone() } else { redacted.into() }
            }
            Value::Array(items) => items.iter().map(|item| self.redact_nested(name, item, depth_left)).collect(),
            Value::Object(fields) => {
                let field =
                    |(name, value): (&String, &Value)| (name.clone(), self.redact_nested(name, value, depth_left));
                Value::Object(fields.iter().map(field).collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn redact_named(&self, name: &str, text: &str, depth_left: usize) -> String {
        if self.is_off() {
            return text.to_owned();
        }
        let lead = if name.is_empty() || name.len() > MAX_NAME_BYTES { String::new() } else { format!("{name}: ") };
        let may_be_json = |text: &str| depth_left > 0 && text.trim_start().starts_with(['{', '[']);
        let mut redacted = text.to_owned();
        for pass in 1.. {
            if may_be_json(&redacted) {
                redacted = self.redact_json_text(name, redacted, depth_left - 1);
            }
            let spans = self.0.spans(&lead, &redacted);
            let Some(first) = spans.first() else { break };
            if pass > MAX_JSON_PASSES {
                return first.placeholder.to_owned();
            }
            redacted = replace_spans(&redacted, &spans);
            if !may_be_json(&redacted) {
                break;
            }
        }
        redacted
    }

    /// Redacts a text that is JSON as JSON; returns any other text unchanged.
    fn redact_json_text(&self, name: &str, text: String, depth_left: usize) -> String {
        let Ok(value) = serde_json::from_str::<Value>(&text) else { return text };
        let redacted = self.redact_nested(name, &value, depth_left);
        if redacted == value { text } else { redacted.to_string() }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redactor").field(&self.names()).finish()
    }
}

impl Rules {
    /// All personal data in a text that follows `lead`. No number crosses a placeholder or a line end, so each part
    /// between them is searched separately.
    fn spans(&self, lead: &str, text: &str) -> Vec<Span<'_>> {
        let (mut spans, mut from, mut at) = (Vec::new(), 0, 0);
        while let Some(next) = text.get(at..).and_then(|rest| rest.find(['[', '\n', '\r'])) {
            at += next;
            let rest = text.get(at..).unwrap_or_default();
            let placeholder = self.placeholders(&DataKind::ALL).find(|placeholder| rest.starts_with(placeholder));
            let length = if rest.starts_with('[') { placeholder.map_or(0, str::len) } else { 1 };
            if length > 0 {
                self.search(lead, text, from..at, MAX_PASSES, &mut spans);
                from = at + length;
            }
            at += length.max(1);
        }
        self.search(lead, text, from..text.len(), MAX_PASSES, &mut spans);
        spans
    }

    /// Adds the personal data of a part, then that of the remaining parts.
    fn search<'a>(&'a self, lead: &str, text: &str, part: Range<usize>, passes: usize, spans: &mut Vec<Span<'a>>) {
        let lead_of_part = if part.start == 0 { lead } else { "" };
        let found = self.find_in_part(lead_of_part, text.get(part.clone()).unwrap_or_default());
        let Some(first) = found.first() else { return };
        if passes == 1 {
            spans.push(Span { range: part, placeholder: first.placeholder });
            return;
        }
        let mut from = part.start;
        for Span { range, placeholder } in found {
            let range = part.start + range.start..part.start + range.end;
            self.search(lead, text, from..range.start, passes - 1, spans);
            from = range.end;
            spans.push(Span { range, placeholder });
        }
        self.search(lead, text, from..part.end, passes - 1, spans);
    }

    /// The result of a single search of a part.
    fn find_in_part(&self, lead: &str, part: &str) -> Vec<Span<'_>> {
        #[cfg(test)]
        crate::tests::count_search(part.len());
        if part.is_empty() {
            return Vec::new();
        }
        let line = Line::new(lead, part, false);
        let mut found = numbers::find(&line, &self.kinds);
        if self.kinds.contains(&DataKind::Email) {
            found.extend(email::find(&line).into_iter().map(|range| (range, DataKind::Email)));
        }
        let mut spans = to_spans(&line, found);
        if self.kinds.contains(&DataKind::Phone) && line::has_numerals(part) {
            let line = Line::new(lead, part, true);
            spans.extend(to_spans(&line, numbers::find(&line, &[DataKind::Phone])));
        }
        for pattern in &self.patterns {
            let found = pattern.find(part).into_iter();
            spans.extend(found.map(|range| Span { range, placeholder: &pattern.placeholder }));
        }
        merge_overlapping(spans)
    }

    fn placeholders<'a>(&'a self, kinds: &'a [DataKind]) -> impl Iterator<Item = &'a str> {
        let patterns = self.patterns.iter().map(|pattern| pattern.placeholder.as_str());
        kinds.iter().map(|kind| kind.placeholder()).chain(patterns)
    }
}

fn to_spans<'a>(line: &Line<'_>, found: Vec<(Range<usize>, DataKind)>) -> Vec<Span<'a>> {
    let span = |(range, kind): (_, DataKind)| Span { range: line.source(&range), placeholder: kind.placeholder() };
    found.into_iter().map(span).collect()
}

fn name(placeholder: &str) -> &str {
    placeholder.trim_matches(['[', ']'])
}

/// Sorts spans and merges those that overlap; the longest one decides the placeholder.
fn merge_overlapping(mut spans: Vec<Span<'_>>) -> Vec<Span<'_>> {
    spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
    spans.dedup_by(|next, span| {
        let overlaps = next.range.start < span.range.end;
        if overlaps && next.range.len() > span.range.len() {
            span.placeholder = next.placeholder;
        }
        span.range.end = if overlaps { next.range.end.max(span.range.end) } else { span.range.end };
        overlaps
    });
    spans
}

/// Replaces the spans, which are sorted and do not overlap, with their placeholders.
fn replace_spans(text: &str, spans: &[Span<'_>]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut from = 0;
    for Span { range, placeholder } in spans {
        redacted.push_str(text.get(from..range.start).unwrap_or_default());
        redacted.push_str(placeholder);
        from = range.end;
    }
    redacted.push_str(text.get(from..).unwrap_or_default());
    redacted
}

fn parse_kinds(text: &str) -> Option<Vec<DataKind>> {
    if text == "all" {
        return Some(DataKind::ALL.to_vec());
    }
    let kind = |part: &str| DataKind::ALL.into_iter().find(|kind| name(kind.placeholder()) == part.trim());
    let mut kinds: Vec<DataKind> = text.split(',').map(kind).collect::<Option<_>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    Some(kinds)
}
