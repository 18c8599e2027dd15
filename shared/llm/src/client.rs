mod call;
mod health;
mod tool_probe;

use std::sync::{Arc, Mutex, PoisonError};

use reqwest::RequestBuilder;

use crate::attempt_error::AttemptError;
use crate::breaker;
use crate::client_deps::ClientDeps;
use crate::context_window::ContextWindow;
use crate::endpoint_compat::EndpointCompat;
use crate::health::ModelHealth;
use crate::idle_connections::IdleConnections;
use crate::providers::{self, Provider};
use crate::retry_policy::RetryPolicy;
use crate::timeouts::Timeouts;
use crate::tool_support_cache::ToolSupportCache;
use crate::wire::{self, Quirks};
use crate::{CallOptions, GenerationParams, ModelConfig, ModelError, Prompt, Reply, Wire, retry_loop};

use call::ReplyCall;

/// The client of one model; cheap to clone.
#[derive(Clone)]
pub struct ModelClient {
    state: Arc<ClientState>,
}

struct ClientState {
    config: ModelConfig,
    provider: &'static Provider,
    compat: EndpointCompat,
    tool_support: ToolSupportCache,
    window: ContextWindow,
    http: platform::transport::Client,
    idle_connections: Arc<IdleConnections>,
    timeouts: Timeouts,
    health: Arc<ModelHealth>,
    /// Whether replies begin in reasoning, once that was observed.
    thinking_open: Mutex<Option<bool>>,
}

impl ModelClient {
    /// Whether the last reply that showed it began in reasoning that only its end tag ended; `None` before one did.
    pub fn observed_thinking_open(&self) -> Option<bool> {
        *self.state.thinking_open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records whether a reply began in reasoning; all clones of this client share it. Other processes do not: a prompt can make
    /// any model write the end tag, and one caller must not decide how everyone's replies are read. A reply without the tag
    /// takes it back.
    pub fn record_thinking_open(&self, is_open: bool) {
        *self.state.thinking_open.lock().unwrap_or_else(PoisonError::into_inner) = Some(is_open);
    }

    /// Creates a client; the configuration's own timeout of the first byte replaces that of `deps`.
    pub(crate) fn new(config: ModelConfig, deps: &ClientDeps) -> Self {
        let first_byte = config.options.first_byte_timeout.unwrap_or(deps.timeouts.first_byte);
        let timeouts = Timeouts { first_byte, ..deps.timeouts };
        let deps = ClientDeps { timeouts, ..deps.clone() };
        Self::with_provider(providers::provider_of(&config), config, &deps)
    }

    fn with_provider(provider: &'static Provider, config: ModelConfig, deps: &ClientDeps) -> Self {
        let (compat, tool_support) = (EndpointCompat::default(), ToolSupportCache::new(&config, provider));
        let window = ContextWindow::new(&config, provider, deps.max_allocated_context);
        let health = Arc::new(ModelHealth::new(deps.breakers.for_endpoint(config.wire, &config.base_url)));
        let ClientDeps { http, idle_connections, timeouts, .. } = deps.clone();
        Self {
            state: Arc::new(ClientState {
                config,
                provider,
                compat,
                tool_support,
                window,
                http,
                idle_connections,
                timeouts,
                health,
                thinking_open: Mutex::default(),
            }),
        }
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

    /// Returns the key of the model at its endpoint. Provider data with another key is never sent to it; it contains no
    /// secret.
    pub fn origin(&self) -> String {
        let ModelConfig { wire, base_url, model, .. } = self.config();
        format!("{} {model}", breaker::endpoint_key(*wire, base_url))
    }

    /// Returns the context window in tokens, prompt and reply together.
    ///
    /// It is the configured one, else that of the provider's table or list, else a conservative assumption. From Ollama
    /// this window is requested in every request; it never exceeds that of the model.
    pub fn context_tokens(&self) -> u64 {
        self.state.window.tokens()
    }

    /// Whether the context window is only assumed.
    pub fn is_context_assumed(&self) -> bool {
        self.state.window.is_assumed()
    }

    /// Returns the context window if the provider's list, and not the configuration alone, determined it.
    pub fn discovered_context_tokens(&self) -> Option<u64> {
        self.state.window.listed().map(|_| self.context_tokens())
    }

    /// Requests a reply. Returns at the first delta and retries before that as far as `options` allow; a later error is
    /// final.
    ///
    /// It makes at most three attempts, and only one while the endpoint is down. Errors contain no text of the endpoint.
    pub async fn reply(&self, prompt: &Prompt, options: CallOptions) -> Result<Reply, ModelError> {
        let (deadline, has_fallback) = (options.deadline, options.has_fallback);
        let mut call = ReplyCall::new(self, prompt, options);
        let policy = RetryPolicy::new(has_fallback, call.skips_retries());
        retry_loop::retry(&mut call, policy, deadline).await
    }

    async fn with_key(&self, request: RequestBuilder) -> Result<RequestBuilder, AttemptError> {
        let config = &self.state.config;
        let Some(key) = &config.api_key else { return Ok(request) };
        let key = key.get().await.map_err(|_| AttemptError::fatal(ModelError::Unavailable))?;
        let (name, value) = wire::auth_header(config.wire, &key)?;
        Ok(request.header(name, value))
    }

    fn quirks(&self, params: &GenerationParams) -> Quirks {
        let ClientState { compat, provider, config, window, .. } = &*self.state;
        let mut quirks = Quirks::new(provider, config, params);
        quirks.parameters.context_tokens = window.allocated().or(quirks.parameters.context_tokens);
        compat.apply_fixes(quirks)
    }
}
