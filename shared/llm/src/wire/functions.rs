use std::borrow::Cow;
use std::sync::LazyLock;

use domain::{ProviderData, ToolCall, ToolChoice, ToolMessage, ToolSpec};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The placeholder that Google documents for calls without a stored signature.
// Quoted in public code, 2026-11-25.
pub(crate) const SIGNATURE_PLACEHOLDER: &str = "skip_thought_signature_validator";

/// Anthropic's mark of a position up to which a prompt is cached, for five minutes after its last use.
///
/// At most four positions may be marked. A provider ignores them in prompts below its minimum, 512 to 4,096 tokens.
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching; the minimum: price map in the wheel of litellm
// 1.108.7, 2026-11-28.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum CacheControl {
    Ephemeral,
}

/// The fields of a tool, with the wire's name of its schema.
pub(crate) struct ToolFields<'a>(pub(crate) &'a ToolSpec, pub(crate) &'static str);

impl Serialize for ToolFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(ToolSpec { name, description, parameters, .. }, schema_name) = self;
        let mut fields = serializer.serialize_map(Some(3))?;
        fields.serialize_entry("name", name)?;
        fields.serialize_entry("description", description)?;
        fields.serialize_entry(schema_name, parameters)?;
        fields.end()
    }
}

/// A tool in OpenAI's format, which Ollama shares.
#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: ToolFields<'a>,
}

impl<'a> From<&'a ToolSpec> for Tool<'a> {
    fn from(spec: &'a ToolSpec) -> Self {
        Self { kind: "function", function: ToolFields(spec, "parameters") }
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
