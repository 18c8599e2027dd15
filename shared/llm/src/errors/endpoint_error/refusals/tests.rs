use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use super::super::EndpointError;
use super::*;
use crate::errors::RetryAdvice;

#[derive(Deserialize)]
struct Case {
    /// Which server sends it.
    provider: String,
    /// Where it was seen, and the date.
    source: String,
    status: u16,
    /// The body as it was sent.
    body: String,
    /// The kind of the error for the caller (`ModelError::kind`).
    error: String,
    /// The requested wait in milliseconds, without a header.
    #[serde(default)]
    wait: Option<u128>,
    /// The type of an AWS error, as in its header or its frame.
    #[serde(default)]
    kind: String,
    /// Whether the call is attempted again, where that is checked.
    again: Option<bool>,
    /// The category of filtered content.
    category: Option<String>,
    /// A part of the sentence for the operator.
    help: Option<String>,
}

impl Case {
    fn parsed(&self) -> EndpointError {
        EndpointError::parse_aws(&self.kind, &self.body)
    }
}

fn cases() -> Vec<Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/refusals.jsonl");
    fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn f003_f006_f007_f008_each_refusal_is_recognised() {
    for case in cases() {
        let fault = case.parsed().to_attempt_error(case.status, None);
        assert_eq!(fault.error.kind(), case.error, "{} {}", case.provider, case.body);
        let again = case.again.unwrap_or(fault.advice != RetryAdvice::Never);
        assert_eq!(fault.advice != RetryAdvice::Never, again, "{} {}", case.provider, case.body);
        if let Some(category) = &case.category {
            let named =
                matches!(fault.error, ModelError::ContentFiltered { category: Some(named) } if named == category);
            assert!(named, "{category}: {}", case.body);
        }
        if let Some(part) = &case.help {
            assert!(fault.help.is_some_and(|help| help.contains(part.as_str())), "{part}: {}", case.body);
        }
        let date = case.source.split([' ', ':']).find(|part| part.starts_with("20") && part.len() == 10);
        assert!(date.is_some() && case.source.len() > 20, "{} has no dated source: {}", case.provider, case.body);
        assert_eq!(fault.retry_after.map(|wait| wait.as_millis()), case.wait, "{} {}", case.provider, case.body);
    }
}

#[test]
fn aws_exceptions_in_streams_have_the_same_meaning() {
    for case in cases().iter().filter(|case| !case.kind.is_empty() && case.status != 403) {
        let mut frame = case.kind.split(':').next().unwrap_or_default().to_owned();
        frame[..1].make_ascii_lowercase();
        let fault = EndpointError::parse_aws(&frame, &case.body).to_stream_error();
        assert_eq!(fault.error.kind(), case.error, "{frame} {}", case.body);
    }
    let unknown = EndpointError::parse_aws("otherException", "").to_stream_error();
    assert_eq!((unknown.error, unknown.advice), (ModelError::Unavailable, RetryAdvice::Later));
}

#[test]
fn f001_reset_in_relayed_headers_is_a_wait() {
    let reset = (SystemTime::now() + Duration::from_secs(9)).duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let headers = format!(r#"{{"X-RateLimit-Limit":"16","X-RateLimit-Reset":"{}"}}"#, reset.as_millis());
    let body =
        format!(r#"{{"error":{{"code":429,"message":"Rate limit exceeded","metadata":{{"headers":{headers}}}}}}}"#);
    let wait = EndpointError::parse(&body).to_attempt_error(429, None).retry_after;
    assert!(wait.is_some_and(|wait| wait <= Duration::from_secs(9)), "{wait:?}");
    let header = Some(Duration::from_secs(1));
    assert_eq!(EndpointError::parse(&body).to_attempt_error(429, header).retry_after, header);
}

#[test]
fn every_row_is_matched_by_a_case() {
    let cases = cases();
    let first = |case: &Case| {
        let error = case.parsed();
        REFUSALS.iter().position(|row| row.matches(case.status, &error.codes, &error.text))
    };
    let found: Vec<_> = cases.iter().filter_map(first).collect();
    let unused: Vec<_> = (0..REFUSALS.len()).filter(|row| !found.contains(row)).collect();
    let describe = |row: &usize| match REFUSALS[*row].pattern {
        Pattern::Code(code) | Pattern::CodePart(code) => code.to_owned(),
        Pattern::Text(parts) => parts.join(" … "),
    };
    assert!(unused.is_empty(), "{:?}", unused.iter().map(describe).collect::<Vec<_>>());
}

#[test]
fn refusal_of_one_tool_keeps_all_tools() {
    for message in [
        "tools.0.custom.input_schema: input_schema does not support oneof, allof, or anyof at the top level",
        "invalid schema for function 'f': 'temperature' is not supported",
        "* generatecontentrequest.tools[0].function_declarations[1].parameters: unknown field `tools`",
        "body.tools.0.function.strict\nextra inputs are not permitted",
        "invalid schema for function 'f': 'does not support images' is not a type",
    ] {
        assert_eq!(meaning(400, &[], message), Some(TOOL_SCHEMA), "{message}");
    }
    assert_eq!(meaning(400, &[], "m does not support tools."), Some(TOOLS));
    assert_eq!(meaning(200, &[], "tools.0.custom"), None);
}
