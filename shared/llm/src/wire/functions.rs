use std::borrow::Cow;
use std::sync::LazyLock;

use domain::{ProviderData, ToolCall, ToolChoice, ToolMessage, ToolSpec};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The placeholder that Google documents for calls without a stored signature.
pub(crate) const SIGNATURE_PLACEHOLDER: &str = "skip_thought_signature_validator";

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

/// Returns the name of a choice without the tool's name.
pub(crate) fn mode_name(choice: &ToolChoice) -> &'static str {
    match choice {
        ToolChoice::Auto => "auto",
        ToolChoice::None => "none",
        ToolChoice::Required | ToolChoice::Tool(_) => "required",
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

/// Returns calls with their signatures. Of the calls of one reply, the model signs the first one only, so the placeholder is
/// sent only if no call is signed.
pub(crate) fn signed_calls<'a>(
    calls: &'a [ToolCall],
    data: Option<&'a ProviderData>,
    needs_signatures: bool,
) -> impl Iterator<Item = (&'a ToolCall, Option<&'a str>)> {
    let signature = move |call: &ToolCall| data?.call_signatures.get(&call.id).map(String::as_str);
    let is_unsigned = calls.iter().all(|call| signature(call).is_none());
    let placeholder = Some(SIGNATURE_PLACEHOLDER).filter(|_| needs_signatures && is_unsigned);
    calls.iter().map(move |call| (call, signature(call).or(placeholder)))
}
