//! Probes whether a model supports native tools, and its context window.

use std::time::SystemTime;

use serde::Serialize;
use tokio::time::timeout;

use super::{ClientState, ModelClient};
use crate::model_list::{self, ModelListApi};
use crate::tool_support_cache::{PROBE_INTERVAL, is_recent};
use crate::{CachedToolSupport, ModelConfig, ToolMode, ToolSupport, ToolSupportSource};

#[derive(Serialize)]
struct ShowRequest<'a> {
    model: &'a str,
}

impl ModelClient {
    /// Returns the tool support that is known at `now`; makes no request.
    pub fn tools(&self, now: SystemTime) -> ToolSupport {
        self.state.tool_support.get(now)
    }

    /// Whether [`probe_tool_support`](Self::probe_tool_support) has nothing to do at `now`.
    pub fn knows_tool_support(&self, now: SystemTime) -> bool {
        !self.needs_probe() || self.state.tool_support.was_probed(now)
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
        let tool_support = &self.state.tool_support;
        if !self.needs_probe() {
            return None;
        }
        let mut last_probe = tool_support.last_probe.lock().await;
        if is_recent(*last_probe, now) {
            return None;
        }
        *last_probe = Some(now);
        if let Some(cached) = stored.await {
            self.store(cached);
            if cached.context_tokens.is_some() || !self.state.window.needs_list() {
                return None;
            }
        }
        let cached = self.fetch_tool_support(now).await?;
        self.store(cached);
        Some(cached)
    }

    fn needs_probe(&self) -> bool {
        self.state.tool_support.can_change() || self.state.window.needs_list()
    }

    fn store(&self, cached: CachedToolSupport) {
        self.state.tool_support.store(cached);
        self.state.window.set_listed(cached.context_tokens.unwrap_or_default());
    }

    /// Takes the rejection of tools since the last call of this function, which the caller should store.
    pub fn take_unpublished_rejection(&self) -> Option<CachedToolSupport> {
        self.state.tool_support.take_unpublished()
    }

    /// Returns a key that equal models at equal endpoints with equal configuration share; it contains no secret.
    ///
    /// The configured tool mode is part of it: a new setting gives an endpoint that rejected tools another chance.
    pub fn identity(&self) -> String {
        let ModelConfig { wire, base_url, model, tools, options, .. } = self.config();
        format!("{wire:?} {base_url} {model} {tools:?} {}", options.provider.unwrap_or_default())
    }

    async fn fetch_tool_support(&self, now: SystemTime) -> Option<CachedToolSupport> {
        let ClientState { tool_support, window, provider, config, .. } = &*self.state;
        let api = provider.model_list.filter(|_| tool_support.needs_list() || window.needs_list())?;
        let list = timeout(model_list::TIMEOUT, self.fetch_list(api)).await.ok().flatten()?;
        let context_tokens = api.context_tokens(&list, &config.model).unwrap_or_default();
        // An older server shows the window without the tool support.
        window.set_listed(context_tokens);
        let mode = if api.supports_tools(&list, &config.model)? { ToolMode::Native } else { ToolMode::Prompted };
        Some(CachedToolSupport {
            tools: ToolSupport { mode, source: ToolSupportSource::Provider },
            context_tokens: Some(context_tokens),
            expires_at: now + PROBE_INTERVAL,
        })
    }

    async fn fetch_list(&self, api: ModelListApi) -> Option<Vec<u8>> {
        let ClientState { config, http, .. } = &*self.state;
        let url = format!("{}{}", config.base_url, api.path());
        let request = match api {
            ModelListApi::Ark | ModelListApi::OpenRouter => http.get(url),
            ModelListApi::Ollama => http.post(url).json(&ShowRequest { model: &config.model }),
        };
        let mut response = self.with_key(request).await.ok()?.send().await.ok()?.error_for_status().ok()?;
        let mut list = Vec::new();
        while let Some(bytes) = response.chunk().await.ok()? {
            if list.len() + bytes.len() > model_list::MAX_BYTES {
                return None;
            }
            list.extend_from_slice(&bytes);
        }
        Some(list)
    }
}

#[cfg(test)]
mod tests;
