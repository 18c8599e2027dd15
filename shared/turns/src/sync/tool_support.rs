//! Shares how models are given tools.

use std::time::{Duration, SystemTime};

use agent::ToolModes;
use futures_util::future::BoxFuture;
use llm::{CachedToolSupport, ModelClient, ToolMode, ToolSupport, ToolSupportSource};
use store::{Store, ToolSupportRecord};
use tokio::time::timeout;

/// Timeout of probing a model, and of writing what was found.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// Reports to the agent how models are given tools.
pub(crate) struct StoredToolSupport<'a>(pub(crate) &'a Store);

impl ToolModes for StoredToolSupport<'_> {
    fn tool_mode<'a>(&'a self, model: &'a ModelClient) -> BoxFuture<'a, ToolMode> {
        Box::pin(async move { known_tool_support(self.0, model).await.mode })
    }
}

/// How a model is given tools; probes the model first if that is not known and a probe is quick. Never fails.
pub async fn known_tool_support(store: &Store, model: &ModelClient) -> ToolSupport {
    let now = SystemTime::now();
    if !model.knows_tool_support(now) {
        // Not a task of its own: nothing may run on when the invocation ends. A probe that is not ready in time is dropped.
        let _late = timeout(PROBE_TIMEOUT, probe(store, model, now)).await;
    }
    model.tools(now)
}

async fn probe(store: &Store, model: &ModelClient, now: SystemTime) {
    let identity = model.identity();
    let stored = async {
        let fact = store.tool_support.get(&identity, now).await;
        let fact = fact.inspect_err(|error| tracing::warn!(%error, "a model's tool support could not be read"));
        fact.ok().flatten().map(from_stored)
    };
    if let Some(found) = model.probe_tool_support(now, stored).await {
        put(store, &identity, found, now).await;
    }
}

/// Publishes what this instance found out about a model's tool support, if that is new. Never fails.
pub(crate) async fn publish(store: &Store, model: &ModelClient) {
    if let Some(found) = model.take_unpublished_rejection() {
        put(store, &model.identity(), found, SystemTime::now()).await;
    }
}

async fn put(store: &Store, identity: &str, found: CachedToolSupport, now: SystemTime) {
    let put = timeout(PROBE_TIMEOUT, store.tool_support.put(identity, &to_stored(found), now)).await;
    if !matches!(put, Ok(Ok(()))) {
        tracing::warn!("a model's tool support could not be stored");
    }
}

fn from_stored(fact: ToolSupportRecord) -> CachedToolSupport {
    let path = if fact.native { ToolMode::Native } else { ToolMode::Prompted };
    let from = if fact.observed { ToolSupportSource::Rejection } else { ToolSupportSource::Provider };
    CachedToolSupport { tools: ToolSupport { mode: path, source: from }, expires_at: fact.valid_until }
}

fn to_stored(found: CachedToolSupport) -> ToolSupportRecord {
    let ToolSupport { mode: path, source: from } = found.tools;
    ToolSupportRecord {
        native: path == ToolMode::Native,
        observed: from == ToolSupportSource::Rejection,
        valid_until: found.expires_at,
    }
}
