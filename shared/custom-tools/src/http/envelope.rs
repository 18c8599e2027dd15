//! The envelope around the answers of some services: `{"success": true, "data": …}` or `{"success": false, "error": …}`.

use serde_json::Value;

const FIELDS: [&str; 4] = ["success", "data", "error", "message"];

/// Returns the data in an envelope, or the error if the service reports a failure. An answer without an envelope, or
/// with one that has no data, is returned as it is.
pub(super) fn open(mut answer: Value) -> Result<Value, Value> {
    match success(&answer) {
        Some(false) => {
            let texts = ["error", "message"].map(|name| answer.get_mut(name).map(Value::take).unwrap_or_default());
            Err(texts.into_iter().find(|text| !text.is_null()).unwrap_or_default())
        }
        Some(true) => Ok(answer.get_mut("data").map(Value::take).unwrap_or(answer)),
        None => Ok(answer),
    }
}

/// Whether the service reports success; `None` if the answer is no envelope.
fn success(answer: &Value) -> Option<bool> {
    let fields = answer.as_object()?;
    let success = fields.get("success")?.as_bool()?;
    fields.keys().all(|name| FIELDS.contains(&name.as_str())).then_some(success)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn envelope_is_opened() {
        assert_eq!(open(json!({"success": true, "data": {"temp": 26}, "error": null})), Ok(json!({"temp": 26})));
        assert_eq!(open(json!({"success": false, "error": "no such city"})), Err(json!("no such city")));
        assert_eq!(open(json!({"success": false, "error": null, "message": "busy"})), Err(json!("busy")));
        assert_eq!(open(json!({"success": false, "data": 1})), Err(Value::Null));
        assert_eq!(open(json!({"success": true, "message": "done"})), Ok(json!({"success": true, "message": "done"})));
    }

    #[test]
    fn any_other_answer_is_left_as_it_is() {
        for answer in [
            json!({"success": false, "error": "x", "code": 5}),
            json!({"success": "no", "error": "x"}),
            json!({"error": "x"}),
            json!([{"success": false}]),
            json!("success"),
            json!(null),
        ] {
            assert_eq!(open(answer.clone()), Ok(answer));
        }
    }
}
