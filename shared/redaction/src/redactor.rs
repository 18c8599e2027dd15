use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use platform::settings::{SettingError, Settings};
use serde_json::Value;

use crate::patterns::{self, Pattern};
use crate::spans::{Span, merge_overlapping, replace_spans};
use crate::{DataKind, email, lettered_ids, numbers};

/// Maximum number of searches of a part of a text: a replacement may expose data that was joined to it. If the last
/// search still finds something, the whole part is replaced, so that nothing of a longer chain is left.
const MAX_PASSES: usize = 8;

/// Maximum length of a field name that is read with its value, and how far it applies into the value, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Maximum depth of JSON texts inside JSON texts.
const MAX_JSON_DEPTH: usize = 4;

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
}

impl Redactor {
    /// Reads `MASK`, `MASK_PATTERNS` and `MASK_RESULTS`.
    ///
    /// # Errors
    /// An unknown kind, an invalid pattern, or results that are to be redacted without any of them.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let kinds = settings.parse("MASK", ACCEPTED, parse_kinds)?.unwrap_or_default();
        let patterns = settings.parse("MASK_PATTERNS", patterns::ACCEPTED, patterns::parse)?.unwrap_or_default();
        let redacts_results = settings.is_yes("MASK_RESULTS")?;
        let is_on = !kinds.is_empty() || !patterns.is_empty();
        if redacts_results && !is_on {
            return Err(SettingError::new("MASK_RESULTS", "yes only with MASK or MASK_PATTERNS"));
        }
        Ok(Self(is_on.then(|| Arc::new(Rules { kinds, patterns, redacts_results }))))
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
        self.0.as_ref().map(|rules| rules.spans(text)).unwrap_or_default()
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

    /// Redacts the result of a tool, if the settings want that.
    pub fn redact_result<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let wants_it = self.0.as_ref().is_some_and(|rules| rules.redacts_results);
        if wants_it { self.redact_text(text) } else { Cow::Borrowed(text) }
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
        if self.is_off() {
            return text.to_owned();
        }
        let mut redacted = text.to_owned();
        // Each round but the last replaces something; after the first, little is left to find.
        loop {
            let inner = self.redact_json_text(name, &redacted, depth_left);
            let round = self.redact_text(&self.redact_after_name(name, &inner)).into_owned();
            if round == redacted {
                return redacted;
            }
            redacted = round;
        }
    }

    /// Redacts a text that is JSON as JSON; returns any other text unchanged.
    fn redact_json_text(&self, name: &str, text: &str, depth_left: usize) -> String {
        let may_be_json = depth_left > 0 && text.trim_start().starts_with(['{', '[']);
        let value: Option<Value> = may_be_json.then(|| serde_json::from_str(text).ok()).flatten();
        let redacted = value.map(|value| (self.redact_nested(name, &value, depth_left - 1), value));
        redacted.filter(|(new, old)| new != old).map_or_else(|| text.to_owned(), |(new, _)| new.to_string())
    }

    /// Replaces data in a text that is personal data after this field name.
    fn redact_after_name(&self, name: &str, text: &str) -> String {
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return text.to_owned();
        }
        let lead = format!("{name}: ");
        let text_with_name = format!("{lead}{text}");
        let mut spans = self.spans(&text_with_name);
        spans.retain(|span| (lead.len()..lead.len() + MAX_NAME_BYTES).contains(&span.range.start));
        replace_spans(&text_with_name, &spans).split_off(lead.len())
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redactor").field(&self.names()).finish()
    }
}

impl Rules {
    /// All personal data in a text. No scanner crosses a placeholder or a line end, so each part between them is
    /// searched separately.
    fn spans(&self, text: &str) -> Vec<Span<'_>> {
        let mut spans = Vec::new();
        for part in self.split_at_placeholders(text) {
            let mut start = part.start;
            for line in text.get(part).unwrap_or_default().split_inclusive(['\n', '\r']) {
                self.search(text, start..start + line.len(), MAX_PASSES, &mut spans);
                start += line.len();
            }
        }
        spans
    }

    /// Adds the personal data of a part, then that of the remaining parts.
    fn search<'a>(&'a self, text: &str, part: Range<usize>, passes: usize, spans: &mut Vec<Span<'a>>) {
        let found = self.find_in_part(text.get(part.clone()).unwrap_or_default());
        let Some(first) = found.first() else { return };
        if passes <= 1 {
            spans.push(Span { range: part, placeholder: first.placeholder });
            return;
        }
        let mut from = part.start;
        for Span { range, placeholder } in found {
            let range = part.start + range.start..part.start + range.end;
            self.search(text, from..range.start, passes - 1, spans);
            from = range.end;
            spans.push(Span { range, placeholder });
        }
        self.search(text, from..part.end, passes - 1, spans);
    }

    /// The result of a single search of a part.
    fn find_in_part(&self, part: &str) -> Vec<Span<'_>> {
        let is_wanted = |kind| self.kinds.contains(&kind);
        let mut spans = Vec::new();
        if part.is_empty() {
            return spans;
        }
        if is_wanted(DataKind::Email) {
            let found = email::find(part).into_iter();
            spans.extend(found.map(|range| Span { range, placeholder: DataKind::Email.placeholder() }));
        }
        if self.kinds.iter().any(|kind| *kind != DataKind::Email) {
            let found = numbers::find(part, &is_wanted).into_iter().chain(lettered_ids::find(part, &is_wanted));
            spans.extend(found.map(|(range, kind)| Span { range, placeholder: kind.placeholder() }));
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
