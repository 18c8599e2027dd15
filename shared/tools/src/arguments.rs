//! The arguments of a call: coerced to the schema, then parsed.

use domain::Language;
use prompts::{ToolTexts, fill};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::ToolError;
use crate::error::ToolCallError;

/// Longest arguments of a call, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// Deepest nesting of arrays and objects in the arguments of a call.
const MAX_DEPTH: usize = 16;

/// Coerces the arguments to the schema; the error describes the required change for the model.
pub fn coerce(schema: &Value, arguments: &Value, language: Language) -> Result<Value, ToolCallError> {
    let texts = ToolTexts::of(language);
    let invalid = |reason: &str| ToolCallError::invalid_arguments(reason, language);
    if nested_deeper_than(arguments, MAX_DEPTH) {
        return Err(invalid(&fill(texts.arguments_too_deep, &[("depth", &MAX_DEPTH.to_string())])));
    }
    if arguments.to_string().len() > MAX_BYTES {
        return Err(invalid(&fill(texts.arguments_too_long, &[("size", &(MAX_BYTES / 1024).to_string())])));
    }
    tool_calls::coerce_arguments(schema, arguments.clone()).map_err(|errors| invalid(&errors.render(language)))
}

/// Parses the arguments of a call as the type from which the tool's schema is derived.
pub fn parse<A: DeserializeOwned>(arguments: Value, language: Language) -> Result<A, ToolError> {
    let unfit = |_| ToolCallError::invalid_arguments(ToolTexts::of(language).arguments_unfit, language).into();
    serde_json::from_value(arguments).map_err(unfit)
}

fn nested_deeper_than(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| nested_deeper_than(item, below)),
        Value::Object(fields) => fields.values().any(|field| nested_deeper_than(field, below)),
        _ => false,
    }
}
