use std::collections::BTreeMap;

use domain::{Language, Owner, ToolFailure};
use egress::Response;
use reqwest::header::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use tools::{OutboundRedactor, Progress, Tool, ToolError, arguments};

use super::HttpTool;
use super::secret_mask::SecretMask;
use super::tool::PreparedRequest;

/// Longest body that is returned, in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024;

/// The report of a test call for an administrator; secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TestCall {
    /// The request; `None` for invalid arguments and for a tool that sends no request.
    pub request: Option<TestCallRequest>,
    /// The response.
    pub response: Option<TestCallResponse>,
    /// The text that the model would read.
    pub content: String,
    /// The failure that the user would see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

/// A request as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestCallRequest {
    /// The method.
    pub method: String,
    /// The URL with the filled slots.
    pub url: String,
    /// Secrets are masked.
    pub headers: BTreeMap<String, String>,
    /// The JSON that was sent.
    pub body: Option<String>,
}

/// A response as it was received.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestCallResponse {
    /// The HTTP status.
    pub status: u16,
    /// Secrets are masked.
    pub headers: BTreeMap<String, String>,
    /// Its beginning, secrets masked.
    pub body: String,
    /// Whether the body was longer than the returned part.
    pub truncated: bool,
}

impl TestCall {
    /// This report with the result of the call.
    pub(crate) fn with_outcome(mut self, outcome: Result<String, ToolError>) -> Self {
        match outcome {
            Ok(content) => self.content = content,
            Err(ToolError::Model { failure, content }) => (self.error, self.content) = (Some(failure), content),
            Err(ToolError::Fatal(_)) => {
                let message = "The tool failed.".to_owned();
                self.error = Some(ToolFailure { code: "failed".to_owned(), message });
            }
        }
        self
    }
}

impl HttpTool {
    /// Makes one call, outside of any turn and rate limit; reports the request and the response, as far as they exist.
    pub async fn test_call(
        &self,
        owner: &Owner,
        arguments: &Value,
        redactor: &OutboundRedactor,
        language: Language,
    ) -> TestCall {
        let mut report = TestCall::default();
        let outcome = self.run_test_call(owner, arguments, redactor, language, &mut report).await;
        report.with_outcome(outcome)
    }

    async fn run_test_call(
        &self,
        owner: &Owner,
        arguments: &Value,
        redactor: &OutboundRedactor,
        language: Language,
        report: &mut TestCall,
    ) -> Result<String, ToolError> {
        let arguments = arguments::coerce(self.parameters(), arguments, language)?;
        let prepared = self.prepare(&arguments.as_object().cloned().unwrap_or_default(), redactor, language).await?;
        report.request = Some(describe_request(&prepared));
        let PreparedRequest { request, mask, .. } = prepared;
        let response = self.send(request, &mask, &Progress::default(), language).await?;
        report.response = Some(describe_response(&response, &mask));
        self.render_response(owner, &response, &mask, language)
            .await
            .map(|content| self.wrap_result(content))
            .map_err(|failure| self.tool_error(failure, language))
    }
}

pub(crate) fn describe_request(PreparedRequest { request, mask, secret }: &PreparedRequest) -> TestCallRequest {
    let mut headers = masked_headers(request.headers(), mask);
    if let Some(name) = secret {
        headers.insert(name.to_lowercase(), SecretMask::replacement());
    }
    let body = request.payload().map(|body| mask.mask_text(&String::from_utf8_lossy(body)));
    TestCallRequest { method: request.method().to_string(), url: mask.mask_text(request.url().as_str()), headers, body }
}

pub(crate) fn describe_response(response: &Response, mask: &SecretMask) -> TestCallResponse {
    let text = response.text();
    let masked = if response.truncated { mask.mask_truncated(&text) } else { mask.mask_text(&text) };
    let body = masked.get(..masked.floor_char_boundary(MAX_BODY_BYTES)).unwrap_or_default().to_owned();
    let truncated = response.truncated || body.len() < masked.len();
    TestCallResponse {
        status: response.status.as_u16(),
        headers: masked_headers(&response.headers, mask),
        body,
        truncated,
    }
}

fn masked_headers(headers: &HeaderMap, mask: &SecretMask) -> BTreeMap<String, String> {
    let masked = |value: &[u8]| mask.mask_text(&String::from_utf8_lossy(value));
    headers.iter().map(|(name, value)| (name.to_string(), masked(value.as_bytes()))).collect()
}
