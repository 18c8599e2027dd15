use serde_json::Value;

/// Longest arguments of a call, in bytes of JSON.
const MAX_BYTES: usize = 64 * 1024;

/// Deepest nesting of arrays and objects in the arguments of a call.
const MAX_DEPTH: usize = 16;

/// The arguments as the tool may take them, or what the model has to change.
pub(crate) fn checked(_schema: &Value, arguments: &Value) -> Result<Value, String> {
    if nested_deeper_than(arguments, MAX_DEPTH) {
        return Err(format!("参数嵌套过深，最多 {MAX_DEPTH} 层"));
    }
    if arguments.to_string().len() > MAX_BYTES {
        return Err(format!("参数过长，最多 {} KiB", MAX_BYTES / 1024));
    }
    if !arguments.is_object() {
        return Err("参数必须是一个 JSON 对象".to_owned());
    }
    Ok(arguments.clone())
}

fn nested_deeper_than(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| nested_deeper_than(item, below)),
        Value::Object(fields) => fields.values().any(|field| nested_deeper_than(field, below)),
        _ => false,
    }
}
