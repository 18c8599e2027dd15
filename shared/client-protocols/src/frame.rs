use serde::Serialize;
use serde_json::Value;

/// The frame that ends a stream in every protocol.
pub(crate) const END_MARKER: &str = "data: [DONE]\n\n";

/// Appends a frame without an id that holds `payload` as JSON.
pub(crate) fn write_json_frame(payload: &impl Serialize, out: &mut String) {
    out.push_str("data: ");
    // Serialising plain data cannot fail.
    out.push_str(&serde_json::to_string(payload).unwrap_or_default());
    out.push_str("\n\n");
}

/// A JSON object without its fields that are null.
pub fn without_nulls(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}
