use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use platform::settings::{SettingError, Settings};
use serde_json::Value;

use crate::line::Line;
use crate::patterns::{self, Pattern};
use crate::spans::{Span, merge_overlapping, replace_spans};
use crate::{DataKind, email, fold, identity, numbers};

/// Maximum number of searches of a part of a text: a replacement may expose data that was joined to it.
///
/// The work is bounded by construction. The parts of one search lie between the replacements of the one before, so they
/// are disjoint, and all searches together read a text at most three times and [`EXTRA_SEARCH_BYTES`]. If the last search
/// still finds something, its whole part is replaced, so that nothing of a longer chain is left.
const MAX_PASSES: usize = 8;

/// Number of bytes that the searches after the second one may read in addition to as many as the text has: the parts of
/// a long chain are replaced as a whole before.
const EXTRA_SEARCH_BYTES: usize = 16 * 1024;

/// Maximum length of a field name that is read with its value, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Maximum depth of JSON texts inside JSON texts.
const MAX_JSON_DEPTH: usize = 4;

/// Maximum number of searches of a JSON text that has personal data across its values; after the last one it is replaced
/// as a whole.
const MAX_JSON_PASSES: usize = 2;

/// Minimum number of Chinese numerals of a telephone number.
const MIN_NUMERALS: usize = 7;

/// The accepted values of `MASK`.
const ACCEPTED: &str = "all, or some of email, phone, id and card with commas between them";

/// Replaces the configured kinds of personal data; none by default. Clones share the configuration.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Rules>>);

struct Rules {
    kinds: Vec<DataKind>,
    patterns: Vec<Pattern>,
    /// Whether results of tools are redacted before a model reads them.
    redacts_results: bool,
    /// Whether answers are redacted before a client gets them.
    redacts_answers: bool,
}

impl Redactor {
    /// Reads `MASK`, `MASK_PATTERNS`, `MASK_RESULTS` and `MASK_ANSWERS`.
    ///
    /// # Errors
    /// An unknown kind, an invalid pattern, or results or answers that are to be redacted without any of them.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let kinds = settings.parse("MASK", ACCEPTED, parse_kinds)?.unwrap_or_default();
        let patterns = settings.parse("MASK_PATTERNS", patterns::ACCEPTED, patterns::parse)?.unwrap_or_default();
        let redacts_results = settings.is_yes("MASK_RESULTS")?;
        let redacts_answers = settings.is_yes("MASK_ANSWERS")?;
        let is_on = !kinds.is_empty() || !patterns.is_empty();
        if redacts_results && !is_on {
            return Err(SettingError::new("MASK_RESULTS", "yes only with MASK or MASK_PATTERNS"));
        }
        if redacts_answers && !is_on {
            return Err(SettingError::new("MASK_ANSWERS", "yes only with MASK or MASK_PATTERNS"));
        }
        Ok(Self(is_on.then(|| Arc::new(Rules { kinds, patterns, redacts_results, redacts_answers }))))
    }

    /// Whether redaction is off.
    pub fn is_off(&self) -> bool {
        self.0.is_none()
    }

    /// The names of the kinds and patterns that are replaced, in order.
    pub fn names(&self) -> Vec<&str> {
        let Some(rules) = &self.0 else { return Vec::new() };
        rules.kinds.iter().map(|kind| kind.name()).chain(rules.patterns.iter().map(Pattern::name)).collect()
    }

    /// The personal data in a text, in order and without overlap. Time and memory are linear in the text.
    pub fn spans(&self, text: &str) -> Vec<Span<'_>> {
        self.0.as_ref().map(|rules| rules.spans("", text)).unwrap_or_default()
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
        self.0.as_ref().is_some_and(|rules| rules.redacts_results)
    }

    /// Whether the answers of models are redacted.
    pub fn redacts_answers(&self) -> bool {
        self.0.as_ref().is_some_and(|rules| rules.redacts_answers)
    }

    /// Replaces personal data in JSON with placeholders: in texts, and whole numbers that are personal data. Field
    /// names are unchanged.
    #[must_use]
    pub fn redact_json(&self, value: &Value) -> Value {
        if self.is_off() { value.clone() } else { self.redact_field("", value) }
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
        let Some(rules) = &self.0 else { return text.to_owned() };
        let lead = if name.is_empty() || name.len() > MAX_NAME_BYTES { String::new() } else { format!("{name}: ") };
        let may_be_json = |text: &str| depth_left > 0 && text.trim_start().starts_with(['{', '[']);
        let mut redacted = text.to_owned();
        for pass in 1.. {
            if may_be_json(&redacted) {
                redacted = self.redact_json_text(name, redacted, depth_left - 1);
            }
            let spans = rules.spans(&lead, &redacted);
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
        let mut search =
            Search { rules: self, lead, text, bytes_left: text.len() + EXTRA_SEARCH_BYTES, spans: Vec::new() };
        for part in self.split_at_placeholders(text) {
            let mut start = part.start;
            for line in text.get(part).unwrap_or_default().split_inclusive(['\n', '\r']) {
                search.run(start..start + line.len(), 1);
                start += line.len();
            }
        }
        search.spans
    }

    /// The result of a single search of a part.
    fn find_in_part(&self, lead: &str, part: &str) -> Vec<Span<'_>> {
        #[cfg(test)]
        crate::tests::count_search(part.len());
        if part.is_empty() {
            return Vec::new();
        }
        let is_wanted = |kind| self.kinds.contains(&kind);
        let to_spans = |line: &Line<'_>, found: Vec<(Range<usize>, DataKind)>| {
            let span = |(range, kind): (Range<usize>, DataKind)| (line.folded.source(&range), kind.placeholder());
            found.into_iter().map(span).map(|(range, placeholder)| Span { range, placeholder }).collect()
        };
        let line = Line::new(lead, part, false);
        let mut found = numbers::find(&line, &self.kinds);
        found.append(&mut identity::find_lettered(&line, &self.kinds));
        if is_wanted(DataKind::Email) {
            found.extend(email::find(&line).into_iter().map(|range| (range, DataKind::Email)));
        }
        let mut spans: Vec<Span<'_>> = to_spans(&line, found);
        if is_wanted(DataKind::Phone) && may_have_numerals(part) {
            let line = Line::new(lead, part, true);
            spans.append(&mut to_spans(&line, numbers::find(&line, &[DataKind::Phone])));
        }
        for pattern in &self.patterns {
            let found = pattern.find(part).into_iter();
            spans.extend(found.map(|range| Span { range, placeholder: &pattern.placeholder }));
        }
        merge_overlapping(spans)
    }

    /// The parts of a text between its placeholders.
    fn split_at_placeholders(&self, text: &str) -> Vec<Range<usize>> {
        let placeholders = || {
            let kinds = DataKind::ALL.iter().map(|kind| kind.placeholder());
            kinds.chain(self.patterns.iter().map(|pattern| pattern.placeholder.as_str()))
        };
        let (mut parts, mut from) = (Vec::new(), 0);
        for (at, _) in text.match_indices('[') {
            let rest = text.get(at..).unwrap_or_default();
            if let Some(placeholder) = placeholders().find(|placeholder| rest.starts_with(placeholder)) {
                parts.push(from..at);
                from = at + placeholder.len();
            }
        }
        parts.push(from..text.len());
        parts
    }
}

/// Whether a text has the numerals of a telephone number, and at least as many digits with one of them but no letter
/// between them.
fn may_have_numerals(text: &str) -> bool {
    let (mut numerals, mut numerals_before, mut digits, mut is_found) = (0, 0, 0, false);
    for c in text.chars() {
        if fold::numeral(c).is_some() {
            (numerals, digits) = (numerals + 1, digits + 1);
        } else if matches!(c, 'a'..='z' | 'A'..='Z' | '\u{3400}'..='\u{9fff}') {
            (numerals_before, digits) = (numerals, 0);
        } else if fold::fold(c).is_ascii_digit() {
            digits += 1;
        }
        is_found |= digits >= MIN_NUMERALS && numerals > numerals_before;
        if is_found && numerals >= MIN_NUMERALS {
            return true;
        }
    }
    false
}

/// The searches of a text.
struct Search<'a, 't> {
    rules: &'a Rules,
    lead: &'t str,
    text: &'t str,
    /// How many bytes the searches after the second one of a part may still read.
    bytes_left: usize,
    spans: Vec<Span<'a>>,
}

impl Search<'_, '_> {
    /// Adds the personal data of a part, then that of the remaining parts.
    fn run(&mut self, part: Range<usize>, pass: usize) {
        let lead = if part.start == 0 { self.lead } else { "" };
        let found = self.rules.find_in_part(lead, self.text.get(part.clone()).unwrap_or_default());
        let Some(first) = found.first() else { return };
        let left = if pass == 1 { Some(self.bytes_left) } else { self.bytes_left.checked_sub(part.len()) };
        let Some(left) = left.filter(|_| pass < MAX_PASSES) else {
            self.spans.push(Span { range: part, placeholder: first.placeholder });
            return;
        };
        self.bytes_left = left;
        let mut from = part.start;
        for Span { range, placeholder } in found {
            let range = part.start + range.start..part.start + range.end;
            self.run(from..range.start, pass + 1);
            from = range.end;
            self.spans.push(Span { range, placeholder });
        }
        self.run(from..part.end, pass + 1);
    }
}

fn parse_kinds(text: &str) -> Option<Vec<DataKind>> {
    if text == "all" {
        return Some(DataKind::ALL.to_vec());
    }
    let kind = |name: &str| DataKind::ALL.into_iter().find(|kind| kind.name() == name.trim());
    let mut kinds: Vec<DataKind> = text.split(',').map(kind).collect::<Option<_>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    Some(kinds)
}
