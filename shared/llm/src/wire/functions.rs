use std::borrow::Cow;
use std::sync::LazyLock;

use domain::{ToolMessage, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A tool in OpenAI's format, which Ollama shares.
#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        let function = Function { name: &spec.name, description: &spec.description, parameters: &spec.parameters };
        Self { kind: "function", function }
    }
}

/// Returns the arguments of a past call for wires that require an object, else an empty object. Calls with other
/// arguments never ran.
pub(crate) fn object_or_empty(arguments: &Value) -> &Value {
    static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
    if arguments.is_object() { arguments } else { &EMPTY }
}

/// Returns the content of a result for wires without a field for failures: these are `{"error": …}`.
pub(crate) fn result_content(result: &ToolMessage) -> Cow<'_, str> {
    match result.error() {
        Some(error) => Cow::Owned(json!({ "error": error }).to_string()),
        None => Cow::Borrowed(&result.content),
    }
}
