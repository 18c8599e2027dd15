//! Which endpoints of models are down, shared with other instances through the store; it is advice, and never needed.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use model::{EndpointHealth, ModelClient};
use store::{Outage, Store};
use tokio::time::timeout;

/// The longest that a turn waits for what others found out, or for telling them.
const PATIENCE: Duration = Duration::from_millis(250);

/// Learns what other instances found out about the endpoints of these models, where there is a choice. Never fails.
pub(crate) async fn learn(store: &Store, models: &[ModelClient]) {
    if models.len() < 2 {
        return;
    }
    let now = SystemTime::now();
    let each = models.iter().map(|model| model.learn_health(now, found(store, model, now)));
    // What is not there in time is given up: this instance finds it out by itself.
    let _ = timeout(PATIENCE, join_all(each)).await;
}

async fn found(store: &Store, model: &ModelClient, now: SystemTime) -> Option<EndpointHealth> {
    let outage = store.outages.get(&model.endpoint(), now).await;
    let outage = outage.inspect_err(|error| tracing::warn!(%error, "what is known of an endpoint could not be read"));
    let Outage { changed, until } = outage.ok().flatten()?;
    Some(EndpointHealth { changed, down_until: until })
}

/// Does the work, and tells other instances meanwhile what it shows of the endpoints, where there is a choice.
pub(crate) async fn telling<T>(store: &Store, models: &[ModelClient], work: impl Future<Output = T>) -> T {
    if models.len() < 2 {
        return work.await;
    }
    let mut news: FuturesUnordered<_> = models.iter().map(|model| tell_all(store, model)).collect();
    let done = tokio::select! {
        biased;
        done = work => done,
        Some(never) = news.next() => match never {},
    };
    drop(news);
    for model in models {
        if let Some(health) = model.untold_health() {
            tell(store, model, health).await;
        }
    }
    done
}

async fn tell_all(store: &Store, model: &ModelClient) -> Infallible {
    loop {
        let health = model.health_news().await;
        tell(store, model, health).await;
    }
}

async fn tell(store: &Store, model: &ModelClient, health: EndpointHealth) {
    let outage = Outage { changed: health.changed, until: health.down_until };
    let told = timeout(PATIENCE, store.outages.put(&model.endpoint(), &outage)).await;
    if !matches!(told, Ok(Ok(()))) {
        tracing::warn!("what is known of an endpoint could not be stored");
    }
    // Not tried again: it is soon out of date.
    model.health_told(health);
}
