//! What instances discover about models and share through the store: how models are given tools, whether they take pictures, how
//! large their context windows are, and which endpoints are down. It is advice: every part works without it, and none fails.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use agent::ToolModes;
use domain::EndpointHealth;
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream::FuturesUnordered;
use llm::{ModelClient, ToolMode, ToolSupport};
use store::{Store, StoreError};
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
        record.ok().flatten()
    };
    if let Some(found) = model.probe_tool_support(now, stored).await {
        write(store.tool_support.put(&identity, found, now)).await;
    }
}

/// Publishes what this instance discovered about a model's support of tools and pictures, if that is new. Never fails.
pub(crate) async fn publish_support(store: &Store, model: &ModelClient) {
    if let Some(found) = model.take_unpublished_rejection() {
        write(store.tool_support.put(&model.identity(), found, SystemTime::now())).await;
    }
    if let Some(until) = model.take_unpublished_image_refusal() {
        write(store.tool_support.put_image_refusal(&model.identity(), until)).await;
    }
}

async fn write(put: impl Future<Output = Result<(), StoreError>>) {
    if !matches!(timeout(PROBE_TIMEOUT, put).await, Ok(Ok(()))) {
        tracing::warn!("a model's support of tools or pictures could not be stored");
    }
}

/// Timeout of reading and of writing breaker state.
const HEALTH_TIMEOUT: Duration = Duration::from_millis(250);

/// Merges what other instances published about the endpoints of these models, if there is more than one. Never fails.
pub(crate) async fn pull_health(store: &Store, models: &[ModelClient]) {
    if models.len() < 2 {
        return;
    }
    let now = SystemTime::now();
    let each = models.iter().map(|model| model.refresh_health(now, stored_health(store, model, now)));
    // What is not there in time is dropped: this instance will find out by itself.
    let _late = timeout(HEALTH_TIMEOUT, join_all(each)).await;
}

async fn stored_health(store: &Store, model: &ModelClient, now: SystemTime) -> Option<EndpointHealth> {
    let record = store.breakers.get(&model.endpoint(), now).await;
    let record = record.inspect_err(|error| tracing::warn!(%error, "an endpoint's breaker state could not be read"));
    record.ok().flatten()
}

/// Awaits the work and meanwhile publishes what it reveals about the endpoints, if there is more than one.
pub(crate) async fn publish_health_while<T>(store: &Store, models: &[ModelClient], work: impl Future<Output = T>) -> T {
    if models.len() < 2 {
        return work.await;
    }
    let mut publishers: FuturesUnordered<_> = models.iter().map(|model| publish_changes(store, model)).collect();
    let done = tokio::select! {
        biased;
        done = work => done,
        Some(never) = publishers.next() => match never {},
    };
    drop(publishers);
    for model in models {
        if let Some(health) = model.pending_health_change() {
            publish_health(store, model, health).await;
        }
    }
    done
}

async fn publish_changes(store: &Store, model: &ModelClient) -> Infallible {
    loop {
        let health = model.next_health_change().await;
        publish_health(store, model, health).await;
    }
}

async fn publish_health(store: &Store, model: &ModelClient, health: EndpointHealth) {
    let written = timeout(HEALTH_TIMEOUT, store.breakers.put(&model.endpoint(), health)).await;
    if !matches!(written, Ok(Ok(()))) {
        tracing::warn!("an endpoint's breaker state could not be stored");
    }
    // Not retried: it is soon out of date.
    model.mark_health_published(health);
}
