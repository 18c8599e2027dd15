//! Probes whether a model supports native tools.

use std::time::SystemTime;

use serde::Serialize;
use tokio::time::timeout;

use super::{ModelClient, Shared};
use crate::capability::{DAY, is_of_today};
use crate::listing::{self, Listing};
use crate::{Finding, ModelConfig, ToolPath, ToolUse, ToolsFrom};

#[derive(Serialize)]
struct Show<'a> {
    model: &'a str,
}

impl ModelClient {
    /// Returns the tool support that is known at `now`; makes no request.
    pub fn tools(&self, now: SystemTime) -> ToolUse {
        self.shared.capability.tools(now)
    }

    /// Whether [`probe_tool_support`](Self::probe_tool_support) has nothing to do at `now`.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        self.shared.capability.is_settled(now)
    }

    /// Looks up the tool support once a day: in the result that other processes stored, else in the provider's list.
    /// Returns a result from the list, which the caller should store.
    ///
    /// Concurrent callers wait for the first one. The request takes at most 10 s, in addition to the time for `stored`,
    /// which is not polled if no probe is due.
    pub async fn inquire(&self, now: SystemTime, remembered: impl Future<Output = Option<Finding>>) -> Option<Finding> {
        let capability = &self.shared.capability;
        if !capability.is_open() {
            return None;
        }
        let mut looked = capability.looked.lock().await;
        if is_of_today(*looked, now) {
            return None;
        }
        *looked = Some(now);
        if let Some(finding) = remembered.await {
            capability.note(finding);
            return None;
        }
        let finding = self.listed(now).await?;
        capability.note(finding);
        Some(finding)
    }

    /// Takes the rejection of tools since the last call of this function, which the caller should store.
    pub fn take_lesson(&self) -> Option<Finding> {
        self.shared.capability.take_lesson()
    }

    /// Returns a key that equal models at equal endpoints with equal configuration share; it contains no secret.
    ///
    /// The configured tool mode is part of it: a new setting gives an endpoint that rejected tools another chance.
    pub fn identity(&self) -> String {
        let ModelConfig { wire, base_url, model, tools, options, .. } = self.config();
        format!("{wire:?} {base_url} {model} {tools:?} {}", options.provider.unwrap_or_default())
    }

    async fn listed(&self, now: SystemTime) -> Option<Finding> {
        let Shared { capability, provider, config, .. } = &*self.shared;
        let listing = provider.listing.filter(|_| capability.needs_list())?;
        let list = timeout(listing::TIME, self.list(listing)).await.ok().flatten()?;
        let path = if listing.read(&list, &config.model)? { ToolPath::Native } else { ToolPath::Text };
        Some(Finding { tools: ToolUse { path, from: ToolsFrom::Provider }, until: now + DAY })
    }

    async fn list(&self, listing: Listing) -> Option<Vec<u8>> {
        let Shared { config, http, .. } = &*self.shared;
        let url = format!("{}{}", config.base_url, listing.path());
        let request = match listing {
            Listing::Ark | Listing::OpenRouter => http.get(url),
            Listing::Ollama => http.post(url).json(&Show { model: &config.model }),
        };
        let mut response = self.with_key(request).await.ok()?.send().await.ok()?.error_for_status().ok()?;
        let mut list = Vec::new();
        while let Some(bytes) = response.chunk().await.ok()? {
            if list.len() + bytes.len() > listing::LIMIT {
                return None;
            }
            list.extend_from_slice(&bytes);
        }
        Some(list)
    }
}

#[cfg(test)]
mod tests;
