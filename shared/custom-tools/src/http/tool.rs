use std::time::Duration;

use async_trait::async_trait;
use domain::{Language, Owner, ToolSpec};
use egress::{Egress, EgressError, Request, Response};
use prompts::ToolTexts;
use serde_json::{Map, Value};
use store::RateLimiter;
use tools::{OutboundRedactor, Progress, Tool, ToolContext, ToolError, ToolMetadata, ToolOutput, strip_invisible};

use super::auth::Credentials;
use super::endpoint::WebEndpoint;
use super::progress_relay::ProgressRelay;
use super::secret_mask::SecretMask;
use super::template::UrlTemplate;
use super::{ToolDefinition, ToolKind, ToolSecrets, envelope, parameters, request};
use crate::call_error::CallError;

/// Longest text that a transform selects from a response, in bytes.
const MAX_SELECTED_BYTES: usize = 256 * 1024;

/// Longest part of an error body that the model reads, in bytes.
const MAX_ERROR_BYTES: usize = 2000;

/// A tool that sends the request of its definition to a public host.
pub struct HttpTool {
    pub(super) definition: ToolDefinition,
    endpoint: WebEndpoint,
    egress: Egress,
    credentials: Credentials,
    limiter: RateLimiter,
}

/// A request with the mask for its response.
pub(crate) struct PreparedRequest {
    pub(crate) request: Request,
    pub(crate) mask: SecretMask,
    pub(crate) secret: Option<String>,
}

impl HttpTool {
    /// Creates the tool of a definition whose endpoint is a host; makes no call.
    pub fn new(
        definition: ToolDefinition,
        endpoint: WebEndpoint,
        egress: Egress,
        secrets: &ToolSecrets,
        limiter: RateLimiter,
    ) -> Self {
        let credentials = Credentials::new(endpoint.auth.clone(), secrets);
        Self { definition, endpoint, egress, credentials, limiter }
    }

    /// Builds the request of a call with arguments that fit the schema.
    pub(super) async fn prepare(
        &self,
        arguments: &Map<String, Value>,
        redactor: &OutboundRedactor,
        language: Language,
    ) -> Result<PreparedRequest, CallError> {
        let declared = parameters::declared(&self.definition.parameters, arguments, &|name| redactor.is_fixed(name));
        parameters::check_texts(&self.definition.parameters, &Value::Object(declared.clone()), language)
            .map_err(CallError::InvalidArgument)?;
        let (header, mask) = self.credentials.reveal().await?;
        let secret = header.as_ref().map(|(name, value)| (*name, value));
        let template = UrlTemplate::parse(&self.endpoint.url_template, self.egress.policy())
            .map_err(|_| CallError::AddressNotAllowed)?;
        // Redacting long arguments takes milliseconds: between two calls other turns run.
        tokio::task::yield_now().await;
        let arguments = self.definition.outbound_arguments(&declared, redactor);
        let request = request::build_request(&self.endpoint, &template, &arguments, secret)?;
        Ok(PreparedRequest { request, mask, secret: secret.map(|(name, _)| name.to_owned()) })
    }

    /// Sends a request, and once more after a transient failure if the tool is idempotent.
    pub(super) async fn send(
        &self,
        request: Request,
        mask: &SecretMask,
        progress: &Progress,
    ) -> Result<Response, CallError> {
        let first = self.send_once(request.clone(), mask, progress).await;
        let should_retry = match &first {
            Err(EgressError::Disconnected) => self.definition.idempotent,
            Ok(response) => self.definition.idempotent && matches!(response.status.as_u16(), 502..=504),
            Err(_) => false,
        };
        let response = if should_retry { self.send_once(request, mask, progress).await } else { first }?;
        self.credentials.on_status(response.status.as_u16());
        Ok(response)
    }

    async fn send_once(
        &self,
        request: Request,
        mask: &SecretMask,
        progress: &Progress,
    ) -> Result<Response, EgressError> {
        if self.definition.kind != ToolKind::Streamable || self.definition.response_transform.is_some() {
            return self.egress.send(request).await;
        }
        let mut relay = ProgressRelay::new(progress, mask);
        let response = self.egress.send_observed(request, |part| relay.push(part)).await?;
        if !response.truncated {
            relay.finish();
        }
        Ok(response)
    }

    pub(super) async fn render_response(
        &self,
        owner: &Owner,
        response: &Response,
        mask: &SecretMask,
        language: Language,
    ) -> Result<String, CallError> {
        let text = response.text();
        if !response.status.is_success() {
            let masked = mask.mask_text(&text);
            let masked = masked.get(..masked.floor_char_boundary(MAX_ERROR_BYTES)).unwrap_or_default();
            return Err(CallError::Status(response.status.as_u16(), masked.to_owned()));
        }
        if response.truncated {
            let cut = || format!("{}\n{}", mask.mask_truncated(&text), ToolTexts::of(language).truncated);
            // A part of an incomplete document would be a guess.
            let whole = self.definition.response_transform.is_some();
            return if whole { Err(CallError::Egress(EgressError::TooLarge)) } else { Ok(cut()) };
        }
        match (&self.definition.response_transform, serde_json::from_str::<Value>(&text)) {
            (_, Ok(answer)) => self.render_json(owner, mask.mask_value(answer), language).await,
            (Some(_), Err(_)) => Err(CallError::NoMatch),
            (None, Err(_)) if self.definition.kind == ToolKind::Streamable => Ok(mask.mask_text(&event_data(&text))),
            (None, Err(_)) => Ok(mask.mask_text(&text)),
        }
    }

    /// Returns the text of a JSON answer for the model. A transform is applied to the envelope as well as to its data.
    async fn render_json(&self, owner: &Owner, answer: Value, language: Language) -> Result<String, CallError> {
        let transform = self.definition.response_transform.as_ref();
        let whole = transform.is_some().then(|| answer.clone());
        let data = envelope::open(answer).map_err(|error| {
            let text = if error.is_null() { String::new() } else { to_text(error) };
            CallError::Reported(text.get(..text.floor_char_boundary(MAX_ERROR_BYTES)).unwrap_or_default().to_owned())
        })?;
        let (Some(transform), Some(whole)) = (transform, whole) else { return Ok(to_text(data)) };
        let found = transform.apply(owner, whole).await;
        found.map(|found| truncate(to_text(found), language)).ok_or(CallError::NoMatch)
    }

    pub(super) fn tool_error(&self, failure: CallError, language: Language) -> ToolError {
        failure.into_tool_error(!self.definition.idempotent, language)
    }

    async fn run(&self, arguments: &Value, context: &ToolContext) -> Result<ToolOutput, CallError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let PreparedRequest { request, mask, .. } =
            self.prepare(&arguments, &context.redactor, context.language).await?;
        self.definition.check_rate_limit(&self.limiter).await?;
        let response = self.send(request, &mask, &context.progress).await?;
        let text = self.render_response(&context.owner, &response, &mask, context.language).await?;
        let summary = format!("{} bytes", response.body.len());
        Ok(ToolOutput { content: text, summary, ..ToolOutput::default() })
    }
}

#[async_trait]
impl Tool for HttpTool {
    fn spec(&self, _language: Language) -> ToolSpec {
        self.definition.spec(self.definition.parameters.clone())
    }

    fn metadata(&self) -> ToolMetadata {
        ToolMetadata::custom()
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.run(&arguments, context).await.map_err(|error| self.tool_error(error, context.language))
    }

    /// Calls that differ only in arguments that are not sent are one call.
    fn dedup_key(&self, arguments: &Value) -> Value {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Value::Object(parameters::declared(&self.definition.parameters, &arguments, &|_| false))
    }

    /// Slightly more than the request's timeout, so that the request ends with its own reason.
    fn timeout(&self) -> Duration {
        self.endpoint.timeout() + Duration::from_secs(5)
    }

    /// Escapes a host's text: tool calls and frames in it stay text, and no character in it is invisible.
    fn wrap_result(&self, content: String) -> String {
        tool_calls::escape(&strip_invisible(&content))
    }
}

/// Returns a text unchanged, any other value as JSON.
fn to_text(value: Value) -> String {
    if let Value::String(text) = value { text } else { value.to_string() }
}

/// Truncates a text to the maximum result size; the suffix is extra.
fn truncate(mut text: String, language: Language) -> String {
    if text.len() > MAX_SELECTED_BYTES {
        text.truncate(text.floor_char_boundary(MAX_SELECTED_BYTES));
        text.push('\n');
        text.push_str(ToolTexts::of(language).truncated);
    }
    text
}

/// Returns the data of an event stream, one line each; any other text is unchanged.
fn event_data(text: &str) -> String {
    let data: Vec<&str> = text.lines().filter_map(|line| Some(line.strip_prefix("data:")?.trim())).collect();
    let data: Vec<&str> = data.into_iter().filter(|line| *line != "[DONE]").collect();
    if data.is_empty() { text.to_owned() } else { data.join("\n") }
}
