use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use store::Owner;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The turns that run in this process, so that a shutdown can end them and a deletion need not wait for a lease.
#[derive(Clone, Default)]
pub(crate) struct Running {
    tasks: TaskTracker,
    shutdown: CancellationToken,
    turns: Arc<Mutex<HashMap<Key, CancellationToken>>>,
}

type Key = (Owner, String);

/// A turn's place among the running ones, given up when dropped.
pub(crate) struct Place {
    running: Running,
    key: Key,
    /// Cancelled when the turn shall stop because its conversation is deleted.
    pub(crate) stop: CancellationToken,
    /// Cancelled when the process shall end.
    pub(crate) shutdown: CancellationToken,
}

impl Running {
    /// Enters a turn of `conversation_id`.
    pub(crate) fn enter(&self, owner: &Owner, conversation_id: &str) -> Place {
        let key = (owner.clone(), conversation_id.to_owned());
        let stop = CancellationToken::new();
        self.turns().insert(key.clone(), stop.clone());
        Place { running: self.clone(), key, stop, shutdown: self.shutdown.clone() }
    }

    /// Runs a turn to its end whether or not its client stays.
    pub(crate) fn spawn(&self, turn: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(turn);
    }

    /// Stops the turn of a conversation, if it runs in this process.
    pub(crate) fn stop(&self, owner: &Owner, conversation_id: &str) {
        if let Some(stop) = self.turns().get(&(owner.clone(), conversation_id.to_owned())) {
            stop.cancel();
        }
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

    fn turns(&self) -> std::sync::MutexGuard<'_, HashMap<Key, CancellationToken>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.turns().remove(&self.key);
    }
}
