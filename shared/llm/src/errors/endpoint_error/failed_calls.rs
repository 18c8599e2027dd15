//! Calls in an error of a provider that checks calls against their schemas itself.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::NativeCall;

#[derive(Deserialize)]
struct FailedCall<'a> {
    name: String,
    #[serde(borrow, alias = "parameters")]
    arguments: &'a RawValue,
}

/// Parses Groq's `failed_generation`: a call or a list of calls as JSON; empty if it is anything else.
pub(super) fn parse(generation: &str) -> Vec<NativeCall> {
    let many = serde_json::from_str::<Vec<FailedCall<'_>>>(generation);
    let calls = many.or_else(|_| serde_json::from_str(generation).map(|one| vec![one])).unwrap_or_default();
    let to_native = |call: FailedCall<'_>| NativeCall::new("", &call.name, call.arguments.get());
    calls.into_iter().map(to_native).filter(|call| !call.name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f051_calls_are_parsed_from_failed_generations() {
        let call = |arguments: &str| NativeCall::new("", "add", arguments);
        for (generation, calls) in [
            (r#"[{"name":"add","parameters":{"a":"2"}}]"#, vec![call(r#"{"a":"2"}"#)]),
            (r#"{"name": "add", "arguments": {"a": 2}}"#, vec![call(r#"{"a": 2}"#)]),
            (r#"[{"name":"add","parameters":{}},{"name":"add","parameters":{}}]"#, vec![call("{}"), call("{}")]),
            (r#"{"name":"","arguments":{}}"#, vec![]),
            ("maybe", vec![]),
            ("[]", vec![]),
        ] {
            assert_eq!(parse(generation), calls, "{generation}");
        }
    }
}
