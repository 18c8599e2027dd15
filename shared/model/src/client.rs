mod inquiry;

use std::sync::Arc;
use std::time::SystemTime;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderName, HeaderValue};
use reqwest::RequestBuilder;
use tokio::time::{Instant, sleep, timeout_at};
use ulid::Ulid;

use crate::capability::Capability;
use crate::fault::{Again, Fault};
use crate::learned::Learned;
use crate::pool::Pool;
use crate::providers::Provider;
use crate::timers::Timers;
use crate::trace::Trace;
use crate::wire::{self, Ask, Decoding, Quirks};
use crate::{Limits, ModelConfig, ModelError, Prompt, Reply, network, response, retry};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-client-request-id");

/// Speaks to one model; cheap to clone.
#[derive(Clone)]
pub struct ModelClient {
    shared: Arc<Shared>,
}

struct Shared {
    config: ModelConfig,
    provider: &'static Provider,
    learned: Learned,
    capability: Capability,
    http: transport::Client,
    pool: Arc<Pool>,
    timers: Timers,
}

/// One call for a reply, over all its attempts.
struct Call<'a> {
    prompt: &'a Prompt,
    deadline: Instant,
    id: HeaderValue,
    attempt: u32,
    quirks: Quirks,
    /// Whether the attempt goes over a connection of its own.
    fresh: bool,
}

impl ModelClient {
    pub(crate) fn new(config: ModelConfig, http: transport::Client, pool: Arc<Pool>, timers: Timers) -> Self {
        let provider = wire::provider(config.wire, &config.base_url);
        Self::of_provider(provider, config, http, pool, timers)
    }

    fn of_provider(
        provider: &'static Provider,
        config: ModelConfig,
        http: transport::Client,
        pool: Arc<Pool>,
        timers: Timers,
    ) -> Self {
        let (learned, capability) = (Learned::default(), Capability::new(&config, provider));
        Self { shared: Arc::new(Shared { config, provider, learned, capability, http, pool, timers }) }
    }

    /// How it is configured.
    pub fn config(&self) -> &ModelConfig {
        &self.shared.config
    }

    /// Whose endpoint it is, as far as its address tells: `ark`, `openai`, `ollama` and so on.
    pub fn provider(&self) -> &'static str {
        self.shared.provider.name
    }

    /// The tokens that a prompt and its reply may have together: as the operator says, else as is known of the model.
    pub fn context_tokens(&self) -> Option<u64> {
        let config = self.config();
        config.options.context_tokens.or_else(|| self.shared.provider.context_of(&config.model))
    }

    /// Asks the model. Returns once the first delta is there (retrying before that as far as `limits` allow), so that an
    /// error after this point is final.
    ///
    /// At most three attempts are made. An error holds nothing that the endpoint said.
    pub async fn reply(&self, prompt: &Prompt, limits: Limits) -> Result<Reply, ModelError> {
        let deadline = limits.deadline;
        let id = Ulid::new();
        let header = HeaderValue::try_from(id.to_string()).map_err(|_| ModelError::Rejected)?;
        let quirks = self.quirks();
        let mut call = Call { prompt, deadline, id: header, attempt: 1, quirks, fresh: false };
        loop {
            let trace = Trace::new(&self.shared.config.name, id, call.attempt);
            let fault = match self.attempt(&call, trace.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(fault) => self.judge(fault, &mut call),
            };
            trace.failed(&fault);
            let left = deadline.saturating_duration_since(Instant::now());
            let wait = retry::next(&fault, call.attempt, left, retry::jitter(Ulid::new()))?;
            call.fresh = fault.again == Again::NewConnection;
            call.attempt += u32::from(!call.fresh);
            sleep(wait).await;
        }
    }

    async fn attempt(&self, call: &Call<'_>, trace: Trace) -> Result<Reply, Fault> {
        let Shared { config, timers, pool, .. } = &*self.shared;
        let now = Instant::now();
        if now >= call.deadline {
            return Err(Fault::last(ModelError::Deadline));
        }
        let first_byte = (now + timers.first_byte).min(call.deadline);
        let sent = timeout_at(first_byte, self.send(call)).await;
        let response = sent.map_err(|_| network::silent(first_byte, call.deadline))??;
        let declared = response::accept(response, config.wire, first_byte).await?;
        let decoding = Decoding::new(config.wire, declared.json);
        let returns = pool.place(&config.base_url);
        let limits = (first_byte, call.deadline);
        Reply::new(declared.response, decoding, *timers, limits, trace, returns).begin().await
    }

    async fn send(&self, call: &Call<'_>) -> Result<reqwest::Response, Fault> {
        let Shared { config, pool, .. } = &*self.shared;
        let pooled = !call.fresh && pool.may_hold(&config.base_url);
        let request = self.request(call).await?;
        let client = if call.fresh { transport::client().ok() } else { None };
        let sent = client.as_ref().unwrap_or(&self.shared.http).execute(request).await;
        sent.map_err(|error| {
            let fault = network::no_response(&error, pooled);
            if fault.again == Again::NewConnection {
                pool.forget(&config.base_url);
            }
            fault
        })
    }

    async fn request(&self, call: &Call<'_>) -> Result<reqwest::Request, Fault> {
        let Shared { config, http, .. } = &*self.shared;
        let ask = Ask { model: &config.model, prompt: call.prompt, quirks: call.quirks };
        let encoded = wire::encode(config.wire, ask)?;
        let request = http
            .post(format!("{}{}", config.base_url, encoded.path))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .header(REQUEST_ID, call.id.clone())
            .headers(encoded.headers.into_iter().collect())
            .body(encoded.body);
        self.with_key(request).await?.build().map_err(|_| Fault::last(ModelError::Rejected))
    }

    async fn with_key(&self, request: RequestBuilder) -> Result<RequestBuilder, Fault> {
        let config = &self.shared.config;
        let Some(key) = &config.api_key else { return Ok(request) };
        let key = key.reveal().await.map_err(|_| Fault::last(ModelError::Unavailable))?;
        let (name, value) = wire::authorisation(config.wire, &key)?;
        Ok(request.header(name, value))
    }

    /// Draws from a fault what only the asker knows: whether there were tools, whether the key can be read again, and
    /// whether an amendment changes anything.
    fn judge(&self, mut fault: Fault, call: &mut Call<'_>) -> Fault {
        if fault.error == ModelError::ToolsUnsupported {
            if call.prompt.tools.is_empty() {
                fault.error = ModelError::Rejected;
            } else {
                self.shared.capability.learn_refusal(SystemTime::now());
            }
        }
        if fault.error == ModelError::Auth && self.config().api_key.as_ref().is_some_and(secrets::Secret::refused) {
            fault.again = Again::NewKey;
        }
        if let Again::Amended(amendment) = fault.again {
            self.shared.learned.remember(amendment);
            let before = std::mem::replace(&mut call.quirks, self.quirks());
            if call.quirks == before {
                fault.again = Again::Never;
            }
        }
        fault
    }

    fn quirks(&self) -> Quirks {
        self.shared.learned.apply(self.shared.provider.into())
    }
}
