use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::OnceCell;
use work::lock;

use crate::ToolOutput;
use crate::error::ToolCallError;

/// The outcome of a call that is not fatal to its turn.
pub(crate) type CallOutcome = Result<ToolOutput, ToolCallError>;

/// The source of a call's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallSource {
    /// The call itself.
    Fresh,
    /// A prefetch, which this call is the first to use.
    Prefetched,
    /// An equal call of the same turn.
    Duplicate,
}

#[derive(Default)]
struct Slot {
    outcome: OnceCell<CallOutcome>,
    /// Whether a call has used or produced the outcome; `false` while it is only prefetched.
    claimed: AtomicBool,
}

/// The calls of one turn that succeeded or are still running.
#[derive(Default)]
pub(crate) struct Memo {
    slots: Mutex<HashMap<String, Arc<Slot>>>,
}

impl Memo {
    /// Returns the outcome of the call under `key`, and its source.
    ///
    /// Equal concurrent calls share one run; when the caller that runs it goes away, the next one takes over. A failure
    /// is shared with the waiting callers and then forgotten, so that the model may try again. A run that does not claim
    /// the outcome prefetches it: the first call that does takes it as its own.
    pub(crate) async fn run_once<F>(
        &self,
        key: &str,
        claims: bool,
        run: F,
    ) -> Result<(CallOutcome, CallSource), anyhow::Error>
    where
        F: AsyncFnOnce() -> Result<CallOutcome, anyhow::Error>,
    {
        let slot = lock(&self.slots).entry(key.to_owned()).or_default().clone();
        let mut own = false;
        let first_run = async || {
            own = true;
            slot.claimed.store(claims, Ordering::Relaxed);
            run().await
        };
        let outcome = slot.outcome.get_or_try_init(first_run).await?.clone();
        if outcome.is_err() {
            self.forget(key, &slot);
        }
        let source = if own {
            CallSource::Fresh
        } else if claims && !slot.claimed.swap(true, Ordering::Relaxed) {
            CallSource::Prefetched
        } else {
            CallSource::Duplicate
        };
        Ok((outcome, source))
    }

    fn forget(&self, key: &str, slot: &Arc<Slot>) {
        let mut slots = lock(&self.slots);
        if slots.get(key).is_some_and(|known| Arc::ptr_eq(known, slot)) {
            slots.remove(key);
        }
    }
}
