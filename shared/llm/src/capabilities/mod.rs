//! What a model can do: native tools, pictures, and how many tokens it reads.

mod context_window;
mod image_families;
mod image_support;
pub(crate) mod model_list;
mod native_families;
mod tool_support_cache;

use std::time::SystemTime;

use tokio::sync::Mutex;

use crate::providers::{ModelListApi, Provider};
use crate::{CachedToolSupport, ModelConfig, ToolMode, ToolSupport, ToolSupportSource};

pub(crate) use context_window::{ContextWindow, MAX_ALLOCATED};
use image_support::ImageSupport;
use tool_support_cache::{PROBE_INTERVAL, ToolSupportCache, is_recent};

/// The capabilities of one model; shared by all clones of its client.
#[derive(Debug)]
pub(crate) struct Capabilities {
    pub(crate) tools: ToolSupportCache,
    pub(crate) images: ImageSupport,
    pub(crate) window: ContextWindow,
    list: Option<ModelListApi>,
    /// When this process last probed; locked during a probe.
    last_probe: Mutex<Option<SystemTime>>,
}

impl Capabilities {
    pub(crate) fn new(config: &ModelConfig, provider: &Provider, max_allocated: u64) -> Self {
        let window = ContextWindow::new(config, provider, max_allocated);
        let (tools, images) = (ToolSupportCache::new(config, provider), ImageSupport::new(config));
        Self { tools, images, window, list: provider.model_list, last_probe: Mutex::default() }
    }

    /// Whether [`probe`](Self::probe) has nothing to do at `now`. During a probe it is false: the caller should wait for its
    /// result.
    pub(crate) fn are_settled(&self, now: SystemTime) -> bool {
        !self.need_probe() || self.last_probe.try_lock().is_ok_and(|last_probe| is_recent(*last_probe, now))
    }

    /// Looks up tool support and context window of `model` once a day: in what other processes stored, else in the list, the
    /// result of `list`. Returns a result from the list.
    pub(crate) async fn probe(
        &self,
        now: SystemTime,
        model: &str,
        stored: impl Future<Output = Option<CachedToolSupport>>,
        list: impl Future<Output = Option<Vec<u8>>>,
    ) -> Option<CachedToolSupport> {
        if !self.need_probe() {
            return None;
        }
        let mut last_probe = self.last_probe.lock().await;
        if is_recent(*last_probe, now) {
            return None;
        }
        *last_probe = Some(now);
        if let Some(cached) = stored.await {
            self.store(cached);
            if cached.context_tokens.is_some() || !self.window.needs_list() {
                return None;
            }
        }
        let api = self.list.filter(|_| self.tools.needs_list() || self.window.needs_list())?;
        let listed = api.find(&list.await?, model)?;
        let context_tokens = listed.context_tokens.unwrap_or_default();
        // An older server shows the window without the tool support.
        self.window.set_listed(context_tokens);
        let mode = if listed.tools? { ToolMode::Native } else { ToolMode::Prompted };
        let tools = ToolSupport { mode, source: ToolSupportSource::Provider };
        let expires_at = now + PROBE_INTERVAL;
        let cached = CachedToolSupport { tools, context_tokens: Some(context_tokens), expires_at };
        self.store(cached);
        Some(cached)
    }

    fn need_probe(&self) -> bool {
        self.tools.can_change() || self.window.needs_list()
    }

    fn store(&self, cached: CachedToolSupport) {
        self.tools.store(cached);
        self.window.set_listed(cached.context_tokens.unwrap_or_default());
    }
}
