//! Fuzz test of Lambda events.

use fuzz::{ensure, run_text};
use serde_json::value::RawValue;

use super::parse_request;

const SAMPLES: [&str; 3] = [
    r#"{"version":"2.0","rawPath":"/api/chat","rawQueryString":"a=b","cookies":["a=b"],"headers":{"content-type":"application/json","x":"y"},"requestContext":{"http":{"method":"POST","path":"/api/chat","sourceIp":"203.0.113.7"},"stage":"$default"},"body":"{\"message\":\"hi\"}","isBase64Encoded":false}"#,
    r#"{"resource":"/{proxy+}","path":"/healthz","httpMethod":"GET","headers":null,"multiValueHeaders":{"Accept":["a","b"]},"multiValueQueryStringParameters":{"a":["1","2"]},"requestContext":{"httpMethod":"GET","path":"/v1/healthz","stage":"v1","identity":{"sourceIp":"203.0.113.9"}},"body":null,"isBase64Encoded":false}"#,
    r#"{"version":"2.0","rawPath":"/","requestContext":{"http":{"method":"GET"}},"body":"aGk=","isBase64Encoded":true}"#,
];

const FRAGMENTS: [&str; 18] = [
    "\"rawPath\":",
    "\"path\":",
    "\"httpMethod\":\"GET\"",
    "\"isBase64Encoded\":true",
    "\"body\":",
    "\"headers\":{",
    "null",
    "[]",
    "\"cookies\":[\"a\\r\\nb\"]",
    "/../",
    "%2e",
    "//",
    "\\u0000",
    "\\r\\n",
    "?",
    "#",
    "\"stage\":\"v1\"",
    "汉",
];

#[test]
fn fuzz_events_become_requests_or_errors() {
    run_text("events", &SAMPLES, &FRAGMENTS, |text| {
        let Ok(event) = RawValue::from_string(text.to_owned()) else { return Ok(()) };
        match parse_request(&event) {
            Ok(request) => ensure(request.uri().path().starts_with('/') || request.uri().path() == "*", || {
                request.uri().to_string()
            }),
            Err(error) => ensure(error.failure.message.len() < 200, || error.failure.message.clone()),
        }
    });
}
