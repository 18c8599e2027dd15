//! The cached tool support of one model.
//!
//! The settings decide, then the table in the providers' rows, then the provider's model list; the default is
//! `ToolMode::Prompted`, except on the wire `responses`. If the endpoint rejects tools, that overrides all of them.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use crate::providers::Provider;
use crate::{CachedToolSupport, ModelConfig, ToolMode, ToolSupport, ToolSupportSource, ToolsSetting, Wire};

/// How long a provider's list is valid, and how often one process requests it.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_hours(24);

/// How long a rejection of tools is valid. If the operator configured native calls, it is one day: a repaired endpoint
/// must get native calls again soon.
const REJECTION_TTL: Duration = Duration::from_hours(7 * 24);

/// The tool support of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct ToolSupportCache {
    /// From the settings and the table; `None` if only the provider's list can decide.
    configured: Option<ToolSupport>,
    rejection_ttl: Duration,
    discovered: Mutex<DiscoveredSupport>,
    /// When this process last probed; locked during a probe.
    pub(crate) last_probe: tokio::sync::Mutex<Option<SystemTime>>,
}

#[derive(Debug, Default)]
struct DiscoveredSupport {
    listed: Option<CachedToolSupport>,
    rejected: Option<CachedToolSupport>,
    /// A rejection that is not yet published to other processes.
    unpublished: Option<CachedToolSupport>,
}

impl ToolSupportCache {
    pub(crate) fn new(config: &ModelConfig, provider: &Provider) -> Self {
        let wants_native = config.tools == ToolsSetting::Native;
        Self {
            configured: configured_support(config, provider),
            rejection_ttl: if wants_native { PROBE_INTERVAL } else { REJECTION_TTL },
            discovered: Mutex::default(),
            last_probe: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the tool support that is known at `now`.
    pub(crate) fn get(&self, now: SystemTime) -> ToolSupport {
        if !self.can_change() {
            return self.configured.unwrap_or(DEFAULT_SUPPORT);
        }
        let discovered = self.lock_discovered();
        let valid_support =
            |cached: &Option<CachedToolSupport>| cached.filter(|one| one.expires_at > now).map(|one| one.tools);
        let support =
            valid_support(&discovered.rejected).or(self.configured).or_else(|| valid_support(&discovered.listed));
        support.unwrap_or(DEFAULT_SUPPORT)
    }

    /// Whether a probe can change anything; it cannot if the configured mode is `Prompted`.
    pub(crate) fn can_change(&self) -> bool {
        self.configured.is_none_or(|configured| configured.mode == ToolMode::Native)
    }

    /// Whether only the provider's list can decide.
    pub(crate) fn needs_list(&self) -> bool {
        self.configured.is_none()
    }

    /// Whether there was a probe within the last day. During a probe it is false: the caller should wait for its result.
    pub(crate) fn was_probed(&self, now: SystemTime) -> bool {
        self.last_probe.try_lock().is_ok_and(|last_probe| is_recent(*last_probe, now))
    }

    /// Stores a result of this process or of another one.
    pub(crate) fn store(&self, cached: CachedToolSupport) {
        let mut discovered = self.lock_discovered();
        match cached.tools.source {
            ToolSupportSource::Rejection => discovered.rejected = Some(cached),
            _ => discovered.listed = Some(cached),
        }
    }

    /// Records that the endpoint rejected tools.
    pub(crate) fn record_rejection(&self, now: SystemTime) {
        let tools = ToolSupport { mode: ToolMode::Prompted, source: ToolSupportSource::Rejection };
        let cached = CachedToolSupport { tools, context_tokens: None, expires_at: now + self.rejection_ttl };
        self.store(cached);
        self.lock_discovered().unpublished = Some(cached);
    }

    /// Takes the rejection that is not yet published.
    pub(crate) fn take_unpublished(&self) -> Option<CachedToolSupport> {
        self.lock_discovered().unpublished.take()
    }

    fn lock_discovered(&self) -> MutexGuard<'_, DiscoveredSupport> {
        self.discovered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the last probe was less than a day ago; also true if the clock was set back.
pub(crate) fn is_recent(last_probe: Option<SystemTime>, now: SystemTime) -> bool {
    last_probe.is_some_and(|at| now.duration_since(at).unwrap_or_default() < PROBE_INTERVAL)
}

const DEFAULT_SUPPORT: ToolSupport = ToolSupport { mode: ToolMode::Prompted, source: ToolSupportSource::Table };

fn configured_support(config: &ModelConfig, provider: &Provider) -> Option<ToolSupport> {
    let from_settings = |mode| ToolSupport { mode, source: ToolSupportSource::Settings };
    match config.tools {
        ToolsSetting::Native => Some(from_settings(ToolMode::Native)),
        ToolsSetting::Prompt => Some(from_settings(ToolMode::Prompted)),
        ToolsSetting::Auto => match provider.tool_mode_of(&config.model) {
            Some(mode) => Some(ToolSupport { mode, source: ToolSupportSource::Table }),
            None => Some(default_support(config.wire)).filter(|_| provider.model_list.is_none()),
        },
    }
}

/// Returns the support of an unknown model: tools are a part of every Responses API, and may be missing on other wires.
fn default_support(wire: Wire) -> ToolSupport {
    let mode = if wire == Wire::Responses { ToolMode::Native } else { DEFAULT_SUPPORT.mode };
    ToolSupport { mode, ..DEFAULT_SUPPORT }
}

#[cfg(test)]
mod tests;
