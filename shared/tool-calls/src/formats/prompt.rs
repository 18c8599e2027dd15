//! The text of the system prompt that teaches a format; only the sample calls differ between formats.

use domain::{Language, ToolCall, ToolExample, ToolSpec};
use prompts::{CallTexts, fill};
use serde_json::{Map, Value, json};

use super::CallFormat;
use crate::parameter_value::{required_fields, schema_types};

/// Builds the instructions for calling these tools; empty without tools.
pub(super) fn build_instructions(format: &CallFormat, tools: &[ToolSpec], language: Language, today: &str) -> String {
    let Some(first) = tools.first() else { return String::new() };
    let texts = CallTexts::of(language);
    let sections: Vec<_> = tools.iter().map(|tool| render_section(format, tool, texts, today)).collect();
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    let values = [
        ("sections", &*sections.join("\n\n")),
        ("names", &*names.join(texts.list_separator)),
        ("call", &*format.render_call(&sample_call(first, today))),
    ];
    fill(texts.instructions, &values)
}

fn render_section(format: &CallFormat, tool: &ToolSpec, texts: &CallTexts, today: &str) -> String {
    let (title, rest) = split_title(&tool.description);
    let mut parts = vec![format!("### {} - {title}", tool.name)];
    if !rest.is_empty() {
        parts.push(fill(texts.when_to_use, &[("condition", rest)]));
    }
    parts.push(fill(texts.parameters, &[("parameters", &render_parameters(&tool.parameters, texts))]));
    parts.push(fill(texts.format, &[("call", &format.render_call(&usage_call(tool)))]));
    let example = |example: &ToolExample| {
        let call = format.render_call(&example_call(tool, example, today));
        fill(texts.example, &[("question", &example.question), ("call", &call)])
    };
    let examples: Vec<_> = tool.examples.iter().map(example).collect();
    if !examples.is_empty() {
        parts.push(fill(texts.examples, &[("examples", &examples.join("\n\n"))]));
    }
    parts.join("\n\n")
}

/// Splits a description into its first sentence, without the full stop, and the rest.
pub(super) fn split_title(description: &str) -> (&str, &str) {
    let description = description.trim();
    let end = description.find(['。', '\n']).or_else(|| description.find(". ")).unwrap_or(description.len());
    let rest = description[end..].trim_start_matches(['。', '.', '\n', ' ']);
    (description[..end].trim_end_matches('.'), rest)
}

fn render_parameters(schema: &Value, texts: &CallTexts) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty()) else {
        return texts.no_parameters.to_owned();
    };
    let render =
        |(name, property): (&String, &Value)| render_parameter(name, property, is_required(schema, name), texts);
    properties.iter().map(render).collect::<Vec<_>>().join("\n")
}

fn render_parameter(name: &str, property: &Value, required: bool, texts: &CallTexts) -> String {
    let kinds = schema_types(property).join(" | ");
    let kinds = if kinds.is_empty() { "any" } else { &kinds };
    let mut facts = vec![kinds.to_owned(), if required { texts.required } else { texts.optional }.to_owned()];
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        facts.push(fill(texts.one_of, &[("values", &values.join(texts.list_separator))]));
    }
    if let Some(default) = property.get("default") {
        facts.push(fill(texts.default_value, &[("value", &default.to_string())]));
    }
    let facts = facts.join(texts.fact_separator);
    match property.get("description").and_then(Value::as_str) {
        None | Some("") => fill(texts.parameter, &[("name", name), ("facts", &facts)]),
        Some(description) => {
            let values = [("name", name), ("facts", &*facts), ("description", description)];
            fill(texts.described_parameter, &values)
        }
    }
}

pub(super) fn is_required(schema: &Value, name: &str) -> bool {
    required_fields(schema).any(|other| other == name)
}

/// A call that shows the format: every required parameter with a placeholder value.
pub(super) fn usage_call(tool: &ToolSpec) -> ToolCall {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let members = properties.into_iter().flatten().filter(|(name, _)| is_required(&tool.parameters, name));
    let arguments: Map<_, _> = members.map(|(name, property)| (name.clone(), placeholder(property))).collect();
    build_call(tool, Value::Object(arguments))
}

fn placeholder(property: &Value) -> Value {
    if let Some(first) = property.get("enum").and_then(Value::as_array).and_then(|values| values.first()) {
        return first.clone();
    }
    match schema_types(property).first().copied() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!(["…"]),
        Some("object") => json!({}),
        _ => json!("…"),
    }
}

/// A sample call: the first example, or the usage.
fn sample_call(tool: &ToolSpec, today: &str) -> ToolCall {
    tool.examples.first().map_or_else(|| usage_call(tool), |example| example_call(tool, example, today))
}

fn example_call(tool: &ToolSpec, example: &ToolExample, today: &str) -> ToolCall {
    build_call(tool, with_date(&example.arguments, today))
}

/// Replaces `{today}` in all strings of a value.
fn with_date(value: &Value, today: &str) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, &[("today", today)])),
        Value::Array(items) => items.iter().map(|item| with_date(item, today)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, member)| (name.clone(), with_date(member, today))).collect())
        }
        other => other.clone(),
    }
}

fn build_call(tool: &ToolSpec, arguments: Value) -> ToolCall {
    ToolCall { id: String::new(), name: tool.name.clone(), arguments }
}

pub(super) fn escape_attribute(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
