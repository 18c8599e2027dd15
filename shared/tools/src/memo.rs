use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::OnceCell;

use crate::ToolOutput;
use crate::refusal::Refusal;

/// How a call ended that is not fatal to its turn.
pub(crate) type Outcome = Result<ToolOutput, Refusal>;

type Cell = Arc<OnceCell<Outcome>>;

/// The calls of one turn that succeeded or still run.
#[derive(Default)]
pub(crate) struct Memo {
    cells: Mutex<HashMap<String, Cell>>,
}

impl Memo {
    /// The outcome of the call under `key` and whether an equal call had it made.
    ///
    /// Equal calls at the same time share one run; when the caller that runs it goes away, the next one takes over. A
    /// failure is shared with those who wait for it and then forgotten, so that the model may try again.
    pub(crate) async fn once<F>(&self, key: &str, run: F) -> Result<(Outcome, bool), anyhow::Error>
    where
        F: AsyncFnOnce() -> Result<Outcome, anyhow::Error>,
    {
        let cell = self.cell(key);
        let mut shared = true;
        let first_run = async || {
            shared = false;
            run().await
        };
        let outcome = cell.get_or_try_init(first_run).await?.clone();
        if outcome.is_err() {
            self.forget(key, &cell);
        }
        Ok((outcome, shared))
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

/// Equal for calls that mean the same: the name and the arguments with their keys in order.
pub(crate) fn key(name: &str, arguments: &Value) -> String {
    let mut sorted = arguments.clone();
    sorted.sort_all_objects();
    format!("{name} {sorted}")
}
