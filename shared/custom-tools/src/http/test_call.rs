use std::collections::BTreeMap;

use domain::{Language, Owner, ToolFailure};
use egress::Response;
use reqwest::header::HeaderMap;
use serde::Serialize;
use serde_json::{Value, json};
use tools::{OutboundRedactor, Progress, Tool, ToolError, arguments};

use super::HttpTool;
use super::secret_mask::SecretMask;
use super::tool::PreparedRequest;

const MAX_BODY_BYTES: usize = 16 * 1024;

/// The report of a test call for an administrator; secrets are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TestCall {
    /// The request as it was sent: `method`, `url`, `headers` and `body`. `None` for invalid arguments and for a tool that
    /// sends no request.
    pub request: Option<Value>,
    /// The response as it was received: `status`, `headers`, the beginning of the `body`, and whether it is `truncated`.
    pub response: Option<Value>,
    /// The text that the model would read.
    pub content: String,
    /// The failure that the user would see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

impl TestCall {
    pub(crate) fn with_outcome(mut self, outcome: Result<String, ToolError>) -> Self {
        match outcome {
            Ok(content) => self.content = content,
            Err(ToolError::Model(error)) => (self.error, self.content) = (Some(error.failure), error.content),
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
        let call = async |report: &mut TestCall, arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            let prepared = self.prepare(&arguments, redactor, language).await?;
            report.request = Some(describe_request(&prepared));
            let PreparedRequest { request, mask, .. } = prepared;
            let response = self.send(request, &mask, &Progress::default()).await?;
            report.response = Some(describe_response(&response, &mask));
            self.render_response(owner, &response, &mask, language).await
        };
        let outcome = match arguments::coerce(&self.definition.parameters, arguments, language) {
            Ok(arguments) => call(&mut report, arguments).await.map_err(|error| self.tool_error(error, language)),
            Err(error) => Err(error.into()),
        };
        report.with_outcome(outcome.map(|content| self.wrap_result(content)))
    }
}

pub(crate) fn describe_request(PreparedRequest { request, mask, secret }: &PreparedRequest) -> Value {
    let mut headers = masked_headers(request.headers(), mask);
    if let Some(name) = secret {
        headers.insert(name.to_lowercase(), SecretMask::replacement());
    }
    let body = request.body.as_ref().map(|body| mask.mask_text(&String::from_utf8_lossy(body)));
    let url = mask.mask_text(request.url.as_str());
    json!({"method": request.method.as_str(), "url": url, "headers": headers, "body": body})
}

pub(crate) fn describe_response(response: &Response, mask: &SecretMask) -> Value {
    let text = response.text();
    let masked = if response.truncated { mask.mask_truncated(&text) } else { mask.mask_text(&text) };
    let body = masked.get(..masked.floor_char_boundary(MAX_BODY_BYTES)).unwrap_or_default();
    let truncated = response.truncated || body.len() < masked.len();
    let headers = masked_headers(&response.headers, mask);
    json!({"status": response.status.as_u16(), "headers": headers, "body": body, "truncated": truncated})
}

fn masked_headers(headers: &HeaderMap, mask: &SecretMask) -> BTreeMap<String, String> {
    let masked = |value: &[u8]| mask.mask_text(&String::from_utf8_lossy(value));
    let mut all = BTreeMap::new();
    all.extend(headers.iter().map(|(name, value)| (name.to_string(), masked(value.as_bytes()))));
    all
}
