//! The context window of one model: the tokens of prompt and reply together.
//!
//! Most endpoints have a fixed window. Ollama allocates it for each request, and cuts a longer prompt silently.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::providers::Provider;
use crate::{ModelConfig, Wire};

/// The default of `OLLAMA_MAX_CONTEXT_TOKENS`. A model of 8 billion parameters needs 2.3 GiB for it in addition to its
/// weights, so that both fit into 8 GiB.
pub(crate) const MAX_ALLOCATED: u64 = 16_384;

/// Requested from a server that does not show the window of its model. Nearly every model has it.
const ALLOCATED_UNSEEN: u64 = 8_192;

/// Assumed of other models whose window is not known. Few models in use have less.
const ASSUMED: u64 = 32_768;

/// What is known about the window of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct ContextWindow {
    /// The operator's `contextTokens`.
    configured: Option<u64>,
    table: Option<u64>,
    /// The default maximum of requests, at endpoints that allocate the window per request.
    max_allocated: Option<u64>,
    has_list: bool,
    /// From the provider's list; 0 until it is known. It does not expire: another value would make Ollama load the model
    /// again.
    listed: AtomicU64,
}

impl ContextWindow {
    pub(crate) fn new(config: &ModelConfig, provider: &Provider, max_allocated: u64) -> Self {
        Self {
            configured: config.options.context_tokens,
            table: provider.context_tokens_of(&config.model),
            max_allocated: (config.wire == Wire::Ollama).then_some(max_allocated),
            has_list: provider.model_list.is_some(),
            listed: AtomicU64::default(),
        }
    }

    pub(crate) fn tokens(&self) -> u64 {
        let listed = self.listed();
        match self.max_allocated {
            Some(max) => {
                let wanted = self.configured.unwrap_or(if listed.is_some() { max } else { max.min(ALLOCATED_UNSEEN) });
                listed.map_or(wanted, |listed| wanted.min(listed))
            }
            None => self.configured.or(self.table).or(listed).unwrap_or(ASSUMED),
        }
    }

    /// Whether the window is neither configured nor known from a table or a list.
    pub(crate) fn is_assumed(&self) -> bool {
        self.configured.or(self.table).or(self.listed()).is_none()
    }

    /// Returns the window to request; `None` at endpoints that do not allocate it per request.
    pub(crate) fn allocated(&self) -> Option<u64> {
        self.max_allocated.map(|_| self.tokens())
    }

    /// Whether only the provider's list can show the window, or its upper limit.
    pub(crate) fn needs_list(&self) -> bool {
        self.has_list && (self.max_allocated.is_some() || self.configured.or(self.table).is_none())
    }

    pub(crate) fn listed(&self) -> Option<u64> {
        Some(self.listed.load(Ordering::Relaxed)).filter(|tokens| *tokens > 0)
    }

    /// Stores the window from the provider's list; 0 changes nothing.
    pub(crate) fn set_listed(&self, tokens: u64) {
        if tokens > 0 {
            self.listed.store(tokens, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(configured: Option<u64>, table: Option<u64>, max_allocated: Option<u64>, listed: u64) -> u64 {
        let listed = AtomicU64::new(listed);
        ContextWindow { configured, table, max_allocated, has_list: true, listed }.tokens()
    }

    #[test]
    fn allocated_window_is_bounded_by_model_and_setting() {
        let ollama = |configured, listed| window(configured, None, Some(16_384), listed);
        assert_eq!([ollama(None, 40_960), ollama(None, 4_096), ollama(None, 0)], [16_384, 4_096, 8_192]);
        assert_eq!([ollama(Some(32_768), 40_960), ollama(Some(65_536), 40_960)], [32_768, 40_960]);
        assert_eq!(ollama(Some(65_536), 0), 65_536, "the operator knows it");
        assert_eq!(window(None, None, Some(2_048), 0), 2_048);
    }

    #[test]
    fn fixed_window_is_configured_tabled_listed_or_assumed() {
        assert_eq!(window(Some(9), Some(8), None, 7), 9);
        assert_eq!(window(None, Some(8), None, 7), 8);
        assert_eq!([window(None, None, None, 7), window(None, None, None, 0)], [7, 32_768]);
    }
}
