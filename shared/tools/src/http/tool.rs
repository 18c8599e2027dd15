use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use conversation::ToolSpec;
use egress::{Egress, EgressError, Request, Response};
use serde_json::{Map, Value};
use store::{Owner, RateLimiter};

use super::credentials::Credentials;
use super::endpoint::WebEndpoint;
use super::failure::HttpFailure;
use super::mask::Mask;
use super::telling::Telling;
use super::template::UrlTemplate;
use super::{Endpoint, Internal, ToolDefinition, ToolKind, ToolSecrets, parameters, request};
use crate::mcp::McpServer;
use crate::refusal::Refusal;
use crate::search::visible;
use crate::{Calculator, CurrentTime, Outgoing, Progress, Tool, ToolContext, ToolError, ToolOutput};

/// Suffix of a truncated text.
const CUT: &str = "\n（内容过长，已截断）";

/// Longest text that a transform selects from a response, in bytes.
const MAX_FOUND: usize = 256 * 1024;

/// Longest part of an error body that the model reads, in bytes.
const REFUSAL: usize = 2000;

/// A tool that sends the request of its definition to a public host.
pub struct HttpTool {
    definition: ToolDefinition,
    endpoint: WebEndpoint,
    egress: Egress,
    credentials: Credentials,
    limiter: RateLimiter,
}

/// A request with the mask for its response.
pub(crate) struct Prepared {
    pub(crate) request: Request,
    pub(crate) mask: Mask,
    pub(crate) secret: Option<String>,
}

/// The tool or server of a definition.
#[derive(Clone)]
pub enum Defined {
    /// One tool.
    Tool(Arc<dyn Tool>),
    /// A server with tools of its own.
    Server(Arc<McpServer>),
}

/// Builds the tool or server of a definition; makes no call.
pub fn defined(definition: ToolDefinition, egress: &Egress, secrets: &ToolSecrets, limiter: &RateLimiter) -> Defined {
    match definition.endpoint.clone() {
        Endpoint::Web(endpoint) => {
            Defined::Tool(Arc::new(HttpTool::new(definition, endpoint, egress.clone(), secrets, limiter.clone())))
        }
        Endpoint::Server(endpoint) => {
            Defined::Server(Arc::new(McpServer::new(definition, endpoint, egress.clone(), secrets, limiter.clone())))
        }
        Endpoint::Internal { tool: Internal::Calculator } => {
            Defined::Tool(Arc::new(Named { definition, tool: Calculator }))
        }
        Endpoint::Internal { tool: Internal::Time } => Defined::Tool(Arc::new(Named { definition, tool: CurrentTime })),
    }
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

    pub(super) fn parameters(&self) -> &Value {
        &self.definition.parameters
    }

    /// Builds the request of a call with arguments that fit the schema.
    pub(super) async fn prepared(
        &self,
        arguments: &Map<String, Value>,
        outgoing: &Outgoing,
    ) -> Result<Prepared, ToolError> {
        parameters::check_texts(&self.definition.parameters, &Value::Object(arguments.clone()))
            .map_err(|reason| Refusal::invalid_arguments(&reason))?;
        let (header, mask) = self.credentials.reveal().await.map_err(|failure| self.told(failure))?;
        let secret = header.as_ref().map(|(name, value)| (*name, value));
        let template = UrlTemplate::parse(&self.endpoint.url_template, self.egress.policy())
            .map_err(|_| self.told(HttpFailure::Address))?;
        // Redacting long arguments takes milliseconds: between two calls other turns run.
        tokio::task::yield_now().await;
        let arguments = self.definition.sent(arguments, outgoing);
        let request = request::request(&self.endpoint, &template, &arguments, secret)
            .map_err(|reason| Refusal::invalid_arguments(&reason))?;
        Ok(Prepared { request, mask, secret: secret.map(|(name, _)| name.to_owned()) })
    }

    /// Sends a request, and once more after a transient failure if the tool is idempotent.
    pub(super) async fn send(&self, request: Request, mask: &Mask, progress: &Progress) -> Result<Response, ToolError> {
        let first = self.sent(request.clone(), mask, progress).await;
        let again = match &first {
            Err(EgressError::Broken) => self.definition.idempotent,
            Ok(response) => self.definition.idempotent && matches!(response.status.as_u16(), 502..=504),
            Err(_) => false,
        };
        let response = if again { self.sent(request, mask, progress).await } else { first };
        let response = response.map_err(|error| self.told(HttpFailure::Egress(error)))?;
        self.credentials.answered(response.status.as_u16());
        Ok(response)
    }

    async fn sent(&self, request: Request, mask: &Mask, progress: &Progress) -> Result<Response, EgressError> {
        if self.definition.kind != ToolKind::Streamable || self.definition.response_transform.is_some() {
            return self.egress.send(request).await;
        }
        let mut telling = Telling::new(progress, mask);
        let response = self.egress.send_watched(request, |part| telling.part(part)).await?;
        if !response.truncated {
            telling.finish();
        }
        Ok(response)
    }

    /// Returns the text of a response for the model.
    pub(super) async fn read(&self, owner: &Owner, response: &Response, mask: &Mask) -> Result<String, HttpFailure> {
        let text = response.text();
        if !response.status.is_success() {
            let shown = mask.text(&text);
            let shown = shown.get(..shown.floor_char_boundary(REFUSAL)).unwrap_or_default();
            return Err(HttpFailure::Status(response.status.as_u16(), shown.to_owned()));
        }
        if response.truncated {
            let cut = || format!("{}{CUT}", mask.cut_text(&text));
            // A part of an incomplete document would be a guess.
            let whole = self.definition.response_transform.is_some();
            return if whole { Err(HttpFailure::Egress(EgressError::TooLarge)) } else { Ok(cut()) };
        }
        match (&self.definition.response_transform, serde_json::from_str::<Value>(&text)) {
            (Some(transform), Ok(answer)) => {
                let found = transform.apply(owner, mask.value(answer)).await;
                found.map(|found| bounded(shown(found))).ok_or(HttpFailure::Nothing)
            }
            (Some(_), Err(_)) => Err(HttpFailure::Nothing),
            (None, Ok(answer)) => Ok(shown(mask.value(answer))),
            (None, Err(_)) if self.definition.kind == ToolKind::Streamable => Ok(mask.text(&events(&text))),
            (None, Err(_)) => Ok(mask.text(&text)),
        }
    }

    pub(super) fn told(&self, failure: HttpFailure) -> ToolError {
        failure.told(!self.definition.idempotent)
    }

    async fn admit(&self) -> Result<(), ToolError> {
        self.definition.admit(&self.limiter).await.map_err(|failure| self.told(failure))
    }
}

#[async_trait]
impl Tool for HttpTool {
    fn spec(&self) -> ToolSpec {
        spec(&self.definition, self.definition.parameters.clone())
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let Prepared { request, mask, .. } = self.prepared(&arguments, &context.outgoing).await?;
        self.admit().await?;
        let response = self.send(request, &mask, &context.progress).await?;
        let text = self.read(&context.owner, &response, &mask).await.map_err(|failure| self.told(failure))?;
        let summary = format!("{} bytes", response.body.len());
        Ok(ToolOutput { content: text, summary, ..ToolOutput::default() })
    }

    /// Slightly more than the request's timeout, so that the request ends with its own reason.
    fn timeout(&self) -> Duration {
        self.endpoint.timeout() + Duration::from_secs(5)
    }

    /// Escapes a host's text: tool calls and frames in it stay text, and no character in it is invisible.
    fn framed(&self, content: String) -> String {
        calls::escape(&visible(&content))
    }
}

/// A built-in tool with the name and description of a definition.
struct Named<T> {
    definition: ToolDefinition,
    tool: T,
}

#[async_trait]
impl<T: Tool> Tool for Named<T> {
    fn spec(&self) -> ToolSpec {
        let own = self.tool.spec();
        ToolSpec { examples: own.examples, ..spec(&self.definition, own.parameters) }
    }

    async fn call(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.tool.call(arguments, context).await
    }

    fn timeout(&self) -> Duration {
        self.tool.timeout()
    }

    fn failure_text(&self, reason: &str) -> String {
        self.tool.failure_text(reason)
    }
}

fn spec(definition: &ToolDefinition, parameters: Value) -> ToolSpec {
    let (name, description) = (definition.name.clone(), definition.description.clone());
    ToolSpec { name, description, parameters, examples: Vec::new() }
}

/// Returns a text unchanged, any other value as JSON.
fn shown(value: Value) -> String {
    if let Value::String(text) = value { text } else { value.to_string() }
}

/// Truncates a text to the maximum result size; the suffix is extra.
fn bounded(mut text: String) -> String {
    if text.len() > MAX_FOUND {
        text.truncate(text.floor_char_boundary(MAX_FOUND));
        text.push_str(CUT);
    }
    text
}

/// Returns the data of an event stream, one line each; any other text is unchanged.
fn events(text: &str) -> String {
    let data: Vec<&str> = text.lines().filter_map(|line| Some(line.strip_prefix("data:")?.trim())).collect();
    let data: Vec<&str> = data.into_iter().filter(|line| *line != "[DONE]").collect();
    if data.is_empty() { text.to_owned() } else { data.join("\n") }
}
