use conversation::Failure;
use serde_json::Value;

use crate::Fields;

/// A predicate: whether a value has no effect.
type Test<'a> = &'a dyn Fn(&Value) -> bool;

/// Rejects unsupported fields. Ignoring them would return an answer other than the one requested.
pub(super) fn check(fields: &mut Fields) -> Result<(), Failure> {
    let absent = |value: &Value| match value {
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_u64() == Some(0),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    };
    let refused: [(&str, &str, Test<'_>); 8] = [
        ("n", "1: there is one answer to a request", &|value| value.as_u64() == Some(1)),
        ("logprobs", "false: probabilities are not known here", &absent),
        ("top_logprobs", "0: probabilities are not known here", &absent),
        ("logit_bias", "empty: tokens differ from model to model", &absent),
        ("functions", "left out: use `tools`", &|_| false),
        ("function_call", "left out: use `tool_choice`", &|_| false),
        ("modalities", "[\"text\"]: answers are text only", &|value| *value == Value::from(vec!["text"])),
        ("audio", "left out: answers are text only", &|_| false),
    ];
    for (name, accepted, may_be) in refused {
        if fields.take(name).is_some_and(|value| !may_be(&value)) {
            return Err(fields.wrong(name, accepted));
        }
    }
    Ok(())
}
