//! One call for a reply, over all its attempts.

use std::sync::Arc;
use std::time::SystemTime;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use tokio::time::{Instant, timeout_at};
use ulid::Ulid;
use work::lock;

use super::{ClientState, ModelClient};
use crate::endpoint::attempt_log::AttemptSpan;
use crate::endpoint::body::RecorderGuard;
use crate::endpoint::retry_loop::{Attempt, Retryable};
use crate::endpoint::{network, response, retry_policy};
use crate::errors::{AttemptError, CompatFix, RetryAdvice};
use crate::health::CallHealth;
use crate::wire::{self, Quirks, ResponseDecoder, WireRequest};
use crate::{AttemptEnd, CallOptions, ModelError, Prompt, Reply, Wire};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-client-request-id");

pub(super) struct ReplyCall<'a> {
    client: &'a ModelClient,
    prompt: &'a Prompt,
    options: CallOptions,
    id: Ulid,
    quirks: Quirks,
    origin: String,
    /// Fixes for tools and parameters that came with this request; not kept for other requests.
    own_fixes: Vec<CompatFix>,
    /// Moves to the reply.
    pub(super) health: Option<CallHealth>,
}

impl Retryable for ReplyCall<'_> {
    type Output = Reply;

    async fn attempt(&mut self, attempt: Attempt) -> Result<Reply, AttemptError> {
        if let Some(health) = &mut self.health {
            health.begin_attempt();
        }
        let span = AttemptSpan::new(&self.client.config().name, self.id, attempt.number, &self.options.attempt_log);
        match self.request_reply(attempt, span.clone()).await {
            Ok(mut reply) => {
                reply.health = self.health.take();
                Ok(reply)
            }
            Err(fault) => {
                let fault = self.adjust_error(fault);
                span.fail(&fault);
                if let Some(health) = &self.health {
                    health.record_failure(&fault, SystemTime::now());
                }
                Err(fault)
            }
        }
    }

    fn jitter(&mut self) -> f64 {
        retry_policy::jitter(domain::new_ulid())
    }
}

impl<'a> ReplyCall<'a> {
    pub(super) fn new(client: &'a ModelClient, prompt: &'a Prompt, options: CallOptions) -> Self {
        let health = (!options.is_optional).then(|| client.state.health.start_call());
        let quirks = client.quirks(&prompt.params);
        let (id, origin, own_fixes) = (domain::new_ulid(), client.origin(), Vec::new());
        Self { client, prompt, options, id, quirks, origin, own_fixes, health }
    }

    async fn request_reply(&self, attempt: Attempt, span: AttemptSpan) -> Result<Reply, AttemptError> {
        let ClientState { config, deps, .. } = &*self.client.state;
        let mut recorder = RecorderGuard(self.options.recorder.clone());
        let deadline = self.options.deadline;
        let first_byte = (Instant::now() + deps.timeouts.first_byte).min(deadline);
        let sent = timeout_at(first_byte, self.send(attempt)).await;
        let sent = sent.unwrap_or_else(|_| Err(network::timeout_error(first_byte, deadline)));
        let response = sent.inspect_err(|fault| recorder.end(end_without_response(fault)))?;
        let tools = Arc::clone(&self.prompt.tools);
        let reply = |body, json| {
            let decoder = ResponseDecoder::new(self.quirks.wire, json);
            Reply::new(body, decoder, (deps, &config.base_url), (first_byte, deadline), span, tools)
        };
        match response::accept(response, self.quirks.wire, first_byte, recorder).await {
            Ok((body, json)) => reply(Some(body), json).read_until_content().await,
            Err(fault) => reply(None, false).with_failed_calls(fault),
        }
    }

    async fn send(&self, attempt: Attempt) -> Result<reqwest::Response, AttemptError> {
        let ClientState { config, deps, .. } = &*self.client.state;
        let pooled = !attempt.new_connection && deps.idle_connections.may_have(&config.base_url);
        let request = self.build_request().await?;
        let client = if attempt.new_connection { platform::transport::build_client().ok() } else { None };
        let sent = client.as_ref().unwrap_or(&deps.http).execute(request).await;
        sent.map_err(|error| {
            let fault = network::error_without_response(&error, pooled);
            if fault.advice == RetryAdvice::NewConnection {
                deps.idle_connections.remove(&config.base_url);
            }
            fault
        })
    }

    async fn build_request(&self) -> Result<reqwest::Request, AttemptError> {
        let ClientState { config, deps, .. } = &*self.client.state;
        let (prompt, origin) = (self.prompt, &*self.origin);
        let wire_request = WireRequest { model: &config.model, origin, prompt, quirks: self.quirks };
        let parts = wire::encode(wire_request)?;
        let id = HeaderValue::try_from(self.id.to_string()).map_err(|_| AttemptError::fatal(ModelError::Rejected))?;
        let request = deps
            .http
            .post(format!("{}{}", config.base_url, parts.path))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .header(REQUEST_ID, id)
            .headers(parts.headers.into_iter().collect())
            .body(parts.body);
        self.client.authenticated(request).await
    }

    /// Adjusts an error with the context of the call: whether there were tools, whether the key can be read again, and
    /// whether a fix changes anything.
    fn adjust_error(&mut self, mut fault: AttemptError) -> AttemptError {
        let state = &self.client.state;
        if fault.error == ModelError::ToolsUnsupported {
            if self.prompt.tools.is_empty() {
                fault.error = ModelError::Rejected;
            } else if !self.prompt.from_caller {
                state.capabilities.tools.record_rejection(SystemTime::now());
            }
        }
        if fault.error == ModelError::ImagesUnsupported {
            if !wire::has_pictures(self.prompt) {
                fault.error = ModelError::Rejected;
            } else if !self.prompt.from_caller {
                state.capabilities.images.record_refusal(SystemTime::now());
            }
        }
        // Some servers report a schema that they cannot read as an internal error.
        let may_be_of_request = fault.error == ModelError::Rejected || fault.status == Some(500);
        fault.is_of_request |= self.prompt.from_caller && may_be_of_request;
        if state.deps.identities.invalidate(&state.config, &fault) {
            fault.advice = RetryAdvice::NewKey;
        }
        let moved_to_responses = self.quirks.wire == Wire::Responses && state.config.wire == Wire::Openai;
        if moved_to_responses && matches!(fault.status, Some(404 | 405)) {
            fault.advice = RetryAdvice::ApplyFix(CompatFix::NoResponses);
        }
        if let RetryAdvice::ApplyFix(fix) = fault.advice
            && !self.apply_fix(fix)
        {
            fault.advice = RetryAdvice::Never;
        }
        fault
    }

    /// Keeps a fix for the endpoint or for this request; returns whether it changes anything.
    fn apply_fix(&mut self, fix: CompatFix) -> bool {
        let add = |fixes: &mut Vec<CompatFix>| {
            if !fixes.contains(&fix) {
                fixes.push(fix);
            }
        };
        if fix.is_of_request(self.prompt) {
            add(&mut self.own_fixes);
        } else {
            add(&mut lock(&self.client.state.fixes));
        }
        let mut quirks = self.client.quirks(&self.prompt.params);
        self.own_fixes.iter().for_each(|fix| quirks.apply(*fix));
        std::mem::replace(&mut self.quirks, quirks) != quirks
    }
}

fn end_without_response(fault: &AttemptError) -> AttemptEnd {
    match fault.error {
        ModelError::Stalled | ModelError::Deadline => AttemptEnd::TimedOut,
        ModelError::Disconnected => AttemptEnd::Disconnected,
        _ => AttemptEnd::Unreachable,
    }
}
