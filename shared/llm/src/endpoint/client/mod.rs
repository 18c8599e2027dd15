mod call;

use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use platform::transport::read_body;
use reqwest::{Request, RequestBuilder};
use serde_json::json;
use tokio::time::timeout;
use work::lock;

use crate::capabilities::{Capabilities, model_list};
use crate::endpoint::retry_policy::RetryPolicy;
use crate::endpoint::{ClientDeps, Timeouts, retry_loop};
use crate::errors::{AttemptError, CompatFix};
use crate::health::{ModelHealth, endpoint_key};
use crate::providers::{self, ModelListApi, Provider};
use crate::wire::Quirks;
use crate::{
    CachedToolSupport, CallOptions, EndpointHealth, GenerationParams, ModelConfig, ModelError, Prompt, Reply, ToolMode,
    ToolSupport, Wire,
};

use call::ReplyCall;

/// The client of one model; cheap to clone.
#[derive(Clone)]
pub struct ModelClient {
    state: Arc<ClientState>,
}

struct ClientState {
    config: ModelConfig,
    provider: &'static Provider,
    /// What the endpoint turned out to need, for the life of the process.
    fixes: Mutex<Vec<CompatFix>>,
    capabilities: Capabilities,
    deps: ClientDeps,
    health: Arc<ModelHealth>,
    /// Whether replies begin in reasoning, once that was observed.
    thinking_open: Mutex<Option<bool>>,
}

impl ModelClient {
    /// Whether the last reply that showed it began in reasoning that only its end tag ended; `None` before one did.
    pub fn observed_thinking_open(&self) -> Option<bool> {
        *lock(&self.state.thinking_open)
    }

    /// Records whether a reply began in reasoning; all clones of this client share it. Other processes do not: a prompt can make
    /// any model write the end tag, and one caller must not decide how everyone's replies are read. A reply without the tag
    /// takes it back.
    pub fn record_thinking_open(&self, is_open: bool) {
        *lock(&self.state.thinking_open) = Some(is_open);
    }

    /// Creates a client; the configuration's own timeout of the first byte replaces that of `deps`.
    pub(crate) fn new(config: ModelConfig, deps: &ClientDeps) -> Self {
        let first_byte = config.options.first_byte_timeout.unwrap_or(deps.timeouts.first_byte);
        let timeouts = Timeouts { first_byte, ..deps.timeouts };
        let deps = ClientDeps { timeouts, ..deps.clone() };
        Self::with_provider(providers::provider_of(&config), config, &deps)
    }

    fn with_provider(provider: &'static Provider, config: ModelConfig, deps: &ClientDeps) -> Self {
        let capabilities = Capabilities::new(&config, provider, deps.max_allocated_context);
        let health = Arc::new(ModelHealth::new(deps.breakers.for_endpoint(config.wire, &config.base_url)));
        let (fixes, thinking_open, deps) = (Mutex::default(), Mutex::default(), deps.clone());
        Self { state: Arc::new(ClientState { config, provider, fixes, capabilities, deps, health, thinking_open }) }
    }

    /// Returns the configuration of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.state.config
    }

    /// Returns the provider, from the configuration or the address: `ark`, `openai`, `ollama` and so on.
    pub fn provider(&self) -> &'static str {
        self.state.provider.name
    }

    /// Returns the protocol of the next request. It differs from the configured one after the endpoint required that.
    pub fn wire(&self) -> Wire {
        self.quirks(&GenerationParams::default()).wire
    }

    /// Whether the text of replies begins with their reasoning, as `<reasoning>…</reasoning>`.
    pub fn tags_reasoning(&self) -> bool {
        self.wire() == Wire::Openai && self.state.provider.tags_reasoning(&self.config().model)
    }

    /// Returns the key of the model at its endpoint. Provider data with another key is never sent to it; it contains no
    /// secret.
    pub fn origin(&self) -> String {
        let ModelConfig { wire, base_url, model, .. } = self.config();
        format!("{} {model}", endpoint_key(*wire, base_url))
    }

    /// Returns the context window in tokens, prompt and reply together.
    ///
    /// It is the configured one, else that of the provider's table or list, else a conservative assumption. From Ollama
    /// this window is requested in every request; it never exceeds that of the model.
    pub fn context_tokens(&self) -> u64 {
        self.state.capabilities.window.tokens()
    }

    /// Whether the context window is only assumed.
    pub fn is_context_assumed(&self) -> bool {
        self.state.capabilities.window.is_assumed()
    }

    /// Returns the context window if the provider's list, and not the configuration alone, determined it.
    pub fn discovered_context_tokens(&self) -> Option<u64> {
        self.state.capabilities.window.listed().map(|_| self.context_tokens())
    }

    /// Requests a reply. Returns at the first delta and retries before that as far as `options` allow. After a later error the
    /// caller may [repeat](CallOptions::is_repeated) the call.
    ///
    /// It makes at most three attempts, and only one while the endpoint is down. Errors contain no text of the endpoint.
    pub async fn reply(&self, prompt: &Prompt, options: CallOptions) -> Result<Reply, ModelError> {
        let (deadline, has_fallback) = (options.deadline, options.has_fallback);
        let failed_reply = options.attempt_log.take_failed_reply().filter(|_| options.is_repeated);
        let mut call = ReplyCall::new(self, prompt, options);
        let skips_retries = call.health.as_ref().is_none_or(|health| health.skips_retries);
        let policy = RetryPolicy::new(has_fallback, skips_retries);
        retry_loop::retry(&mut call, policy, deadline, failed_reply).await
    }

    async fn authenticated(&self, request: RequestBuilder) -> Result<Request, AttemptError> {
        let mut request = request.build().map_err(|_| AttemptError::fatal(ModelError::Rejected))?;
        let ClientState { config, deps, .. } = &*self.state;
        deps.identities.authenticate(&deps.http, config, &mut request).await?;
        Ok(request)
    }

    /// Returns what the endpoint supports and requires of a request with these parameters, as far as is known.
    fn quirks(&self, params: &GenerationParams) -> Quirks {
        let ClientState { provider, config, capabilities, fixes, .. } = &*self.state;
        let mut quirks = Quirks::new(provider, config, params);
        quirks.parameters.context_tokens = capabilities.window.allocated().or(quirks.parameters.context_tokens);
        lock(fixes).iter().for_each(|fix| quirks.apply(*fix));
        quirks
    }

    /// Whether the model should be used at `now` if there is a fallback: its endpoint is up or due for a probe, and its
    /// key and quota were not rejected within the last minute.
    ///
    /// A call to an unavailable model is still made, but with a single attempt while the endpoint is down.
    pub fn is_available(&self, now: SystemTime) -> bool {
        self.state.health.is_available(now)
    }

    /// Whether the last call was rejected permanently (request, key or quota), or the endpoint is down, without a
    /// success since.
    pub fn is_failing(&self) -> bool {
        self.state.health.is_failing()
    }

    /// Returns a key that models of one endpoint share; it contains no secret.
    pub fn endpoint(&self) -> String {
        let config = &self.state.config;
        endpoint_key(config.wire, &config.base_url)
    }

    /// Applies the state that other processes published. `published` is polled only when the poll interval has passed.
    pub async fn refresh_health(&self, now: SystemTime, published: impl Future<Output = Option<EndpointHealth>>) {
        let breaker = &self.state.health.breaker;
        if breaker.should_poll(now)
            && let Some(health) = published.await
        {
            breaker.apply_remote(health, now);
        }
    }

    /// Returns the change of this process that is not yet published.
    pub fn pending_health_change(&self) -> Option<EndpointHealth> {
        self.state.health.breaker.pending_change()
    }

    /// Waits for a change to publish.
    pub async fn next_health_change(&self) -> EndpointHealth {
        self.state.health.breaker.next_change().await
    }

    /// Marks a change as published.
    pub fn mark_health_published(&self, health: EndpointHealth) {
        self.state.health.breaker.mark_published(health);
    }

    /// Returns the tool support that is known at `now`; makes no request.
    pub fn tools(&self, now: SystemTime) -> ToolSupport {
        self.state.capabilities.tools.get(now)
    }

    /// Whether [`probe_tool_support`](Self::probe_tool_support) has nothing to do at `now`.
    pub fn knows_tool_support(&self, now: SystemTime) -> bool {
        self.state.capabilities.are_settled(now)
    }

    /// Looks up the tool support and the context window once a day: in the result that other processes stored, else in the
    /// provider's list. Returns a result from the list, which the caller should store.
    ///
    /// Concurrent callers wait for the first one. The request takes at most 10 s, in addition to the time for `stored`,
    /// which is not polled if no probe is due.
    pub async fn probe_tool_support(
        &self,
        now: SystemTime,
        stored: impl Future<Output = Option<CachedToolSupport>>,
    ) -> Option<CachedToolSupport> {
        self.state.capabilities.probe(now, &self.config().model, stored, self.fetch_list()).await
    }

    /// Takes the rejection of tools since the last call of this function, which the caller should store.
    pub fn take_unpublished_rejection(&self) -> Option<CachedToolSupport> {
        self.state.capabilities.tools.take_unpublished()
    }

    /// Whether the wire takes a picture of this media type and length in bytes, which other wires take.
    // Gemini takes no GIF: https://ai.google.dev/gemini-api/docs/image-understanding, 2026-11-27.
    // Claude takes 5 MiB of Base64: https://docs.claude.com/en/docs/build-with-claude/vision, 2026-11-27; Amazon Bedrock
    // as much: the model of `ImageBlock` in botocore 1.44.8, 2026-11-27.
    pub fn takes_picture(&self, media_type: &str, bytes: u64) -> bool {
        match self.wire() {
            Wire::Gemini => media_type != "image/gif",
            Wire::Anthropic | Wire::Converse => bytes <= 15 * 1024 * 1024 / 4,
            Wire::Openai | Wire::Responses | Wire::Ollama => true,
        }
    }

    /// Whether the model takes pictures, as far as is known at `now`; makes no request.
    pub fn takes_images(&self, now: SystemTime) -> Option<bool> {
        self.state.capabilities.images.get(now)
    }

    /// Whether the caller must pass a refusal of pictures that other processes stored to
    /// [`store_image_refusal`](Self::store_image_refusal): at most once a day, and only if it can change anything.
    pub fn begin_image_lookup(&self, now: SystemTime) -> bool {
        self.state.capabilities.images.begin_read(now)
    }

    /// Stores that the endpoint refused pictures, which is valid until then.
    pub fn store_image_refusal(&self, until: SystemTime) {
        self.state.capabilities.images.store_refusal(until);
    }

    /// Takes until when the refusal of pictures since the last call of this function is valid; the caller should store it.
    pub fn take_unpublished_image_refusal(&self) -> Option<SystemTime> {
        self.state.capabilities.images.take_unpublished()
    }

    /// Returns a key that equal models at equal endpoints with equal configuration share; it contains no secret.
    ///
    /// The configured tool mode is part of it: a new setting gives an endpoint that rejected tools another chance.
    pub fn identity(&self) -> String {
        let ModelConfig { wire, base_url, model, tools, options, .. } = self.config();
        // The names are in the keys of stored items.
        let tools = tools.map_or("Auto", |mode| if mode == ToolMode::Native { "Native" } else { "Prompt" });
        format!("{wire:?} {base_url} {model} {tools} {}", options.provider.unwrap_or_default())
    }

    async fn fetch_list(&self) -> Option<Vec<u8>> {
        let ClientState { config, deps, provider, .. } = &*self.state;
        let api = provider.model_list?;
        let url = format!("{}{}", config.base_url, api.path());
        let request = match api {
            ModelListApi::Ark | ModelListApi::OpenRouter => deps.http.get(url),
            ModelListApi::Ollama => deps.http.post(url).json(&json!({ "model": config.model })),
        };
        let fetch = async {
            let response = deps.http.execute(self.authenticated(request).await.ok()?).await.ok()?;
            read_body(response.error_for_status().ok()?, model_list::MAX_BYTES).await.ok()
        };
        timeout(model_list::TIMEOUT, fetch).await.ok()?
    }
}

#[cfg(test)]
mod tests;
