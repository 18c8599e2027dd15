use domain::Language;
use prompts::{ArgumentTexts, CallTexts, fill};
use serde_json::Value;

use super::schema_index::distinct_types;

/// Maximum number of missing and invalid fields that are reported.
pub(super) const MAX_ERRORS: usize = 10;

/// Maximum number of values of an enumeration, and of alternatives, that are listed.
const MAX_LISTED: usize = 100;

/// Why arguments do not match a schema; it never contains a value of the arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArgumentErrors {
    /// Missing required fields, as paths such as `filter.from`.
    pub missing: Vec<String>,
    /// Fields with a value that is not accepted.
    pub invalid: Vec<FieldError>,
    /// Whether the check was given up, because the arguments are too large for their schema.
    pub too_large: bool,
}

/// A field with a value that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The field as a path; empty for the arguments as a whole, which must be an object.
    pub field: String,
    /// The accepted values.
    pub accepted: Accepted,
}

/// The values that a schema accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// One of these values.
    OneOf {
        /// The first values.
        values: Vec<Value>,
        /// Whether there are more.
        is_cut: bool,
    },
    /// A value of one of these types of JSON Schema, within the bounds if it is a number.
    Types {
        /// The names of the types.
        names: Vec<String>,
        /// The lowest number.
        min: Option<Value>,
        /// The highest number.
        max: Option<Value>,
    },
    /// What one of these accepts.
    AnyOf(Vec<Accepted>),
}

impl ArgumentErrors {
    /// The errors as one text for the model, which names every field and the accepted values.
    pub fn render(&self, language: Language) -> String {
        let texts = ArgumentTexts::of(language);
        let missing = self.missing.iter().map(|field| fill(texts.missing, &[("field", field)]));
        let invalid = self.invalid.iter().map(|error| match error.field.as_str() {
            "" => texts.not_an_object.to_owned(),
            field => fill(texts.invalid, &[("field", field), ("accepted", &error.accepted.render(language))]),
        });
        let too_large = self.too_large.then(|| texts.too_large.to_owned());
        missing.chain(invalid).chain(too_large).collect::<Vec<_>>().join(texts.separator)
    }
}

impl Accepted {
    pub(super) fn by_type(schema: &Value) -> Self {
        let names = distinct_types(schema).into_iter().map(str::to_owned).collect();
        Self::Types { names, min: schema.get("minimum").cloned(), max: schema.get("maximum").cloned() }
    }

    pub(super) fn one_of(allowed: &[Value]) -> Self {
        let values: Vec<_> = allowed.iter().take(MAX_LISTED).cloned().collect();
        Self::OneOf { is_cut: values.len() < allowed.len(), values }
    }

    /// What alternatives accept, each different one once.
    pub(super) fn any_of(choices: &[Value]) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for accepted in choices.iter().take(MAX_LISTED).map(Self::by_type) {
            if !all.contains(&accepted) {
                all.push(accepted);
            }
        }
        Self::AnyOf(all)
    }

    fn render(&self, language: Language) -> String {
        let texts = ArgumentTexts::of(language);
        match self {
            Self::OneOf { values, is_cut } => {
                let values: Vec<_> =
                    values.iter().map(Value::to_string).chain(is_cut.then(|| "…".to_owned())).collect();
                fill(texts.one_of, &[("values", &values.join(CallTexts::of(language).list_separator))])
            }
            Self::Types { names, min, max } => {
                let kind = alternatives(names.iter().map(|name| type_name(name, texts).to_owned()), texts);
                let text = |bound: &Option<Value>| bound.as_ref().map(Value::to_string).unwrap_or_default();
                let template = match (min, max) {
                    (Some(_), Some(_)) => texts.between,
                    (Some(_), None) => texts.at_least,
                    (None, Some(_)) => texts.at_most,
                    (None, None) => return kind,
                };
                fill(template, &[("kind", &kind), ("min", &text(min)), ("max", &text(max))])
            }
            Self::AnyOf(choices) => alternatives(choices.iter().map(|choice| choice.render(language)), texts),
        }
    }
}

fn alternatives(choices: impl Iterator<Item = String>, texts: &ArgumentTexts) -> String {
    let join = |first: String, second: String| fill(texts.alternative, &[("first", &first), ("second", &second)]);
    choices.reduce(join).unwrap_or_else(|| texts.other.to_owned())
}

fn type_name(name: &str, texts: &ArgumentTexts) -> &'static str {
    match name {
        "integer" => texts.integer,
        "array" => texts.array,
        "object" => texts.object,
        "string" => texts.string,
        "number" => texts.number,
        "boolean" => texts.boolean,
        "null" => texts.null,
        _ => texts.other,
    }
}
