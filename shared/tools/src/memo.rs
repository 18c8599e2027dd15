use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::OnceCell;

use crate::ToolOutput;
use crate::refusal::Refusal;

/// The outcome of a call that is not fatal to its turn.
pub(crate) type Outcome = Result<ToolOutput, Refusal>;

/// The source of a call's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The call itself.
    Own,
    /// A prefetch, which this call is the first to use.
    Ahead,
    /// An equal call of the same turn.
    Equal,
}

type Cell = Arc<Place>;

#[derive(Default)]
struct Place {
    outcome: OnceCell<Outcome>,
    /// Whether a call has used or produced the outcome; `false` while it is only prefetched.
    taken: AtomicBool,
}

/// The calls of one turn that succeeded or are still running.
#[derive(Default)]
pub(crate) struct Memo {
    cells: Mutex<HashMap<String, Cell>>,
}

impl Memo {
    /// Returns the outcome of the call under `key`, and its source.
    ///
    /// Equal concurrent calls share one run; when the caller that runs it goes away, the next one takes over. A failure
    /// is shared with the waiting callers and then forgotten, so that the model may try again.
    pub(crate) async fn once<F>(&self, key: &str, run: F) -> Result<(Outcome, Origin), anyhow::Error>
    where
        F: AsyncFnOnce() -> Result<Outcome, anyhow::Error>,
    {
        let cell = self.cell(key);
        let mut own = false;
        let first_run = async || {
            own = true;
            cell.taken.store(true, Ordering::Relaxed);
            run().await
        };
        let outcome = cell.outcome.get_or_try_init(first_run).await?.clone();
        if outcome.is_err() {
            self.forget(key, &cell);
        }
        let origin = if own {
            Origin::Own
        } else if cell.taken.swap(true, Ordering::Relaxed) {
            Origin::Equal
        } else {
            Origin::Ahead
        };
        Ok((outcome, origin))
    }

    /// Produces the outcome under `key` before its call; the first call takes it as its own. `None` if a call came
    /// first.
    pub(crate) async fn ahead<F>(&self, key: &str, run: F) -> Result<Option<Outcome>, anyhow::Error>
    where
        F: AsyncFnOnce() -> Result<Outcome, anyhow::Error>,
    {
        let cell = self.cell(key);
        let mut own = false;
        let first_run = async || {
            own = true;
            run().await
        };
        let outcome = cell.outcome.get_or_try_init(first_run).await?.clone();
        if outcome.is_err() {
            self.forget(key, &cell);
        }
        Ok(own.then_some(outcome))
    }

    fn cell(&self, key: &str) -> Cell {
        self.cells().entry(key.to_owned()).or_default().clone()
    }

    fn forget(&self, key: &str, cell: &Cell) {
        let mut cells = self.cells();
        if cells.get(key).is_some_and(|known| Arc::ptr_eq(known, cell)) {
            cells.remove(key);
        }
    }

    fn cells(&self) -> MutexGuard<'_, HashMap<String, Cell>> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a key that is equal for equivalent calls: the name and the arguments with sorted keys.
pub(crate) fn key(name: &str, arguments: &Value) -> String {
    let mut sorted = arguments.clone();
    sorted.sort_all_objects();
    format!("{name} {sorted}")
}
