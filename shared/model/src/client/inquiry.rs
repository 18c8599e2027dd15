//! How a model is given tools, as far as that can be found out.

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
    /// How the model is given tools, as far as is known at `now`; makes no call.
    pub fn tools(&self, now: SystemTime) -> ToolUse {
        self.shared.capability.tools(now)
    }

    /// Whether [`inquire`](Self::inquire) has nothing to do at `now`.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        self.shared.capability.is_settled(now)
    }

    /// Finds out what can be, once a day: what other processes remember, and where that is nothing, what the provider's
    /// list says. Gives what the list said, which is worth remembering.
    ///
    /// Callers that come meanwhile wait for the first one. It takes 10 s at most beside the time for `remembered`, which
    /// is not polled when there is nothing to find out.
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

    /// The refusal that the endpoint gave since this was last asked, which is worth remembering.
    pub fn take_lesson(&self) -> Option<Finding> {
        self.shared.capability.take_lesson()
    }

    /// A text that is the same for equal models at equal endpoints, configured alike, and holds no secret.
    ///
    /// What the operator wishes is a part of it: another wish is another chance for an endpoint that refused.
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
