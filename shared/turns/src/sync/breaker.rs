//! Shares which model endpoints are down. It is advice, and never needed.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use llm::{EndpointHealth, ModelClient};
use store::{BreakerRecord, Store};
use tokio::time::timeout;

/// Timeout of reading and of writing breaker state.
const SYNC_TIMEOUT: Duration = Duration::from_millis(250);

/// Merges what other instances published about the endpoints of these models, if there is more than one. Never fails.
pub(crate) async fn pull(store: &Store, models: &[ModelClient]) {
    if models.len() < 2 {
        return;
    }
    let now = SystemTime::now();
    let each = models.iter().map(|model| model.refresh_health(now, stored_health(store, model, now)));
    // What is not there in time is dropped: this instance will find out by itself.
    let _late = timeout(SYNC_TIMEOUT, join_all(each)).await;
}

async fn stored_health(store: &Store, model: &ModelClient, now: SystemTime) -> Option<EndpointHealth> {
    let record = store.breakers.get(&model.endpoint(), now).await;
    let record = record.inspect_err(|error| tracing::warn!(%error, "an endpoint's breaker state could not be read"));
    let BreakerRecord { changed_at, open_until } = record.ok().flatten()?;
    Some(EndpointHealth { changed_at, down_until: open_until })
}

/// Awaits the work and meanwhile publishes what it reveals about the endpoints, if there is more than one.
pub(crate) async fn publish_while<T>(store: &Store, models: &[ModelClient], work: impl Future<Output = T>) -> T {
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
            publish(store, model, health).await;
        }
    }
    done
}

async fn publish_changes(store: &Store, model: &ModelClient) -> Infallible {
    loop {
        let health = model.next_health_change().await;
        publish(store, model, health).await;
    }
}

async fn publish(store: &Store, model: &ModelClient, health: EndpointHealth) {
    let record = BreakerRecord { changed_at: health.changed_at, open_until: health.down_until };
    let written = timeout(SYNC_TIMEOUT, store.breakers.put(&model.endpoint(), &record)).await;
    if !matches!(written, Ok(Ok(()))) {
        tracing::warn!("an endpoint's breaker state could not be stored");
    }
    // Not retried: it is soon out of date.
    model.mark_health_published(health);
}
