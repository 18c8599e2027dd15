use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use agent::EventLog;
use conversation::{ErrorCode, Event};
use futures_util::FutureExt;
use store::{Owner, TurnLease};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::recent::Recent;

/// The turns that run in this process, so that a shutdown can end them, and a stop or a deletion need not wait for the
/// renewal of a lease.
#[derive(Clone, Default)]
pub(crate) struct Running {
    tasks: TaskTracker,
    shutdown: CancellationToken,
    turns: Arc<Mutex<HashMap<Key, Entry>>>,
    recent: Arc<Mutex<Recent>>,
}

struct Entry {
    turn_id: String,
    events: EventLog,
    stop: CancellationToken,
    gone: CancellationToken,
    /// Whether its end is stored, so that another turn may have begun elsewhere.
    stored: bool,
}

type Key = (Owner, String);

/// A turn's place among the running ones, given up when dropped.
pub(crate) struct Place {
    running: Running,
    key: Key,
    turn_id: String,
    /// Cancelled when the user wants no more.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the conversation is deleted.
    pub(crate) gone: CancellationToken,
    /// Cancelled when the process shall end.
    pub(crate) shutdown: CancellationToken,
}

impl Running {
    /// Enters a turn.
    pub(crate) fn enter(&self, owner: &Owner, lease: &TurnLease, events: &EventLog) -> Place {
        self.place(owner, &lease.conversation_id, &lease.turn_id, events)
    }

    fn place(&self, owner: &Owner, conversation_id: &str, turn_id: &str, events: &EventLog) -> Place {
        let key = (owner.clone(), conversation_id.to_owned());
        let (stop, gone) = (CancellationToken::new(), CancellationToken::new());
        let (turn_id, events) = (turn_id.to_owned(), events.clone());
        let entry = Entry { turn_id: turn_id.clone(), events, stop: stop.clone(), gone: gone.clone(), stored: false };
        self.turns().insert(key.clone(), entry);
        Place { running: self.clone(), key, turn_id, stop, gone, shutdown: self.shutdown.clone() }
    }

    /// Cancelled when the process shall end.
    pub(crate) fn ending(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Runs a turn to its end on a task of its own. A panic ends it with an `error` event, unless it has ended before.
    pub(crate) fn spawn(&self, turn: impl Future<Output = ()> + Send + 'static, events: EventLog) {
        self.tasks.spawn(async move {
            let _closing = events.close_guard();
            if AssertUnwindSafe(turn).catch_unwind().await.is_err() && !events.has_ended() {
                tracing::error!("a turn panicked outside its answer");
                events.send(Event::Failed(Box::new(ErrorCode::Internal.into())));
            }
        });
    }

    /// Stops the turn of a conversation, if one runs in this process; whether one does.
    pub(crate) fn stop(&self, owner: &Owner, conversation_id: &str) -> bool {
        let turns = self.turns();
        let entry = turns.get(&(owner.clone(), conversation_id.to_owned())).filter(|entry| !entry.stored);
        entry.inspect(|entry| entry.stop.cancel()).is_some()
    }

    /// Whether a turn of a conversation runs in this process and still holds it.
    pub(crate) fn holds(&self, owner: &Owner, conversation_id: &str) -> bool {
        let turns = self.turns();
        let entry = turns.get(&(owner.clone(), conversation_id.to_owned()));
        entry.is_some_and(|entry| !entry.stored && !entry.gone.is_cancelled())
    }

    /// Ends the turn of a conversation that is deleted, if one runs in this process.
    pub(crate) fn abandon(&self, owner: &Owner, conversation_id: &str) {
        if let Some(entry) = self.turns().get(&(owner.clone(), conversation_id.to_owned())) {
            entry.gone.cancel();
        }
    }

    /// Ends all turns of an owner that run in this process, as if their conversations were deleted.
    pub(crate) fn abandon_all(&self, owner: &Owner) {
        for ((of, _), entry) in self.turns().iter() {
            if of == owner {
                entry.gone.cancel();
            }
        }
    }

    /// Forgets the turns of an owner that ended here.
    pub(crate) fn forget_all(&self, owner: &Owner) {
        self.recent().forget_all(owner);
    }

    /// The turn that runs in a conversation, and what happens in it, if it runs in this process.
    pub(crate) fn current(&self, owner: &Owner, conversation_id: &str) -> Option<(String, EventLog)> {
        let turns = self.turns();
        let entry = turns.get(&(owner.clone(), conversation_id.to_owned()))?;
        Some((entry.turn_id.clone(), entry.events.clone()))
    }

    /// What happens in a turn, if it runs in this process or ended here a short while ago.
    pub(crate) fn events(&self, owner: &Owner, conversation_id: &str, turn_id: &str) -> Option<EventLog> {
        match self.current(owner, conversation_id).filter(|(current, _)| current == turn_id) {
            Some((_, events)) => Some(events),
            None => self.recent().events(owner, conversation_id, turn_id, SystemTime::now()),
        }
    }

    /// Forgets the turns of a conversation that ended here.
    pub(crate) fn forget(&self, owner: &Owner, conversation_id: &str) {
        self.recent().forget(owner, conversation_id);
    }

    /// Whether the process is about to end.
    pub(crate) fn is_shutting_down(&self) -> bool {
        self.shutdown.is_cancelled()
    }

    /// Ends all turns and waits for them.
    pub(crate) async fn shut_down(&self) {
        self.shutdown.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    fn turns(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Entry>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Notes that the end of the turn is stored: it can be stopped no more, and the conversation is free.
    pub(crate) fn is_stored(&self) {
        if let Some(entry) = self.running.turns().get_mut(&self.key).filter(|entry| entry.turn_id == self.turn_id) {
            entry.stored = true;
        }
    }

    /// Keeps a turn that is about to end, for clients that come back for the rest of it.
    pub(crate) fn keep(&self, turn_id: &str, events: &EventLog) {
        let (owner, conversation_id) = &self.key;
        self.running.recent().keep(owner, conversation_id, turn_id, events, SystemTime::now());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut turns = self.running.turns();
        // The next turn of the conversation may have begun meanwhile.
        if turns.get(&self.key).is_some_and(|entry| entry.turn_id == self.turn_id) {
            turns.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_is_stored_is_not_stopped_any_more_and_leaves_the_next_ones_place_alone() {
        let (running, owner) = (Running::default(), Owner::new("ada"));
        let enter = |turn: &str| running.place(&owner, "c", turn, &EventLog::default());
        let first = enter("1");
        assert!(running.stop(&owner, "c") && first.stop.is_cancelled());
        first.is_stored();
        assert!(!running.stop(&owner, "c"));
        let second = enter("2");
        first.is_stored();
        drop(first);
        assert!(running.stop(&owner, "c") && second.stop.is_cancelled());
        drop(second);
        assert!(!running.stop(&owner, "c"));
    }
}
