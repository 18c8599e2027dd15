use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agent::Events;
use store::{KnownTurn, Owner, TurnLease};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The turns that run in this process, so that a shutdown can end them, and a stop or a deletion need not wait for the
/// renewal of a lease.
#[derive(Clone, Default)]
pub(crate) struct Running {
    tasks: TaskTracker,
    shutdown: CancellationToken,
    turns: Arc<Mutex<HashMap<Key, Entry>>>,
}

struct Entry {
    turn_id: String,
    events: Events,
    stop: CancellationToken,
    gone: CancellationToken,
}

type Key = (Owner, String);

/// A turn's place among the running ones, given up when dropped.
pub(crate) struct Place {
    running: Running,
    key: Key,
    /// Cancelled when the user wants no more.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the conversation is deleted.
    pub(crate) gone: CancellationToken,
    /// Cancelled when the process shall end.
    pub(crate) shutdown: CancellationToken,
}

impl Running {
    /// Enters a turn.
    pub(crate) fn enter(&self, owner: &Owner, lease: &TurnLease, events: &Events) -> Place {
        let key = (owner.clone(), lease.conversation_id.clone());
        let (stop, gone) = (CancellationToken::new(), CancellationToken::new());
        let (turn_id, events) = (lease.turn_id.clone(), events.clone());
        self.turns().insert(key.clone(), Entry { turn_id, events, stop: stop.clone(), gone: gone.clone() });
        Place { running: self.clone(), key, stop, gone, shutdown: self.shutdown.clone() }
    }

    /// Cancelled when the process shall end.
    pub(crate) fn ending(&self) -> CancellationToken {
        self.shutdown.clone()
    }

    /// Runs a turn to its end whether or not its client stays.
    pub(crate) fn spawn(&self, turn: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(turn);
    }

    /// Stops the turn of a conversation, if one runs in this process; whether one does.
    pub(crate) fn stop(&self, owner: &Owner, conversation_id: &str) -> bool {
        let turns = self.turns();
        let entry = turns.get(&(owner.clone(), conversation_id.to_owned()));
        entry.inspect(|entry| entry.stop.cancel()).is_some()
    }

    /// Ends the turn of a conversation that is deleted, if one runs in this process.
    pub(crate) fn abandon(&self, owner: &Owner, conversation_id: &str) {
        if let Some(entry) = self.turns().get(&(owner.clone(), conversation_id.to_owned())) {
            entry.gone.cancel();
        }
    }

    /// What happens in a turn, if it runs in this process.
    pub(crate) fn events(&self, owner: &Owner, turn: &KnownTurn) -> Option<Events> {
        let turns = self.turns();
        let entry = turns.get(&(owner.clone(), turn.conversation_id.clone()))?;
        (entry.turn_id == turn.turn_id).then(|| entry.events.clone())
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
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.turns().remove(&self.key);
    }
}
