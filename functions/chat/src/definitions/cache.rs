use std::sync::Arc;
use std::time::{Duration, SystemTime};

use store::{Definition, DefinitionKind, Definitions, StoreError};
use work::{RefreshPolicy, Refreshed};

/// Changes made by other instances take effect after this. Rows that cannot be read again are not used.
const POLICY: RefreshPolicy =
    RefreshPolicy { fresh_for: Duration::from_secs(5), usable_for: Duration::ZERO, retry_interval: Duration::ZERO };

/// The parsed definitions of one kind; clones share one cache.
#[derive(Clone)]
pub(crate) struct DefinitionCache<T> {
    definitions: Definitions,
    kind: DefinitionKind,
    entries: Arc<Refreshed<Arc<Entries<T>>, StoreError>>,
}

struct Entries<T> {
    /// Each stored document with its parsed row; `None` if it cannot be parsed.
    parsed: Vec<(Definition, Option<T>)>,
    rows: Arc<Vec<T>>,
}

impl<T: Clone> DefinitionCache<T> {
    pub(crate) fn new(definitions: Definitions, kind: DefinitionKind) -> Self {
        Self { definitions, kind, entries: Arc::new(Refreshed::new(POLICY)) }
    }

    /// All rows that can be parsed, ordered by id; `parse` is called for new and changed documents only.
    pub(crate) async fn all(&self, parse: impl Fn(&Definition) -> Option<T>) -> Result<Arc<Vec<T>>, StoreError> {
        let read = async || {
            let stored = self.definitions.list(self.kind).await?;
            Ok(Arc::new(Entries::new(stored, self.entries.peek().as_deref(), parse)))
        };
        let entries = self.entries.get(SystemTime::now(), read).await?;
        Ok(Arc::clone(&entries.rows))
    }

    /// Makes the next read go to the store, because this process changed a row.
    pub(crate) fn invalidate(&self) {
        self.entries.invalidate();
    }
}

impl<T: Clone> Entries<T> {
    /// Unchanged rows are kept, with the state that they hold.
    fn new(stored: Vec<Definition>, before: Option<&Self>, parse: impl Fn(&Definition) -> Option<T>) -> Self {
        let known = before.into_iter().flat_map(|before| &before.parsed);
        let entry = |stored: Definition| {
            let unchanged = known.clone().find(|(other, _)| *other == stored).map(|(_, row)| row.clone());
            let row = unchanged.unwrap_or_else(|| parse(&stored));
            (stored, row)
        };
        let parsed: Vec<_> = stored.into_iter().map(entry).collect();
        Self { rows: Arc::new(parsed.iter().filter_map(|(_, row)| row.clone()).collect()), parsed }
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
        let parse =
            |reading: u32| move |stored: &Definition| (stored.id != "bad").then(|| (stored.id.clone(), reading));
        let before = Entries::new(vec![stored("a", "1"), stored("b", "1"), stored("bad", "1")], None, parse(1));
        let changed = vec![stored("a", "1"), stored("b", "2"), stored("c", "1")];
        let entries = Entries::new(changed, Some(&before), parse(2));
        let rows: Vec<(&str, u32)> = entries.rows.iter().map(|(id, reading)| (id.as_str(), *reading)).collect();
        assert_eq!(rows, [("a", 1), ("b", 2), ("c", 2)]);
    }
}
