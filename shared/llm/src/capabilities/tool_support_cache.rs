//! The cached tool support of one model.
//!
//! A rejection of tools by the endpoint decides, then the settings, the provider's model list, the model's family, and the
//! wire: chat completions and Ollama may lack tools, which the other protocols always have.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use work::lock;

use crate::providers::Provider;
use crate::{CachedToolSupport, ModelConfig, ToolMode, ToolSupport, ToolSupportSource, Wire};

use super::native_families;

/// How long a provider's list is valid, and how often one process requests it.
pub(super) const PROBE_INTERVAL: Duration = Duration::from_hours(24);

/// How long a rejection of tools is valid. If the operator configured native calls, it is one day: a repaired endpoint
/// must get native calls again soon.
pub(super) const REJECTION_TTL: Duration = Duration::from_hours(7 * 24);

/// The tool support of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct ToolSupportCache {
    configured: Option<ToolMode>,
    /// From the model's family or the wire.
    assumed: ToolMode,
    /// Whether the settings and the family leave the decision to the provider's list.
    needs_list: bool,
    discovered: Mutex<DiscoveredSupport>,
}

#[derive(Debug, Default)]
struct DiscoveredSupport {
    listed: Option<CachedToolSupport>,
    rejected: Option<CachedToolSupport>,
    /// Whether the rejection is not yet published to other processes.
    unpublished: bool,
}

impl ToolSupportCache {
    pub(crate) fn new(config: &ModelConfig, provider: &Provider) -> Self {
        // Ollama's list knows what the copy of a model on that machine can do.
        let family = native_families::tool_mode_of(&config.model).filter(|_| config.wire != Wire::Ollama);
        let otherwise = match config.wire {
            Wire::Openai | Wire::Ollama if !provider.native_tools => ToolMode::Prompted,
            _ => ToolMode::Native,
        };
        Self {
            configured: config.tools,
            assumed: family.unwrap_or(otherwise),
            needs_list: config.tools.is_none() && family.is_none() && provider.model_list.is_some(),
            discovered: Mutex::default(),
        }
    }

    pub(crate) fn get(&self, now: SystemTime) -> ToolSupport {
        let discovered = lock(&self.discovered);
        let valid = |cached: Option<CachedToolSupport>| cached.filter(|one| one.expires_at > now).map(|one| one.tools);
        let configured = self.configured.map(|mode| ToolSupport { mode, source: ToolSupportSource::Settings });
        let support = valid(discovered.rejected).or(configured).or_else(|| valid(discovered.listed));
        support.unwrap_or(ToolSupport { mode: self.assumed, source: ToolSupportSource::Table })
    }

    /// Whether a probe can change anything: a rejection can only end native calls.
    pub(crate) fn can_change(&self) -> bool {
        self.needs_list || self.configured.unwrap_or(self.assumed) == ToolMode::Native
    }

    pub(crate) fn needs_list(&self) -> bool {
        self.needs_list
    }

    pub(crate) fn store(&self, cached: CachedToolSupport) {
        let mut discovered = lock(&self.discovered);
        match cached.tools.source {
            ToolSupportSource::Rejection => discovered.rejected = Some(cached),
            _ => discovered.listed = Some(cached),
        }
    }

    pub(crate) fn record_rejection(&self, now: SystemTime) {
        let tools = ToolSupport { mode: ToolMode::Prompted, source: ToolSupportSource::Rejection };
        let ttl = if self.configured.is_some() { PROBE_INTERVAL } else { REJECTION_TTL };
        self.store(CachedToolSupport { tools, context_tokens: None, expires_at: now + ttl });
        lock(&self.discovered).unpublished = true;
    }

    pub(crate) fn take_unpublished(&self) -> Option<CachedToolSupport> {
        let mut discovered = lock(&self.discovered);
        std::mem::take(&mut discovered.unpublished).then_some(discovered.rejected)?
    }
}

/// Whether the last probe was less than a day ago; also true if the clock was set back.
pub(super) fn is_recent(last_probe: Option<SystemTime>, now: SystemTime) -> bool {
    last_probe.is_some_and(|at| now.duration_since(at).unwrap_or_default() < PROBE_INTERVAL)
}

#[cfg(test)]
mod tests;
