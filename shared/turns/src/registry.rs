use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use agent::EventLog;
use domain::{ErrorCode, Event, Owner};
use futures_util::FutureExt;
use store::TurnLease;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use work::{lock, watch_slow_work};

use crate::completed::CompletedTurns;

/// The turns of this process. With it a shutdown can end them, and a stop or a deletion takes effect before the next renewal
/// of a lease.
#[derive(Clone, Default)]
pub struct TurnRegistry {
    tasks: TaskTracker,
    shutdown: CancellationToken,
    running: Arc<Mutex<HashMap<Key, Entry>>>,
    completed: Arc<Mutex<CompletedTurns>>,
}

struct Entry {
    turn_id: String,
    events: EventLog,
    stop: CancellationToken,
    deleted: CancellationToken,
    /// Whether its end is stored: another turn may have started on another instance.
    is_stored: bool,
}

type Key = (Owner, String);

/// A running turn's registration; dropping it removes the turn.
pub(crate) struct TurnGuard {
    registry: TurnRegistry,
    key: Key,
    turn_id: String,
    /// Cancelled when the user stops the turn.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the conversation is deleted.
    pub(crate) deleted: CancellationToken,
    /// Cancelled when the process shuts down.
    pub(crate) shutdown: CancellationToken,
}

impl TurnRegistry {
    /// Registers a turn that is about to run.
    pub(crate) fn register(&self, owner: &Owner, lease: &TurnLease, events: &EventLog) -> TurnGuard {
        self.guard(owner, &lease.conversation_id, &lease.turn_id, events)
    }

    fn guard(&self, owner: &Owner, conversation_id: &str, turn_id: &str, events: &EventLog) -> TurnGuard {
        let key = key(owner, conversation_id);
        let (stop, deleted) = (CancellationToken::new(), CancellationToken::new());
        let entry = Entry {
            turn_id: turn_id.to_owned(),
            events: events.clone(),
            stop: stop.clone(),
            deleted: deleted.clone(),
            is_stored: false,
        };
        lock(&self.running).insert(key.clone(), entry);
        let (registry, turn_id) = (self.clone(), turn_id.to_owned());
        TurnGuard { registry, key, turn_id, stop, deleted, shutdown: self.shutdown.clone() }
    }

    /// Cancelled when the process shuts down.
    pub(crate) fn shutdown_token(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Runs a turn to its end on its own task and then closes its log. A panic becomes an `error` event, unless the
    /// turn has sent its last event already.
    pub(crate) fn spawn(&self, turn: impl Future<Output = ()> + Send + 'static, events: EventLog) {
        self.tasks.spawn(async move {
            let _close = events.close_guard();
            if AssertUnwindSafe(watch_slow_work("turn", turn)).catch_unwind().await.is_err() && !events.has_ended() {
                tracing::error!("a turn panicked outside its answer");
                events.send(Event::End(Err(Box::new(ErrorCode::Internal.into()))));
            }
        });
    }

    /// Stops the turn of a conversation, or only this one; whether it runs in this process.
    pub fn stop(&self, owner: &Owner, conversation_id: &str, turn_id: Option<&str>) -> bool {
        let running = lock(&self.running);
        let entry = running.get(&key(owner, conversation_id)).filter(|entry| !entry.is_stored);
        let entry = entry.filter(|entry| turn_id.is_none_or(|id| entry.turn_id == id));
        entry.inspect(|entry| entry.stop.cancel()).is_some()
    }

    /// Whether a turn of this process holds the conversation.
    pub(crate) fn holds(&self, owner: &Owner, conversation_id: &str) -> bool {
        let running = lock(&self.running);
        let entry = running.get(&key(owner, conversation_id));
        entry.is_some_and(|entry| !entry.is_stored && !entry.deleted.is_cancelled())
    }

    /// Ends those turns of an owner in this process that are deleted, by the ids of their conversations and their own.
    pub(crate) fn cancel_deleted(&self, owner: &Owner, is_deleted: impl Fn(&str, &str) -> bool) {
        for ((entry_owner, conversation_id), entry) in lock(&self.running).iter() {
            if entry_owner == owner && is_deleted(conversation_id, &entry.turn_id) {
                entry.deleted.cancel();
            }
        }
    }

    /// The id and the events of the turn that runs in a conversation, if it runs in this process.
    pub(crate) fn current(&self, owner: &Owner, conversation_id: &str) -> Option<(String, EventLog)> {
        let running = lock(&self.running);
        let entry = running.get(&key(owner, conversation_id))?;
        Some((entry.turn_id.clone(), entry.events.clone()))
    }

    /// The events of a turn that finished in this process within the last hour, and the seq of its answer.
    pub(crate) fn completed(&self, owner: &Owner, conversation_id: &str, turn_id: &str) -> Option<(EventLog, u64)> {
        lock(&self.completed).events(owner, conversation_id, turn_id, SystemTime::now())
    }

    /// Drops the completed turns of an owner, or of one conversation.
    pub(crate) fn forget_completed(&self, owner: &Owner, conversation_id: Option<&str>) {
        lock(&self.completed).forget(owner, conversation_id);
    }

    /// Whether the process shuts down.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown.is_cancelled()
    }

    /// Interrupts all turns and waits until each is stored and has ended its stream; none can start afterwards.
    pub async fn shut_down(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

fn key(owner: &Owner, conversation_id: &str) -> Key {
    (owner.clone(), conversation_id.to_owned())
}

impl TurnGuard {
    /// Records that the end of the turn is stored: it can no longer be stopped, and the conversation is free.
    pub(crate) fn mark_stored(&self) {
        if let Some(entry) =
            lock(&self.registry.running).get_mut(&self.key).filter(|entry| entry.turn_id == self.turn_id)
        {
            entry.is_stored = true;
        }
    }

    /// Caches the events of the turn, which is about to end, for clients that resume it.
    pub(crate) fn cache_completed(&self, answer_seq: u64, events: &EventLog) {
        let (owner, conversation_id) = &self.key;
        let turn = (self.turn_id.as_str(), answer_seq);
        lock(&self.registry.completed).insert(owner, conversation_id, turn, events, SystemTime::now());
    }
}

impl Drop for TurnGuard {
    fn drop(&mut self) {
        let mut running = lock(&self.registry.running);
        // The next turn of the conversation may have started already.
        if running.get(&self.key).is_some_and(|entry| entry.turn_id == self.turn_id) {
            running.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests;
