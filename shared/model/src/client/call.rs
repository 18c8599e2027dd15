//! One call for a reply, over all its attempts.

use std::time::SystemTime;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use tokio::time::{Instant, timeout_at};
use ulid::Ulid;

use super::{ModelClient, Shared};
use crate::attempts::{Attempt, Attempted};
use crate::body::Taking;
use crate::fault::{Again, Fault};
use crate::health::Watch;
use crate::learned::Learned;
use crate::trace::Trace;
use crate::wire::{self, Ask, Decoding, Quirks};
use crate::{AttemptEnd, Limits, ModelError, Prompt, Reply, network, response, retry};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-client-request-id");

pub(super) struct Call<'a> {
    client: &'a ModelClient,
    prompt: &'a Prompt,
    limits: Limits,
    id: Ulid,
    quirks: Quirks,
    /// Fixes for parameters that this request set itself; not kept for other requests.
    own: Learned,
    /// Moves to the reply.
    watch: Option<Watch>,
}

impl Attempted for Call<'_> {
    type Output = Reply;

    async fn attempt(&mut self, which: Attempt) -> Result<Reply, Fault> {
        if let Some(watch) = &mut self.watch {
            watch.begin_attempt();
        }
        let trace = Trace::new(&self.client.config().name, self.id, which.number, &self.limits.attempts);
        match self.ask(which, trace.clone()).await {
            Ok(mut reply) => {
                reply.watch(self.watch.take());
                Ok(reply)
            }
            Err(fault) => {
                let fault = self.judge(fault);
                trace.failed(&fault);
                if let Some(watch) = &self.watch {
                    watch.failed(&fault, SystemTime::now());
                }
                Err(fault)
            }
        }
    }

    fn jitter(&mut self) -> f64 {
        retry::jitter(Ulid::new())
    }
}

impl<'a> Call<'a> {
    pub(super) fn new(client: &'a ModelClient, prompt: &'a Prompt, limits: Limits) -> Self {
        let watch = Some(client.shared.health.watch());
        let quirks = client.quirks(&prompt.wishes);
        Self { client, prompt, limits, id: Ulid::new(), quirks, own: Learned::default(), watch }
    }

    /// Whether transient errors are not retried.
    pub(super) fn is_single(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_single)
    }

    async fn ask(&self, which: Attempt, trace: Trace) -> Result<Reply, Fault> {
        let Shared { config, timers, pool, .. } = &*self.client.shared;
        let mut taking = Taking::new(self.limits.tape.clone());
        let deadline = self.limits.deadline;
        let first_byte = (Instant::now() + timers.first_byte).min(deadline);
        let sent = timeout_at(first_byte, self.send(which)).await;
        let sent = sent.unwrap_or_else(|_| Err(network::silent(first_byte, deadline)));
        let response = sent.inspect_err(|fault| taking.end(unanswered(fault)))?;
        let declared = response::accept(response, config.wire, first_byte, taking).await?;
        let decoding = Decoding::new(config.wire, declared.json);
        let returns = pool.place(&config.base_url);
        Reply::new(declared.body, decoding, *timers, (first_byte, deadline), trace, returns).begin().await
    }

    async fn send(&self, which: Attempt) -> Result<reqwest::Response, Fault> {
        let Shared { config, pool, http, .. } = &*self.client.shared;
        let pooled = !which.fresh && pool.may_hold(&config.base_url);
        let request = self.request().await?;
        let client = if which.fresh { transport::client().ok() } else { None };
        let sent = client.as_ref().unwrap_or(http).execute(request).await;
        sent.map_err(|error| {
            let fault = network::no_response(&error, pooled);
            if fault.again == Again::NewConnection {
                pool.forget(&config.base_url);
            }
            fault
        })
    }

    async fn request(&self) -> Result<reqwest::Request, Fault> {
        let Shared { config, http, .. } = &*self.client.shared;
        let ask = Ask { model: &config.model, prompt: self.prompt, quirks: self.quirks };
        let encoded = wire::encode(config.wire, ask)?;
        let id = HeaderValue::try_from(self.id.to_string()).map_err(|_| Fault::last(ModelError::Rejected))?;
        let request = http
            .post(format!("{}{}", config.base_url, encoded.path))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .header(REQUEST_ID, id)
            .headers(encoded.headers.into_iter().collect())
            .body(encoded.body);
        self.client.with_key(request).await?.build().map_err(|_| Fault::last(ModelError::Rejected))
    }

    /// Adjusts an error with the context of the call: whether there were tools, whether the key can be read again, and
    /// whether a fix changes anything.
    fn judge(&mut self, mut fault: Fault) -> Fault {
        let shared = &self.client.shared;
        if fault.error == ModelError::ToolsUnsupported {
            if self.prompt.tools.is_empty() {
                fault.error = ModelError::Rejected;
            } else {
                shared.capability.learn_refusal(SystemTime::now());
            }
        }
        if fault.error == ModelError::Auth && shared.config.api_key.as_ref().is_some_and(secrets::Secret::refused) {
            fault.again = Again::NewKey;
        }
        if let Again::Amended(amendment) = fault.again {
            let learned = if amendment.is_about(&self.prompt.wishes) { &self.own } else { &shared.learned };
            learned.remember(amendment);
            let now = self.own.apply(self.client.quirks(&self.prompt.wishes));
            let before = std::mem::replace(&mut self.quirks, now);
            if self.quirks == before {
                fault.again = Again::Never;
            }
        }
        fault
    }
}

/// Returns the end of an attempt without a response, for the recorder.
fn unanswered(fault: &Fault) -> AttemptEnd {
    match fault.error {
        ModelError::Stalled | ModelError::Deadline => AttemptEnd::Silent,
        ModelError::Disconnected => AttemptEnd::Cut,
        _ => AttemptEnd::Unreachable,
    }
}
