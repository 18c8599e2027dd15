use std::mem;
use std::sync::Arc;
use std::time::Duration;

use store::{Definition, Definitions, Kind, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long a process knows the rows without reading them again: what another process changed counts after this.
const FRESH: Duration = Duration::from_secs(5);

/// What administrators defined of one kind, as this process knows it; clones share what was read.
#[derive(Clone)]
pub(crate) struct Rows<T> {
    definitions: Definitions,
    kind: Kind,
    known: Arc<Mutex<Known<T>>>,
}

struct Known<T> {
    read: Option<Instant>,
    /// What each stored document became; `None` where it cannot be read.
    made: Vec<(Definition, Option<T>)>,
    rows: Arc<Vec<T>>,
}

impl<T: Clone> Rows<T> {
    pub(crate) fn new(definitions: Definitions, kind: Kind) -> Self {
        Self {
            definitions,
            kind,
            known: Arc::new(Mutex::new(Known { read: None, made: Vec::new(), rows: Arc::default() })),
        }
    }

    /// All rows that can be read, by their ids; `make` makes one of a document that is new or was changed.
    pub(crate) async fn all(&self, make: impl Fn(&Definition) -> Option<T>) -> Result<Arc<Vec<T>>, StoreError> {
        let mut known = self.known.lock().await;
        if known.read.is_none_or(|at| at.elapsed() > FRESH) {
            let found = self.definitions.list(self.kind).await?;
            known.take(found, make);
            known.read = Some(Instant::now());
        }
        Ok(Arc::clone(&known.rows))
    }

    /// Reads the rows again at the next look: this process changed them.
    pub(crate) async fn forget(&self) {
        self.known.lock().await.read = None;
    }
}

impl<T: Clone> Known<T> {
    /// Rows that did not change stay what they are, with what they have learned.
    fn take(&mut self, found: Vec<Definition>, make: impl Fn(&Definition) -> Option<T>) {
        let before = mem::take(&mut self.made);
        let same = |stored: &Definition| before.iter().find(|(other, _)| other == stored).map(|(_, row)| row.clone());
        let row = |stored: Definition| {
            let row = same(&stored).unwrap_or_else(|| make(&stored));
            (stored, row)
        };
        self.made = found.into_iter().map(row).collect();
        self.rows = Arc::new(self.made.iter().filter_map(|(_, row)| row.clone()).collect());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(id: &str, updated_at: &str) -> Definition {
        let body = json!({});
        let (created_at, updated_at) = (String::new(), updated_at.to_owned());
        Definition { id: id.to_owned(), name: id.to_owned(), body, created_at, updated_at }
    }

    #[test]
    fn a_row_that_did_not_change_stays_what_it_is_and_others_are_made_anew() {
        let mut known = Known { read: None, made: Vec::new(), rows: Arc::default() };
        let make = |reading: u32| move |stored: &Definition| (stored.id != "bad").then(|| (stored.id.clone(), reading));
        known.take(vec![stored("a", "1"), stored("b", "1"), stored("bad", "1")], make(1));
        known.take(vec![stored("a", "1"), stored("b", "2"), stored("c", "1")], make(2));
        let rows: Vec<(&str, u32)> = known.rows.iter().map(|(id, reading)| (id.as_str(), *reading)).collect();
        assert_eq!(rows, [("a", 1), ("b", 2), ("c", 2)]);
    }
}
