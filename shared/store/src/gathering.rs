use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{Mutex as Sending, oneshot};
use tokio::task::yield_now;

use crate::StoreError;
use crate::item::Item;
use crate::table::Table;

/// Stores items together that are to be stored at the same moment: a request costs much more than an item in it.
///
/// One request is on its way at a time; what comes meanwhile goes with the next one.
#[derive(Clone)]
pub(crate) struct Gathering(Arc<Shared>);

struct Shared {
    table: Table,
    waiting: Mutex<Vec<Waiting>>,
    sending: Sending<()>,
}

struct Waiting {
    items: Vec<Item>,
    told: oneshot::Sender<Result<(), StoreError>>,
}

impl Gathering {
    pub(crate) fn new(table: Table) -> Self {
        Self(Arc::new(Shared { table, waiting: Mutex::default(), sending: Sending::default() }))
    }

    /// Stores these items, over those that there may be; nobody else may store the same ones meanwhile.
    ///
    /// # Errors
    /// Also what was wrong with others that went along.
    pub(crate) async fn put_all(&self, items: Vec<Item>) -> Result<(), StoreError> {
        let (told, mut heard) = oneshot::channel();
        self.waiting().push(Waiting { items: items.clone(), told });
        // Those who were woken by the same tick of the clock come along.
        yield_now().await;
        let _sending = self.0.sending.lock().await;
        match heard.try_recv() {
            Ok(outcome) => return outcome,
            // Whoever had them on the way gave up, which is no reason for anybody else to.
            Err(TryRecvError::Closed) => return self.0.table.put_all(items).await,
            Err(TryRecvError::Empty) => {}
        }
        let mut all = std::mem::take(&mut *self.waiting());
        all.retain(|waiting| !waiting.told.is_closed());
        let (items, told): (Vec<_>, Vec<_>) = all.into_iter().map(|waiting| (waiting.items, waiting.told)).unzip();
        let outcome = self.0.table.put_all(items.into_iter().flatten().collect()).await;
        for told in told {
            // Some gave up meanwhile.
            let _gone = told.send(outcome.clone());
        }
        outcome
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
