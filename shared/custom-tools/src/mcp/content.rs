//! Renders results for the model.

use serde_json::Value;

use crate::call_error::CallError;

/// Returns the text of a result, and whether the tool succeeded.
pub(super) fn render_result(result: &Value) -> Result<(String, bool), CallError> {
    match result.get("resultType").map(Value::as_str) {
        None | Some(Some("complete")) => {}
        Some(Some("input_required")) => return Err(CallError::WantsInput),
        Some(_) => return Err(CallError::Unreadable),
    }
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut text = blocks.iter().filter_map(render_block).collect::<Vec<_>>().join("\n");
    // Servers repeat it in the text for clients that do not support it; otherwise it is the result.
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    if let Some(structured) = structured.filter(|_| text.trim().is_empty()) {
        text = structured.to_string();
    }
    if text.is_empty() && blocks.is_empty() && result.get("content").is_none() && structured.is_none() {
        return Err(CallError::Unreadable);
    }
    Ok((text, result.get("isError") != Some(&Value::Bool(true))))
}

fn render_block(block: &Value) -> Option<String> {
    let text = |name: &str| block.get(name).and_then(Value::as_str);
    match text("type")? {
        "text" => text("text").map(str::to_owned),
        kind @ ("image" | "audio") => Some(format!("[{kind}: {}]", text("mimeType").unwrap_or("unknown"))),
        "resource_link" => {
            let parts = ["name", "uri", "description"].into_iter().filter_map(text);
            Some(format!("[resource: {}]", parts.collect::<Vec<_>>().join(", ")))
        }
        "resource" => render_resource(block.get("resource")?),
        _ => None,
    }
}

fn render_resource(resource: &Value) -> Option<String> {
    let uri = resource.get("uri").and_then(Value::as_str).unwrap_or("unknown");
    match resource.get("text").and_then(Value::as_str) {
        Some(text) => Some(format!("[resource: {uri}]\n{text}")),
        None => resource.get("blob").map(|_| format!("[resource: {uri}]")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_kinds_of_content_become_text() {
        let result = json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource_link", "uri": "https://example.com/r", "name": "R"},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "b"}},
            {"type": "resource", "resource": {"uri": "file:///y", "blob": "AAAA"}},
            {"type": "hologram"},
        ]});
        let text = "a\n[image: image/png]\n[resource: R, https://example.com/r]\n[resource: file:///x]\nb\n\
            [resource: file:///y]";
        assert_eq!(render_result(&result), Ok((text.to_owned(), true)));
        let structured = json!({"content": [], "structuredContent": {"n": 1}, "isError": true});
        assert_eq!(render_result(&structured), Ok((r#"{"n":1}"#.to_owned(), false)));
        assert_eq!(render_result(&json!({"content": []})), Ok((String::new(), true)));
    }

    #[test]
    fn invalid_result_is_an_error() {
        assert_eq!(render_result(&json!({"resultType": "input_required"})), Err(CallError::WantsInput));
        for result in [json!({}), json!(null), json!({"resultType": "hologram", "content": []})] {
            assert_eq!(render_result(&result), Err(CallError::Unreadable));
        }
    }
}
