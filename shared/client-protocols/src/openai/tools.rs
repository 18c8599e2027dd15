use std::collections::HashSet;

use domain::{Failure, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use domain::StrictObject;

const MAX_TOOLS: usize = 128;

/// The web search of OpenAI's models, as a prefix: versions have a date in their names.
// Source: OpenAI, "Web search", https://platform.openai.com/docs/guides/tools-web-search (2026-11-24).
const WEB_SEARCH: &str = "web_search";

/// The tool that searches the web here.
const SEARCH_TOOL: &str = "search_web";

const MAX_NAME_CHARS: usize = 64;

/// Parses the client tools, and whether the web search is among the tools. `strict` is dropped: models receive the schema,
/// and their arguments are not validated.
pub(super) fn parse_tools(fields: &mut StrictObject) -> Result<(Vec<ToolSpec>, bool), Failure> {
    let mut names = HashSet::new();
    let (mut specs, mut has_web_search) = (Vec::new(), false);
    for mut row in fields.take_objects("tools", MAX_TOOLS)?.unwrap_or_default() {
        let kind = row.take_string("type")?;
        if kind.as_deref().is_some_and(|kind| kind.starts_with(WEB_SEARCH)) {
            has_web_search = true;
            continue;
        }
        let (spec, function) = parse_function(row, kind.as_deref())?;
        if !names.insert(spec.name.clone()) {
            return Err(function.field_error("name", "used for one tool only"));
        }
        specs.push(spec);
    }
    Ok((specs, has_web_search))
}

/// Parses the tools of a response: the fields of a function are in the tool itself. Tools of unknown types are ignored.
pub(super) fn parse_response_tools(fields: &mut StrictObject) -> Result<(Vec<ToolSpec>, bool), Failure> {
    let mut names = HashSet::new();
    let (mut specs, mut has_web_search) = (Vec::new(), false);
    for mut row in fields.take_objects("tools", MAX_TOOLS)?.unwrap_or_default() {
        let kind = row.take_string("type")?.unwrap_or_default();
        has_web_search |= kind.starts_with(WEB_SEARCH);
        if kind == "function" {
            let spec = parse_spec(&mut row)?;
            if !names.insert(spec.name.clone()) {
                return Err(row.field_error("name", "used for one tool only"));
            }
            specs.push(spec);
        }
    }
    Ok((specs, has_web_search))
}

fn parse_function(mut row: StrictObject, kind: Option<&str>) -> Result<(ToolSpec, StrictObject), Failure> {
    if kind != Some("function") {
        return Err(row.field_error("type", "`function` or `web_search`: other tools are not known here"));
    }
    let mut function = row.take_nested("function")?.ok_or_else(|| row.field_error("function", "given: an object"))?;
    Ok((parse_spec(&mut function)?, function))
}

fn parse_spec(function: &mut StrictObject) -> Result<ToolSpec, Failure> {
    let name = function.take_string("name")?.filter(|name| is_name(name));
    let name = name.ok_or_else(|| function.field_error("name", "1 to 64 letters, digits, _ or -"))?;
    let description = function.take_string("description")?.unwrap_or_default();
    let parameters = function.take_object("parameters")?.filter(|schema| !schema.is_empty()).map(Value::from);
    let parameters = parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    Ok(ToolSpec { name, description, parameters, examples: Vec::new() })
}

fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=MAX_NAME_CHARS).contains(&name.len()) && name.bytes().all(fits)
}

/// Parses `tool_choice`: a mode, or one function by name.
pub(super) fn parse_tool_choice(fields: &mut StrictObject) -> Result<Option<ToolChoice>, Failure> {
    let accepted = "auto, none, required or {\"type\": \"function\", \"function\": {\"name\": \"…\"}}";
    let choice = match fields.take_value("tool_choice") {
        None => return Ok(None),
        Some(mode @ Value::String(_)) => tool_choice_mode(&mode),
        Some(choice) if choice["type"] == "function" => {
            choice["function"]["name"].as_str().map(|name| ToolChoice::Tool(name.to_owned()))
        }
        Some(choice) => choice["type"].as_str().and_then(web_search_choice),
    };
    choice.map(Some).ok_or_else(|| fields.field_error("tool_choice", accepted))
}

/// `auto`, `none` or `required`.
pub(super) fn tool_choice_mode(mode: &Value) -> Option<ToolChoice> {
    match mode.as_str()? {
        "auto" => Some(ToolChoice::Auto),
        "none" => Some(ToolChoice::None),
        "required" => Some(ToolChoice::Required),
        _ => None,
    }
}

/// The choice of OpenAI's web search by the type of the tool.
pub(super) fn web_search_choice(kind: &str) -> Option<ToolChoice> {
    kind.starts_with(WEB_SEARCH).then(|| ToolChoice::Tool(SEARCH_TOOL.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(body: &Value) -> StrictObject {
        StrictObject::parse(body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn function_requires_only_a_name() {
        let tools = json!([{"type": "function", "function": {"name": "get-now", "strict": true}}]);
        let parameters = json!({"type": "object", "properties": {}});
        let expected =
            ToolSpec { name: "get-now".into(), description: String::new(), parameters, examples: Vec::new() };
        assert_eq!(parse_tools(&mut fields(&json!({ "tools": tools }))), Ok((vec![expected], false)));
        let search = json!([{"type": "web_search_preview", "search_context_size": "low"}]);
        assert_eq!(parse_tools(&mut fields(&json!({ "tools": search }))), Ok((Vec::new(), true)));
        let twice = json!({"type": "function", "function": {"name": "f"}});
        for (tool, param) in [
            (json!({"type": "custom", "custom": {"name": "f"}}), "tools[0].type"),
            (json!({"type": "function"}), "tools[0].function"),
            (json!({"type": "function", "function": {"name": "a b"}}), "tools[0].function.name"),
        ] {
            let failure = parse_tools(&mut fields(&json!({ "tools": [tool] }))).unwrap_err();
            assert_eq!(failure.param.as_deref(), Some(param));
        }
        let failure = parse_tools(&mut fields(&json!({ "tools": [twice, twice] }))).unwrap_err();
        assert_eq!(failure.message, "`tools[1].function.name` must be used for one tool only");
    }

    #[test]
    fn tool_choice_is_a_mode_or_function() {
        let of = |value: Value| parse_tool_choice(&mut fields(&json!({ "tool_choice": value }))).ok().flatten();
        assert_eq!(of(json!("required")), Some(ToolChoice::Required));
        let named = json!({"type": "function", "function": {"name": "f"}});
        assert_eq!(of(named), Some(ToolChoice::Tool("f".into())));
        assert_eq!(of(json!({"type": "web_search"})), Some(ToolChoice::Tool("search_web".into())));
        assert_eq!((of(json!("any")), of(json!({"type": "allowed_tools"}))), (None, None));
    }
}
