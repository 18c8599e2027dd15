use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;
use settings::{SettingError, Settings};

use crate::patterns::{self, Pattern};
use crate::spans::{Span, joined, replaced};
use crate::{Kind, email, lettered, numbers};

/// How often a text is searched at most: a placeholder may set free what was part of something longer.
const MAX_PASSES: usize = 4;

/// Longest value of a field whose name is read with it, in bytes.
const MAX_NAMED: usize = 128;

/// What is accepted as `MASK`.
const ACCEPTED: &str = "all, or some of email, phone, id and card with commas between them";

/// Replaces the configured kinds of personal data; by default none. Clones share the configuration.
#[derive(Clone, Default)]
pub struct Redactor(Option<Arc<Rules>>);

struct Rules {
    kinds: Vec<Kind>,
    patterns: Vec<Pattern>,
}

impl Redactor {
    /// Reads `MASK` and `MASK_PATTERNS`.
    ///
    /// # Errors
    /// A kind that is none, or a pattern that cannot be used.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let kinds = settings.parsed("MASK", ACCEPTED, kinds)?.unwrap_or_default();
        let patterns = settings.parsed("MASK_PATTERNS", patterns::ACCEPTED, patterns::parse)?.unwrap_or_default();
        let is_on = !kinds.is_empty() || !patterns.is_empty();
        Ok(Self(is_on.then(|| Arc::new(Rules { kinds, patterns }))))
    }

    /// Whether nothing is replaced.
    pub fn is_off(&self) -> bool {
        self.0.is_none()
    }

    /// The names of what is replaced, in order.
    pub fn names(&self) -> Vec<&str> {
        let Some(rules) = &self.0 else { return Vec::new() };
        rules.kinds.iter().map(|kind| kind.name()).chain(rules.patterns.iter().map(Pattern::name)).collect()
    }

    /// The personal data in a text, in order and apart. Time and memory are linear in the text.
    pub fn spans(&self, text: &str) -> Vec<Span<'_>> {
        self.0.as_ref().map(|rules| rules.spans(text)).unwrap_or_default()
    }

    /// Whether there is personal data in a text.
    pub fn finds(&self, text: &str) -> bool {
        !self.spans(text).is_empty()
    }

    /// The text with placeholders in the place of personal data.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        for _ in 0..MAX_PASSES {
            let spans = self.spans(&redacted);
            if spans.is_empty() {
                break;
            }
            redacted = Cow::Owned(replaced(&redacted, &spans));
        }
        redacted
    }

    /// JSON with placeholders in the place of personal data: in texts, and instead of numbers that are personal data as
    /// a whole. The names of fields stay.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        if self.is_off() { value.clone() } else { self.field("", value) }
    }

    /// The value of a field, whose name may say what its digits are.
    #[must_use]
    pub fn field(&self, name: &str, value: &Value) -> Value {
        match value {
            Value::String(text) => self.named(name, text).into(),
            Value::Number(number) => {
                let text = number.to_string();
                let redacted = self.named(name, &text);
                if redacted == text { value.clone() } else { redacted.into() }
            }
            Value::Array(items) => items.iter().map(|item| self.field(name, item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), self.field(name, value))).collect())
            }
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    fn named(&self, name: &str, text: &str) -> String {
        if self.is_off() || name.is_empty() || text.len() > MAX_NAMED || name.len() > MAX_NAMED {
            return self.text(text).into_owned();
        }
        let lead = format!("{name}: ");
        let whole = format!("{lead}{text}");
        let mut spans = self.spans(&whole);
        spans.retain(|span| span.range.start >= lead.len());
        let redacted = replaced(&whole, &spans);
        self.text(redacted.get(lead.len()..).unwrap_or_default()).into_owned()
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redactor").field(&self.names()).finish()
    }
}

impl Rules {
    fn spans(&self, text: &str) -> Vec<Span<'_>> {
        let wanted = |kind| self.kinds.contains(&kind);
        let mut spans = Vec::new();
        if wanted(Kind::Email) {
            let found = email::find(text).into_iter();
            spans.extend(found.map(|range| Span { range, placeholder: Kind::Email.placeholder() }));
        }
        if self.kinds.iter().any(|kind| *kind != Kind::Email) {
            let found = numbers::find(text, &wanted).into_iter().chain(lettered::find(text, &wanted));
            spans.extend(found.map(|(range, kind)| Span { range, placeholder: kind.placeholder() }));
        }
        if !self.patterns.is_empty() {
            self.add_patterns(text, &mut spans);
        }
        joined(spans)
    }

    /// Adds the matches of the operator's patterns between placeholders.
    fn add_patterns<'a>(&'a self, text: &str, spans: &mut Vec<Span<'a>>) {
        for part in self.parts(text) {
            for pattern in &self.patterns {
                let mut found = Vec::new();
                pattern.find(text.get(part.clone()).unwrap_or_default(), part.start, &mut found);
                spans.extend(found.into_iter().map(|range| Span { range, placeholder: &pattern.placeholder }));
            }
        }
    }

    /// The parts of a text between the placeholders in it.
    fn parts(&self, text: &str) -> Vec<Range<usize>> {
        let placeholders = || {
            let kinds = Kind::ALL.iter().map(|kind| kind.placeholder());
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

fn kinds(text: &str) -> Option<Vec<Kind>> {
    if text == "all" {
        return Some(Kind::ALL.to_vec());
    }
    let kind = |name: &str| Kind::ALL.into_iter().find(|kind| kind.name() == name.trim());
    let mut kinds: Vec<Kind> = text.split(',').map(kind).collect::<Option<_>>()?;
    kinds.sort_unstable();
    kinds.dedup();
    Some(kinds)
}
