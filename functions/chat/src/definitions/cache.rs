use std::mem;
use std::sync::Arc;
use std::time::Duration;

use store::{Definition, DefinitionKind, Definitions, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long rows are cached: changes made by other instances take effect after this.
const TIME_TO_LIVE: Duration = Duration::from_secs(5);

/// The parsed definitions of one kind; clones share one cache.
#[derive(Clone)]
pub(crate) struct DefinitionCache<T> {
    definitions: Definitions,
    kind: DefinitionKind,
    entries: Arc<Mutex<Entries<T>>>,
}

struct Entries<T> {
    read_at: Option<Instant>,
    /// Each stored document with its parsed row; `None` if it cannot be parsed.
    parsed: Vec<(Definition, Option<T>)>,
    rows: Arc<Vec<T>>,
}

impl<T: Clone> DefinitionCache<T> {
    pub(crate) fn new(definitions: Definitions, kind: DefinitionKind) -> Self {
        let entries = Entries { read_at: None, parsed: Vec::new(), rows: Arc::default() };
        Self { definitions, kind, entries: Arc::new(Mutex::new(entries)) }
    }

    /// All rows that can be parsed, ordered by id; `parse` is called for new and changed documents only.
    pub(crate) async fn all(&self, parse: impl Fn(&Definition) -> Option<T>) -> Result<Arc<Vec<T>>, StoreError> {
        let mut entries = self.entries.lock().await;
        if entries.read_at.is_none_or(|at| at.elapsed() > TIME_TO_LIVE) {
            let stored = self.definitions.list(self.kind).await?;
            entries.refresh(stored, parse);
            entries.read_at = Some(Instant::now());
        }
        Ok(Arc::clone(&entries.rows))
    }

    /// Makes the next read go to the store, because this process changed a row.
    pub(crate) async fn invalidate(&self) {
        self.entries.lock().await.read_at = None;
    }
}

impl<T: Clone> Entries<T> {
    /// Unchanged rows are kept, with the state that they hold.
    fn refresh(&mut self, stored: Vec<Definition>, parse: impl Fn(&Definition) -> Option<T>) {
        let before = mem::take(&mut self.parsed);
        let unchanged =
            |stored: &Definition| before.iter().find(|(other, _)| other == stored).map(|(_, row)| row.clone());
        let entry = |stored: Definition| {
            let row = unchanged(&stored).unwrap_or_else(|| parse(&stored));
            (stored, row)
        };
        self.parsed = stored.into_iter().map(entry).collect();
        self.rows = Arc::new(self.parsed.iter().filter_map(|(_, row)| row.clone()).collect());
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
    fn unchanged_rows_are_not_parsed_again() {
        let mut entries = Entries { read_at: None, parsed: Vec::new(), rows: Arc::default() };
        let parse =
            |reading: u32| move |stored: &Definition| (stored.id != "bad").then(|| (stored.id.clone(), reading));
        entries.refresh(vec![stored("a", "1"), stored("b", "1"), stored("bad", "1")], parse(1));
        entries.refresh(vec![stored("a", "1"), stored("b", "2"), stored("c", "1")], parse(2));
        let rows: Vec<(&str, u32)> = entries.rows.iter().map(|(id, reading)| (id.as_str(), *reading)).collect();
        assert_eq!(rows, [("a", 1), ("b", 2), ("c", 2)]);
    }
}
