//! Mutated request bodies of every protocol.

use client_protocols::openai::ChatRequest;
use client_protocols::{AiSdkRequest, MAX_MESSAGE_CHARS, TurnRequest};
use domain::parse_object;
use fuzz::{Outcome, ensure, run_text};
use serde_json::Value;

const SAMPLES: [&str; 6] = [
    r#"{"message":"你好","conversationId":"01J00000000000000000000000","toolChoice":{"name":"f"},"stream":false,"userId":"a"}"#,
    r#"{"id":"x","trigger":"submit-message","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"hi"}]}]}"#,
    r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"hi"}]}],"stream":true}"#,
    r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"r"}]}"#,
    r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"required","temperature":0.5,"stop":["a"]}"#,
    r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":{}}},"max_tokens":5,"seed":1}"#,
];

const SNIPPETS: [&str; 26] = [
    "\"message\":",
    "\"messages\":[",
    "\"role\":\"user\"",
    "\"role\":\"tool\"",
    "\"role\":\"assistant\"",
    "\"content\":",
    "null",
    "\"tool_calls\":[",
    "\"tool_call_id\":\"c\"",
    "\"id\":\"c\"",
    "\"tools\":[",
    "\"parts\":[",
    "\"type\":\"text\"",
    "\"stream\":true",
    "\"model\":\"m\"",
    "{}",
    "[]",
    "1e999",
    "-0",
    "\"temperature\":-1",
    "\"stop\":[",
    "\"userId\":\"",
    "\\ud800",
    "\\u0000",
    "{\"a\":",
    "},",
];

/// Checks that an error is one sentence that repeats only field names.
fn check_error<T>(read: Result<T, domain::Failure>) -> Outcome {
    match read {
        Ok(_) => Ok(()),
        Err(failure) => {
            ensure(failure.message.len() <= 400 && !failure.message.contains('\n'), || failure.message.clone())
        }
    }
}

#[test]
fn fuzz_bodies_are_parsed_or_rejected_with_message() {
    run_text("bodies", &SAMPLES, &SNIPPETS, |text| {
        let body = text.as_bytes();
        check_error(TurnRequest::parse(body))?;
        check_error(AiSdkRequest::parse(body))?;
        check_error(ChatRequest::parse(body))?;
        let longest = TurnRequest::parse(body).map_or(0, |request| request.message.chars().count());
        ensure(longest <= MAX_MESSAGE_CHARS, || format!("a message of {longest} characters"))
    });
}

#[test]
fn fuzz_objects_match_serde_json() {
    run_text("objects", &SAMPLES, &SNIPPETS, |text| {
        let Ok(ours) = parse_object(text.as_bytes()) else { return Ok(()) };
        let theirs: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        ensure(Value::Object(ours) == theirs, || "another value".to_owned())
    });
}
