use domain::Failure;
use serde_json::Value;

use domain::StrictObject;

/// A predicate: whether a value has no effect.
type NeutralCheck<'a> = &'a dyn Fn(&Value) -> bool;

/// Rejects unsupported fields. Ignoring them would return an answer other than the one requested.
pub(super) fn reject_unsupported(fields: &mut StrictObject) -> Result<(), Failure> {
    let is_absent = |value: &Value| match value {
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    };
    let unsupported: [(&str, &str, NeutralCheck<'_>); 8] = [
        ("n", "1: there is one answer to a request", &|value| value.as_u64() == Some(1)),
        ("logprobs", "false: probabilities are not known here", &is_absent),
        ("top_logprobs", "0: probabilities are not known here", &is_absent),
        ("logit_bias", "empty: tokens differ from model to model", &is_absent),
        ("functions", "left out: use `tools`", &|_| false),
        ("function_call", "left out: use `tool_choice`", &|_| false),
        ("modalities", "[\"text\"]: answers are text only", &|value| *value == Value::from(vec!["text"])),
        ("audio", "left out: answers are text only", &|_| false),
    ];
    for (name, accepted, is_neutral) in unsupported {
        if fields.take_value(name).is_some_and(|value| !is_neutral(&value)) {
            return Err(fields.field_error(name, accepted));
        }
    }
    Ok(())
}
