use serde_json::{Map, Value};

use crate::declared_tools::DeclaredTools;
use crate::repair::repair;
use crate::segment::{MalformedReason, ParsedCall};

/// Keys that may hold the tool's name, by priority.
pub(crate) const NAME_KEYS: [&str; 4] = ["tool", "tool_name", "name", "function"];
const ARGUMENT_KEYS: [&str; 5] = ["arguments", "parameters", "args", "input", "params"];
/// Keys of a call that are not arguments.
const OTHER_KEYS: [&str; 4] = ["id", "type", "tool_call_id", "index"];

/// Whether a key indicates that its object may be a call.
pub(crate) fn is_call_key(key: &str) -> bool {
    NAME_KEYS.contains(&key) || ARGUMENT_KEYS.contains(&key) || OTHER_KEYS.contains(&key) || key == "tool_calls"
}

/// Returns the calls that a JSON value represents: an object, or an array of them.
///
/// With a `name` from outside the JSON (an attribute, the text before it) the object is that call's arguments.
pub(crate) fn parse_calls(
    value: Value,
    name: Option<&str>,
    declared: &DeclaredTools,
) -> Result<Vec<ParsedCall>, MalformedReason> {
    match (value, name) {
        (Value::Array(items), None) => {
            let calls: Result<Vec<_>, _> = items.into_iter().map(|item| parse_calls(item, None, declared)).collect();
            let calls: Vec<_> = calls?.into_iter().flatten().collect();
            if calls.is_empty() { Err(MalformedReason::Empty) } else { Ok(calls) }
        }
        (Value::Object(object), None) if object.is_empty() => Err(MalformedReason::Empty),
        (Value::Object(object), None) => parse_unnamed(object, declared),
        // Text before the JSON is no name if the JSON has that of a tool.
        (Value::Object(object), Some(name))
            if !declared.has(name)
                && names_declared(&object, declared)
                && ARGUMENT_KEYS.iter().any(|key| object.contains_key(*key)) =>
        {
            parse_unnamed(object, declared)
        }
        (value, Some(name)) => Ok(vec![build_named(value, name, declared)]),
        (_, None) => Err(MalformedReason::NotAnObject),
    }
}

/// Returns the calls of a JSON value and, if some items of a list are no calls, why the first of those is none.
///
/// Without any call the error is that reason.
pub(crate) fn parse_readable_calls(
    value: Value,
    name: Option<&str>,
    declared: &DeclaredTools,
) -> Result<(Vec<ParsedCall>, Option<MalformedReason>), MalformedReason> {
    let (Value::Array(items), None) = (&value, name) else {
        return parse_calls(value, name, declared).map(|calls| (calls, None));
    };
    let (mut calls, mut fault) = (Vec::new(), None);
    for item in items {
        match parse_calls(item.clone(), None, declared) {
            Ok(more) => calls.extend(more),
            Err(reason) => fault = fault.or(Some(reason)),
        }
    }
    if calls.is_empty() { Err(fault.unwrap_or(MalformedReason::Empty)) } else { Ok((calls, fault)) }
}

/// Whether an object, or each object of an array, has only the fields of a call and the parameters of its tool.
pub(crate) fn has_only_known_fields(value: &Value, declared: &DeclaredTools) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| has_only_known_fields(item, declared)),
        Value::Object(object) => {
            let name = find_name_key(object, declared).and_then(|key| object.get(key)?.as_str()).unwrap_or_default();
            object.keys().all(|key| is_call_key(key) || declared.parameter(name, key).is_some())
        }
        _ => false,
    }
}

fn parse_unnamed(mut object: Map<String, Value>, declared: &DeclaredTools) -> Result<Vec<ParsedCall>, MalformedReason> {
    if let Some(call) = take_action(&mut object, declared) {
        return Ok(vec![call]);
    }
    if let Some(inner) = object.get_mut("function").filter(|inner| inner.is_object()) {
        return parse_calls(inner.take(), None, declared);
    }
    if object.get("tool_calls").is_some_and(Value::is_array) && !object.contains_key("name") {
        return parse_calls(object.remove("tool_calls").unwrap_or_default(), None, declared);
    }
    let Some(key) = find_name_key(&object, declared) else {
        return parse_name_as_key(object, declared);
    };
    let Some(Value::String(name)) = object.shift_remove(key) else {
        return Err(MalformedReason::NoName);
    };
    let arguments = take_arguments(object, &name, declared);
    Ok(vec![ParsedCall { name, arguments }])
}

/// The keys of a call as `LangChain`'s agents write it: `{"action": "f", "action_input": {…}}`. It has no others.
pub(crate) const ACTION_KEYS: [&str; 2] = ["action", "action_input"];

/// Takes such a call out of an object. A string is the argument of a tool that needs only one.
fn take_action(object: &mut Map<String, Value>, declared: &DeclaredTools) -> Option<ParsedCall> {
    let [action, input] = ACTION_KEYS;
    let name = object.get(action)?.as_str().filter(|name| declared.has(name))?.to_owned();
    if object.len() > ACTION_KEYS.len() || !object.keys().all(|key| ACTION_KEYS.contains(&key.as_str())) {
        return None;
    }
    let arguments = match unwrap_arguments(object.remove(input)?) {
        text @ Value::String(_) => {
            let parameter = declared.unnamed_parameter(&name)?.to_owned();
            Value::Object(Map::from_iter([(parameter, text)]))
        }
        arguments => arguments,
    };
    Some(ParsedCall { name, arguments })
}

/// Parses a call as Apertus writes it: `{"f": {…}}`.
fn parse_name_as_key(object: Map<String, Value>, declared: &DeclaredTools) -> Result<Vec<ParsedCall>, MalformedReason> {
    let is_only = object.len() == 1;
    let is_call =
        |(name, value): &(String, Value)| is_only && declared.has(name) && (value.is_object() || value.is_null());
    let (name, arguments) = object.into_iter().next().filter(is_call).ok_or(MalformedReason::NoName)?;
    let arguments = unwrap_envelope(arguments, &name, declared);
    Ok(vec![ParsedCall { name, arguments: unwrap_arguments(arguments) }])
}

/// Keys of the envelope around the arguments of a call whose name is a key.
const ENVELOPE_KEYS: [&str; 5] = ["id", "name", "args", "arguments", "parameters"];

/// Returns the arguments inside of `{"id": …, "args": {…}}`.
fn unwrap_envelope(arguments: Value, tool: &str, declared: &DeclaredTools) -> Value {
    let Value::Object(mut members) = arguments else { return arguments };
    let is_envelope = members.keys().all(|key| ENVELOPE_KEYS.contains(&key.as_str()));
    let key = ARGUMENT_KEYS.into_iter().find(|key| members.get(*key).is_some_and(Value::is_object));
    let is_declared = |key: &String| declared.parameter(tool, key).is_some();
    let is_envelope = is_envelope && !declared.is_untyped(tool) && !members.keys().any(is_declared);
    match key.filter(|_| is_envelope) {
        Some(key) => members.remove(key).unwrap_or_default(),
        None => Value::Object(members),
    }
}

/// Names of an only argument that holds the arguments.
const WRAPPING_KEYS: [&str; 3] = ["arguments", "input", "properties"];

/// Replaces an only argument such as `arguments`, which the tool does not have, by the arguments inside of it.
pub(crate) fn unwrap_only_argument(call: ParsedCall, declared: &DeclaredTools) -> ParsedCall {
    let ParsedCall { name, arguments } = call;
    let only = arguments.as_object().filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let is_known = |key: &String| declared.parameter(&name, key).is_some();
    let inner = match only.filter(|(key, _)| WRAPPING_KEYS.contains(&key.as_str()) && !is_known(key)) {
        Some((_, Value::String(text))) => repair(text.trim()),
        Some((_, value)) => Some(value.clone()),
        None => None,
    };
    let fits =
        |value: &Value| value.as_object().is_some_and(|members| !members.is_empty() && members.keys().all(is_known));
    let arguments = inner.filter(fits).unwrap_or(arguments);
    ParsedCall { name, arguments }
}

fn names_declared(object: &Map<String, Value>, declared: &DeclaredTools) -> bool {
    let name = find_name_key(object, declared).and_then(|key| object.get(key)?.as_str());
    name.is_some_and(|name| declared.has(name))
}

pub(crate) fn describes_tools(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(describes_tools),
        Value::Object(object) => object.contains_key("description") && object.contains_key("parameters"),
        _ => false,
    }
}

/// Whether every call of a JSON value has arguments, even if they are empty.
pub(crate) fn has_arguments(value: &Value, declared: &DeclaredTools) -> bool {
    match value {
        Value::Array(items) => items.iter().all(|item| has_arguments(item, declared)),
        Value::Object(object) => {
            let is_argument = |key: &String| ARGUMENT_KEYS.contains(&key.as_str()) || declared.any_has_parameter(key);
            object.keys().any(|key| is_argument(key) || key == "tool_calls" || declared.has(key))
                || object.get("function").is_some_and(Value::is_object)
        }
        _ => false,
    }
}

/// Finds the key that holds the name: one whose value is a declared tool, else the first that holds any name.
fn find_name_key(object: &Map<String, Value>, declared: &DeclaredTools) -> Option<&'static str> {
    let name = |key: &&str| object.get(*key).and_then(Value::as_str).filter(|name| !name.trim().is_empty());
    let candidates = NAME_KEYS.into_iter().filter(|key| name(key).is_some());
    let known = candidates.clone().find(|key| name(key).is_some_and(|name| declared.has(name)));
    known.or_else(|| candidates.into_iter().next())
}

/// Returns the arguments of an object without its name key: under their own key, or flat.
fn take_arguments(mut object: Map<String, Value>, name: &str, declared: &DeclaredTools) -> Value {
    let holds = |key: &&str| {
        let parameter = declared.parameter(name, key).is_some();
        object.get(*key).is_some_and(|value| !parameter || value.is_object())
    };
    if let Some(key) = ARGUMENT_KEYS.into_iter().find(holds) {
        return unwrap_arguments(object.remove(key).unwrap_or_default());
    }
    object.retain(|key, _| !OTHER_KEYS.contains(&key.as_str()) || declared.parameter(name, key).is_some());
    Value::Object(object)
}

/// Builds a call whose name is outside its JSON.
fn build_named(value: Value, name: &str, declared: &DeclaredTools) -> ParsedCall {
    let arguments = match value {
        Value::Object(mut object) => {
            let repeats =
                find_name_key(&object, declared).filter(|key| object.get(*key).and_then(Value::as_str) == Some(name));
            if let Some(key) = repeats.filter(|key| declared.parameter(name, key).is_none()) {
                object.shift_remove(key);
                take_arguments(object, name, declared)
            } else if object.len() == 1 && object.contains_key("arguments") {
                take_arguments(object, name, declared)
            } else {
                Value::Object(object)
            }
        }
        other => unwrap_arguments(other),
    };
    ParsedCall { name: name.to_owned(), arguments }
}

/// Unwraps arguments that models wrapped: JSON in a string, nothing for no arguments.
fn unwrap_arguments(arguments: Value) -> Value {
    match arguments {
        Value::Null => Value::Object(Map::new()),
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) if text.trim_start().starts_with('{') => {
            repair(&text).filter(Value::is_object).unwrap_or(Value::String(text))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use domain::ToolSpec;
    use serde_json::{Value, json};

    use super::parse_calls;
    use crate::declared_tools::DeclaredTools;

    fn declared() -> DeclaredTools {
        let tool = |name: &str, parameters: Value| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": parameters}),
            examples: Vec::new(),
        };
        DeclaredTools::new(&[
            tool("search_web", json!({"query": {"type": "string"}})),
            tool("translate", json!({"input": {"type": "string"}, "name": {"type": "string"}})),
        ])
    }

    fn read(value: Value, name: Option<&str>) -> Value {
        match parse_calls(value, name, &declared()) {
            Ok(calls) => calls.into_iter().map(|call| json!([call.name, call.arguments])).collect(),
            Err(reason) => Value::String(reason.to_string()),
        }
    }

    #[test]
    fn all_key_variants_give_the_same_call() {
        let call = json!([["search_web", {"query": "x"}]]);
        for text in [
            json!({"tool": "search_web", "query": "x"}),
            json!({"action": "search_web", "action_input": {"query": "x"}}),
            json!({"action": "search_web", "action_input": "x"}),
            json!({"tool": "search_web", "arguments": {"query": "x"}}),
            json!({"name": "search_web", "parameters": {"query": "x"}, "id": "1"}),
            json!({"function": "search_web", "args": {"query": "x"}}),
            json!({"tool_name": "search_web", "tool_call_id": "0", "input": {"query": "x"}}),
            json!({"name": "search_web", "arguments": "{\"query\": \"x\"}"}),
            json!({"type": "function", "function": {"name": "search_web", "arguments": {"query": "x"}}}),
            json!({"tool_calls": [{"name": "search_web", "arguments": {"query": "x"}}]}),
            json!([{"name": "search_web", "arguments": {"query": "x"}}]),
        ] {
            assert_eq!(read(text.clone(), None), call, "{text}");
        }
    }

    #[test]
    fn parameters_named_like_call_keys_stay_arguments() {
        assert_eq!(
            read(json!({"tool": "translate", "input": "x", "name": "y"}), None),
            json!([["translate", {"input": "x", "name": "y"}]])
        );
        assert_eq!(read(json!({"name": "y"}), Some("translate")), json!([["translate", {"name": "y"}]]));
    }

    #[test]
    fn missing_arguments_become_an_empty_object() {
        for text in
            [json!({"name": "f"}), json!({"name": "f", "arguments": null}), json!({"name": "f", "arguments": ""})]
        {
            assert_eq!(read(text.clone(), None), json!([["f", {}]]), "{text}");
        }
    }

    #[test]
    fn outer_name_makes_object_the_arguments() {
        for text in [
            json!({"query": "x"}),
            json!({"arguments": {"query": "x"}}),
            json!({"name": "search_web", "arguments": {"query": "x"}}),
            json!("{\"query\": \"x\"}"),
        ] {
            assert_eq!(read(text.clone(), Some("search_web")), json!([["search_web", {"query": "x"}]]), "{text}");
        }
    }

    #[test]
    fn invalid_call_gives_a_reason() {
        assert_eq!(read(json!({"query": "x"}), None), json!("the name of the tool is missing"));
        assert_eq!(read(json!([]), None), json!("the call is empty"));
        assert_eq!(read(json!({}), None), json!("the call is empty"));
        assert_eq!(read(json!([1]), None), json!("the call or its arguments are not a JSON object"));
    }
}
