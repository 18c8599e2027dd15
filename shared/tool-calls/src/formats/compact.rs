//! The tools in few tokens: for each a signature, one line about it, its required parameters and a call.

use domain::ToolSpec;
use serde_json::Value;

use super::CallFormat;
use super::prompt::{is_required, usage_call};
use crate::parameter_value::schema_types;

const MAX_DESCRIPTION_CHARS: usize = 60;

impl CallFormat {
    /// The tools for a prompt with little space, in no natural language of its own: the signature of each, its descriptions
    /// shortened, and a call.
    pub fn compact_tools(&self, tools: &[ToolSpec]) -> String {
        let render = |tool: &ToolSpec| {
            let mut lines = vec![format!("{}({})", tool.name, signature(&tool.parameters))];
            lines.extend(Some(shorten(&tool.description)).filter(|line| !line.is_empty()));
            lines.extend(required_descriptions(&tool.parameters));
            lines.push(self.render_call(&usage_call(tool)));
            lines.join("\n")
        };
        tools.iter().map(render).collect::<Vec<_>>().join("\n\n")
    }
}

fn signature(schema: &Value) -> String {
    let parameters: Vec<_> = properties(schema)
        .map(|(name, property)| {
            let optional = if is_required(schema, name) { "" } else { "?" };
            format!("{name}{optional}: {}", type_of(property))
        })
        .collect();
    parameters.join(", ")
}

/// The type of a value: its constants, or the names of its types.
fn type_of(property: &Value) -> String {
    let constants = property.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty());
    let names: Vec<String> = match constants {
        Some(values) => values.iter().map(Value::to_string).collect(),
        None => schema_types(property).into_iter().filter(|kind| *kind != "null").map(str::to_owned).collect(),
    };
    if names.is_empty() { "any".to_owned() } else { names.join("|") }
}

fn required_descriptions(schema: &Value) -> impl Iterator<Item = String> {
    let required = properties(schema).filter(|(name, _)| is_required(schema, name));
    required.filter_map(|(name, property)| {
        let description = shorten(property.get("description").and_then(Value::as_str).unwrap_or_default());
        (!description.is_empty()).then(|| format!("- {name}: {description}"))
    })
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// The first sentence of a description, on one line.
fn shorten(description: &str) -> String {
    let description = description.trim();
    let end = description.find(['。', '\n']).or_else(|| description.find(". ")).unwrap_or(description.len());
    let title = description[..end].trim_end_matches('.');
    if title.chars().count() <= MAX_DESCRIPTION_CHARS {
        return title.to_owned();
    }
    title.chars().take(MAX_DESCRIPTION_CHARS).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::format_for;

    use super::*;

    fn spec(description: &str, parameters: Value) -> ToolSpec {
        ToolSpec { name: "f".to_owned(), description: description.to_owned(), parameters, examples: Vec::new() }
    }

    #[test]
    fn tool_is_signature_description_and_call() {
        let parameters = json!({
            "type": "object", "required": ["city"],
            "properties": {
                "city": {"type": "string", "description": "Its name. Not a code."},
                "days": {"type": ["integer", "null"], "description": "How many."},
                "unit": {"enum": ["c", "f"]},
                "extra": {},
            },
        });
        let one = spec("Tells the weather. Use it often.", parameters);
        let expected = "f(city: string, days?: integer, unit?: \"c\"|\"f\", extra?: any)\n\
            Tells the weather\n- city: Its name\n<tool_call>{\"tool\": \"f\", \"city\": \"…\"}</tool_call>";
        let rendered = format_for("any").compact_tools(std::slice::from_ref(&one));
        assert_eq!(rendered, expected);
        assert_eq!(format_for("any").compact_tools(&[one.clone(), one]), format!("{rendered}\n\n{rendered}"));
    }

    #[test]
    fn tool_without_texts_and_parameters_has_two_lines() {
        let rendered = format_for("any").compact_tools(&[spec("", json!({"type": "object"}))]);
        assert_eq!(rendered, "f()\n<tool_call>{\"tool\": \"f\"}</tool_call>");
        assert_eq!(format_for("any").compact_tools(&[]), "");
    }

    #[test]
    fn long_description_is_cut() {
        let rendered = format_for("any").compact_tools(&[spec(&"很".repeat(90), json!({"type": "object"}))]);
        assert_eq!(rendered.lines().nth(1), Some(&*format!("{}…", "很".repeat(60))));
    }
}
