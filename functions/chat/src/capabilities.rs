//! What is known of how models are given tools, shared with other instances through the store.

use std::time::{Duration, SystemTime};

use agent::ToolPaths;
use futures_util::future::BoxFuture;
use model::{Finding, ModelClient, ToolPath, ToolUse, ToolsFrom};
use store::{Store, ToolFact};
use tokio::time::timeout;

/// The longest that anybody waits for what can be found out; what takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is known of the models' tools, for the agent.
pub(crate) struct Known<'a>(pub(crate) &'a Store);

impl ToolPaths for Known<'_> {
    fn path<'a>(&'a self, model: &'a ModelClient) -> BoxFuture<'a, ToolPath> {
        Box::pin(async move { known(self.0, model).await.path })
    }
}

/// How a model is given tools; finds out first what is not known yet, as far as that is quick. Never fails.
pub(crate) async fn known(store: &Store, model: &ModelClient) -> ToolUse {
    let now = SystemTime::now();
    if !model.is_settled(now) {
        // Not a task of its own: nothing may run on when the invocation ends. What is not ready in time is given up.
        let _ = timeout(PATIENCE, inquire(store, model, now)).await;
    }
    model.tools(now)
}

async fn inquire(store: &Store, model: &ModelClient, now: SystemTime) {
    let identity = model.identity();
    let remembered = async {
        let fact = store.tool_facts.get(&identity, now).await;
        let fact = fact.inspect_err(|error| tracing::warn!(%error, "what is known of a model could not be read"));
        fact.ok().flatten().map(finding)
    };
    if let Some(found) = model.inquire(now, remembered).await {
        put(store, &identity, found, now).await;
    }
}

/// Tells other instances what a model's endpoint taught this one, as far as that is quick. Never fails.
pub(crate) async fn remember(store: &Store, model: &ModelClient) {
    if let Some(lesson) = model.take_lesson() {
        put(store, &model.identity(), lesson, SystemTime::now()).await;
    }
}

async fn put(store: &Store, identity: &str, finding: Finding, now: SystemTime) {
    let put = timeout(PATIENCE, store.tool_facts.put(identity, &fact(finding), now)).await;
    if !matches!(put, Ok(Ok(()))) {
        tracing::warn!("what is known of a model could not be stored");
    }
}

fn finding(fact: ToolFact) -> Finding {
    let path = if fact.native { ToolPath::Native } else { ToolPath::Text };
    let from = if fact.learned { ToolsFrom::Learned } else { ToolsFrom::Provider };
    Finding { tools: ToolUse { path, from }, until: fact.until }
}

fn fact(finding: Finding) -> ToolFact {
    let ToolUse { path, from } = finding.tools;
    ToolFact { native: path == ToolPath::Native, learned: from == ToolsFrom::Learned, until: finding.until }
}
