//! JSON in a tag: the default format, and Hermes with its variants.

use domain::ToolCall;
use serde_json::{Map, Value, json};

use super::CallFormat;
use crate::marker_role::Role;

/// Tags around JSON: the taught ones and the variants that models write.
pub(super) const MARKERS: &[(&str, Role)] = &[
    ("<tool_call>", Role::Wrapper),
    ("<tool_call ", Role::WrapperWithAttributes),
    ("</tool_call>", Role::Close),
    ("<toolcall>", Role::Wrapper),
    ("</toolcall>", Role::Close),
    ("<tool ", Role::WrapperWithAttributes),
    ("</tool>", Role::Close),
    ("<tool_use>", Role::Wrapper),
    ("<tool_use ", Role::WrapperWithAttributes),
    ("</tool_use>", Role::Close),
    ("<function_call>", Role::Wrapper),
    ("<function_call ", Role::WrapperWithAttributes),
    ("</function_call>", Role::Close),
];

/// `<tool_call>{"tool": "f", "q": "a"}</tool_call>`: flat, on one line. The default.
pub(super) static TAG: TagFormat = TagFormat { name: "tag", wrapper: "tool_call", flat: true };
/// `<tool_call>` `{"name": "f", "arguments": {"q": "a"}}` `</tool_call>` on three lines, as Hermes and Qwen are trained.
pub(super) static HERMES: TagFormat = TagFormat { name: "hermes", wrapper: "tool_call", flat: false };
/// The same in `<longcat_tool_call>`.
pub(super) static LONGCAT: TagFormat = TagFormat { name: "longcat", wrapper: "longcat_tool_call", flat: false };

/// A format with JSON in an element.
pub(super) struct TagFormat {
    name: &'static str,
    /// The element.
    wrapper: &'static str,
    flat: bool,
}

impl CallFormat for TagFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn render_call(&self, call: &ToolCall) -> String {
        match &call.arguments {
            Value::Object(arguments) if self.flat && may_be_flat(arguments) => {
                let mut flat = Map::from_iter([("tool".to_owned(), json!(call.name))]);
                flat.extend(arguments.clone());
                format!("<tool_call>{}</tool_call>", to_spaced_json(&Value::Object(flat)))
            }
            arguments if self.flat => {
                let nested = json!({"tool": call.name, "arguments": arguments});
                format!("<tool_call>{}</tool_call>", to_spaced_json(&nested))
            }
            arguments => {
                let nested = json!({"name": call.name, "arguments": arguments});
                let wrapper = self.wrapper;
                format!("<{wrapper}>\n{}\n</{wrapper}>", to_spaced_json(&nested))
            }
        }
    }
}

/// Whether no argument can be mistaken for a key of the call itself.
fn may_be_flat(arguments: &Map<String, Value>) -> bool {
    !arguments.keys().any(|key| crate::json_calls::is_call_key(key))
}

/// Renders JSON with a blank after each colon and comma, as people write examples.
pub(super) fn to_spaced_json(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> =
                members.iter().map(|(key, value)| format!("{}: {}", json!(key), to_spaced_json(value))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(to_spaced_json).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
