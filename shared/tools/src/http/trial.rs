use std::collections::BTreeMap;

use conversation::ToolFailure;
use egress::Response;
use reqwest::header::HeaderMap;
use serde::Serialize;
use serde_json::Value;
use store::Owner;

use super::HttpTool;
use super::mask::Mask;
use super::tool::Prepared;
use crate::refusal::Refusal;
use crate::{Outgoing, Progress, Tool, ToolError, arguments};

/// Longest body that is returned, in bytes.
const SHOWN: usize = 16 * 1024;

/// The report of a test call for an administrator; secrets are masked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    /// The request; `None` for invalid arguments and for a tool that sends no request.
    pub request: Option<TrialRequest>,
    /// The response.
    pub response: Option<TrialResponse>,
    /// The text that the model would read.
    pub content: String,
    /// The failure that the user would see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolFailure>,
}

/// A request as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialRequest {
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
pub struct TrialResponse {
    /// The HTTP status.
    pub status: u16,
    /// Secrets are masked.
    pub headers: BTreeMap<String, String>,
    /// Its beginning, secrets masked.
    pub body: String,
    /// Whether the body was longer than the returned part.
    pub truncated: bool,
}

impl HttpTool {
    /// Makes one call, outside of any turn and rate limit; reports the request and the response, as far as they exist.
    pub async fn test_call(&self, owner: &Owner, arguments: &Value, outgoing: &Outgoing) -> Trial {
        let mut trial = Trial { request: None, response: None, content: String::new(), error: None };
        match self.tried(owner, arguments, outgoing, &mut trial).await {
            Ok(content) => trial.content = content,
            Err(ToolError::Model { failure, content }) => (trial.error, trial.content) = (Some(failure), content),
            Err(ToolError::Fatal(_)) => trial.error = Some(Refusal::failed(self).failure),
        }
        trial
    }

    async fn tried(
        &self,
        owner: &Owner,
        arguments: &Value,
        outgoing: &Outgoing,
        trial: &mut Trial,
    ) -> Result<String, ToolError> {
        let arguments =
            arguments::checked(self.parameters(), arguments).map_err(|reason| Refusal::invalid_arguments(&reason))?;
        let prepared = self.prepared(&arguments.as_object().cloned().unwrap_or_default(), outgoing).await?;
        trial.request = Some(asked(&prepared));
        let Prepared { request, mask, .. } = prepared;
        let response = self.send(request, &mask, &Progress::default()).await?;
        trial.response = Some(answered(&response, &mask));
        self.read(owner, &response, &mask)
            .await
            .map(|content| self.framed(content))
            .map_err(|failure| self.told(failure))
    }
}

pub(crate) fn asked(Prepared { request, mask, secret }: &Prepared) -> TrialRequest {
    let mut headers = shown(request.headers(), mask);
    if let Some(name) = secret {
        headers.insert(name.to_lowercase(), Mask::hidden());
    }
    let body = request.payload().map(|body| mask.text(&String::from_utf8_lossy(body)));
    TrialRequest { method: request.method().to_string(), url: mask.text(request.url().as_str()), headers, body }
}

pub(crate) fn answered(response: &Response, mask: &Mask) -> TrialResponse {
    let text = response.text();
    let masked = if response.truncated { mask.cut_text(&text) } else { mask.text(&text) };
    let body = masked.get(..masked.floor_char_boundary(SHOWN)).unwrap_or_default().to_owned();
    let truncated = response.truncated || body.len() < masked.len();
    TrialResponse { status: response.status.as_u16(), headers: shown(&response.headers, mask), body, truncated }
}

fn shown(headers: &HeaderMap, mask: &Mask) -> BTreeMap<String, String> {
    let shown = |value: &[u8]| mask.text(&String::from_utf8_lossy(value));
    headers.iter().map(|(name, value)| (name.to_string(), shown(value.as_bytes()))).collect()
}
