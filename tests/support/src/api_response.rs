use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::description::{DescribedResponse, check_response};
use crate::grammar::field_names;

/// A complete HTTP response of the product.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case; values of a repeated header joined by `, `.
    pub headers: BTreeMap<String, String>,
    /// As received.
    pub body: Vec<u8>,
}

impl ApiResponse {
    /// Checks the rules that the contract has for every response, and the description of its route; panics when one is
    /// broken. A response to `HEAD` has no body to check.
    pub(crate) fn validate(self, method: &str, target: &str) -> Self {
        assert!(!self.header("x-request-id").is_empty(), "every answer has x-request-id: {self:?}");
        let (status, content_type) = (self.status, self.header("content-type"));
        check_response(method, target, &DescribedResponse { status, content_type, body: &self.body });
        if self.status >= 400 && method != "HEAD" {
            self.check_error();
        }
        self
    }

    fn check_error(&self) {
        if self.header("content-type").starts_with("text/plain") {
            assert!(!self.text().is_empty() && !self.text().contains('\n'), "not a sentence: {self:?}");
            return;
        }
        let body = self.json();
        let error = &body["error"];
        if body.get("jsonrpc").is_some() {
            assert!(error["code"].is_i64() && error["message"].is_string(), "JSON-RPC's shape: {body}");
            return;
        }
        assert_eq!(field_names(&body), BTreeSet::from(["error"]), "{body}");
        if error.get("type").is_some() {
            assert_eq!(
                field_names(error),
                BTreeSet::from(["code", "message", "type", "param"]),
                "OpenAI's shape: {body}"
            );
            return;
        }
        assert_eq!(field_names(error), BTreeSet::from(["code", "message", "retryable", "requestId"]), "{body}");
        assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{body}");
        assert!(error["retryable"].is_boolean(), "{body}");
        assert_eq!(error["requestId"], self.header("x-request-id"), "the error names its request: {body}");
    }

    /// A header's value; empty when it was not sent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("bodies are UTF-8")
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("not JSON ({error}), status {}: {:?}", self.status, self.text()))
    }

    /// Status and error code, such as `(404, "not_found")`; an empty code when there is no error.
    pub fn error(&self) -> (u16, String) {
        let code = if self.body.is_empty() { String::new() } else { string_or_empty(&self.json()["error"]["code"]) };
        (self.status, code)
    }

    /// The body of an error with a constant request id; for a plain-text error, its sentence.
    pub fn error_body(&self) -> Value {
        if self.header("content-type").starts_with("text/plain") {
            return self.text().into();
        }
        let mut body = self.json();
        body["error"]["requestId"] = "REQUEST".into();
        body
    }

    /// The body of a response with status 200; panics on any other status.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }
}

fn string_or_empty(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
