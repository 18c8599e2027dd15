//! The text of the system prompt that teaches a format; only the sample calls differ between formats.

use domain::{Language, ToolCall, ToolExample, ToolSpec};
use prompts::{CallTexts, fill};
use serde_json::{Map, Value, json};

use super::CallFormat;
use crate::parameter_value::{required_fields, schema_types};

impl CallFormat {
    /// The part of the system prompt that teaches the format and lists the tools; empty without tools. `today`, as
    /// `YYYY-MM-DD`, replaces `{today}` in the arguments of examples.
    pub fn instructions(&self, tools: &[ToolSpec], language: Language, today: &str) -> String {
        if tools.is_empty() {
            return String::new();
        }
        let texts = CallTexts::of(language);
        let sections: Vec<_> = tools.iter().map(|tool| render_section(self, tool, texts, today)).collect();
        fill(texts.instructions, &[("sections", &sections.join("\n\n"))])
    }
}

/// A tool in as few tokens as models need: its examples show the format, and only what differs from a required string is
/// stated of its parameters.
fn render_section(format: &CallFormat, tool: &ToolSpec, texts: &CallTexts, today: &str) -> String {
    // On one line: lines of it could pass for parameters.
    let description = tool.description.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>();
    let separator = if description.is_empty() { "" } else { " - " };
    let mut parts = vec![format!("### {}{separator}{}", tool.name, description.join(" "))];
    parts.extend(render_parameters(&tool.parameters, texts));
    for ToolExample { question, arguments } in &tool.examples {
        let call = format.render_call(&build_call(tool, with_date(arguments, today)));
        parts.push(fill(texts.example, &[("question", question), ("call", &call)]));
    }
    if tool.examples.is_empty() {
        parts.push(fill(texts.format, &[("call", &format.render_call(&usage_call(tool)))]));
    }
    parts.join("\n")
}

fn render_parameters(schema: &Value, texts: &CallTexts) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(|(name, property)| render_parameter(name, property, is_required(schema, name), texts)).collect()
}

fn render_parameter(name: &str, property: &Value, required: bool, texts: &CallTexts) -> String {
    let constants = property.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty());
    let mut kinds: Vec<_> = match constants {
        Some(values) => values.iter().map(Value::to_string).collect(),
        None => schema_types(property).into_iter().map(str::to_owned).collect(),
    };
    if kinds.is_empty() {
        kinds.push("any".to_owned());
    }
    let mut facts: Vec<_> = (!required).then(|| texts.optional.to_owned()).into_iter().collect();
    facts.extend(Some(kinds.join("|")).filter(|kinds| kinds != "string"));
    if let Some(default) = property.get("default") {
        facts.push(fill(texts.default_value, &[("value", &default.to_string())]));
    }
    let facts = Some(facts.join(texts.fact_separator)).filter(|facts| !facts.is_empty());
    let facts = facts.map(|facts| fill(texts.facts, &[("facts", &facts)])).unwrap_or_default();
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
