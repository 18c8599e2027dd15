use std::collections::HashSet;

use conversation::{Failure, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use crate::Fields;

/// Maximum number of tools in a request.
const MOST: usize = 128;

/// Maximum length of a tool's name, in characters.
const LONGEST: usize = 64;

/// Parses the client tools. `strict` is dropped: models receive the schema, and their arguments are not validated.
pub(super) fn specs(fields: &mut Fields) -> Result<Vec<ToolSpec>, Failure> {
    let mut names = HashSet::new();
    let mut specs = Vec::new();
    for row in fields.objects("tools", MOST)?.unwrap_or_default() {
        let (spec, place) = spec(row)?;
        if !names.insert(spec.name.clone()) {
            return Err(place.wrong("name", "used for one tool only"));
        }
        specs.push(spec);
    }
    Ok(specs)
}

fn spec(mut row: Fields) -> Result<(ToolSpec, Fields), Failure> {
    if row.text("type")?.as_deref() != Some("function") {
        return Err(row.wrong("type", "`function`: other tools are not known here"));
    }
    let mut function = row.inner("function")?.ok_or_else(|| row.wrong("function", "given: an object"))?;
    let name = function.text("name")?.filter(|name| is_name(name));
    let name = name.ok_or_else(|| function.wrong("name", "1 to 64 letters, digits, _ or -"))?;
    let description = function.text("description")?.unwrap_or_default();
    let parameters = function.object("parameters")?.filter(|schema| !schema.is_empty()).map(Value::from);
    let parameters = parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    Ok((ToolSpec { name, description, parameters, examples: Vec::new() }, function))
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(fits)
}

/// Parses `tool_choice`: a mode, or one function by name.
pub(super) fn choice(fields: &mut Fields) -> Result<Option<ToolChoice>, Failure> {
    let accepted = "auto, none, required or {\"type\": \"function\", \"function\": {\"name\": \"…\"}}";
    let choice = match fields.take("tool_choice") {
        None => return Ok(None),
        Some(Value::String(word)) => match word.as_str() {
            "auto" => Some(ToolChoice::Auto),
            "none" => Some(ToolChoice::None),
            "required" => Some(ToolChoice::Required),
            _ => None,
        },
        Some(choice) if choice["type"] == "function" => {
            choice["function"]["name"].as_str().map(|name| ToolChoice::Tool(name.to_owned()))
        }
        Some(_) => None,
    };
    choice.map(Some).ok_or_else(|| fields.wrong("tool_choice", accepted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(body: &Value) -> Fields {
        Fields::parse(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn function_requires_only_a_name() {
        let tools = json!([{"type": "function", "function": {"name": "get-now", "strict": true}}]);
        let parameters = json!({"type": "object", "properties": {}});
        let expected =
            ToolSpec { name: "get-now".into(), description: String::new(), parameters, examples: Vec::new() };
        assert_eq!(specs(&mut fields(&json!({ "tools": tools }))), Ok(vec![expected]));
        let twice = json!({"type": "function", "function": {"name": "f"}});
        for (tool, param) in [
            (json!({"type": "custom", "custom": {"name": "f"}}), "tools[0].type"),
            (json!({"type": "function"}), "tools[0].function"),
            (json!({"type": "function", "function": {"name": "a b"}}), "tools[0].function.name"),
        ] {
            let failure = specs(&mut fields(&json!({ "tools": [tool] }))).unwrap_err();
            assert_eq!(failure.param.as_deref(), Some(param));
        }
        let failure = specs(&mut fields(&json!({ "tools": [twice, twice] }))).unwrap_err();
        assert_eq!(failure.message, "`tools[1].function.name` must be used for one tool only");
    }

    #[test]
    fn tool_choice_is_a_mode_or_function() {
        let of = |value: Value| choice(&mut fields(&json!({ "tool_choice": value }))).ok().flatten();
        assert_eq!(of(json!("required")), Some(ToolChoice::Required));
        let named = json!({"type": "function", "function": {"name": "f"}});
        assert_eq!(of(named), Some(ToolChoice::Tool("f".into())));
        assert_eq!((of(json!("any")), of(json!({"type": "allowed_tools"}))), (None, None));
    }
}
