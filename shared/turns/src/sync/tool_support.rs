//! Shares how models are given tools, whether they take pictures, and how large their context windows are.

use std::time::{Duration, SystemTime};

use agent::ToolModes;
use futures_util::future::BoxFuture;
use llm::{CachedToolSupport, ModelClient, ToolMode, ToolSupport, ToolSupportSource};
use store::{Store, StoreError, ToolSupportRecord};
use tokio::time::timeout;

/// Timeout of probing a model, and of writing what was found.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);

/// The tool support of models, read through the store.
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
        // Not its own task: nothing may run after the end of the invocation. A probe that is not ready in time is dropped.
        let _late = timeout(PROBE_TIMEOUT, probe(store, model, now)).await;
    }
    model.tools(now)
}

/// Whether a model takes pictures, as far as is known, also to other instances; `None` if it must be tried. Never fails.
pub async fn known_image_support(store: &Store, model: &ModelClient) -> Option<bool> {
    let now = SystemTime::now();
    if model.begin_image_lookup(now) {
        let identity = model.identity();
        let stored = timeout(PROBE_TIMEOUT, store.tool_support.image_refusal(&identity, now)).await;
        if let Ok(Ok(Some(until))) = stored {
            model.store_image_refusal(until);
        }
    }
    model.takes_images(now)
}

async fn probe(store: &Store, model: &ModelClient, now: SystemTime) {
    let identity = model.identity();
    let stored = async {
        let record = store.tool_support.get(&identity, now).await;
        let record = record.inspect_err(|error| tracing::warn!(%error, "a model's tool support could not be read"));
        record.ok().flatten().map(from_record)
    };
    if let Some(found) = model.probe_tool_support(now, stored).await {
        put(store, &identity, found, now).await;
    }
}

/// Publishes what this instance discovered about a model's support of tools and pictures, if that is new. Never fails.
pub(crate) async fn publish(store: &Store, model: &ModelClient) {
    if let Some(found) = model.take_unpublished_rejection() {
        put(store, &model.identity(), found, SystemTime::now()).await;
    }
    if let Some(until) = model.take_unpublished_image_refusal() {
        write(store.tool_support.put_image_refusal(&model.identity(), until)).await;
    }
}

async fn put(store: &Store, identity: &str, found: CachedToolSupport, now: SystemTime) {
    write(store.tool_support.put(identity, &to_record(found), now)).await;
}

async fn write(put: impl Future<Output = Result<(), StoreError>>) {
    if !matches!(timeout(PROBE_TIMEOUT, put).await, Ok(Ok(()))) {
        tracing::warn!("a model's support of tools or pictures could not be stored");
    }
}

fn from_record(record: ToolSupportRecord) -> CachedToolSupport {
    let mode = if record.native { ToolMode::Native } else { ToolMode::Prompted };
    let source = if record.observed { ToolSupportSource::Rejection } else { ToolSupportSource::Provider };
    CachedToolSupport {
        tools: ToolSupport { mode, source },
        context_tokens: record.context_tokens,
        expires_at: record.valid_until,
    }
}

fn to_record(found: CachedToolSupport) -> ToolSupportRecord {
    let ToolSupport { mode, source } = found.tools;
    ToolSupportRecord {
        native: mode == ToolMode::Native,
        observed: source == ToolSupportSource::Rejection,
        context_tokens: found.context_tokens,
        valid_until: found.expires_at,
    }
}
