use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use store::{ArticleCollection, Articles, ChunkIndex, StoreError};

use crate::vector_index::VectorIndex;

/// How long a complete collection is taken for complete, also while it changes.
const COMPLETE_FOR: Duration = Duration::from_mins(5);

/// For how many collections the outcome is kept.
const MAX_COLLECTIONS: usize = 1_000;

/// Whether all articles of collections have vectors of the configured model in the configured index.
///
/// The vectors of other models are never compared, so this only decides whether a result is noted as incomplete.
#[derive(Debug, Default)]
pub(crate) struct Coverage {
    checked: Mutex<HashMap<ArticleCollection, Checked>>,
}

#[derive(Debug)]
struct Checked {
    revision: String,
    at: Instant,
    is_complete: bool,
}

impl Coverage {
    /// Checks the given collections, each with its revision; those that did not change since are not read.
    pub(crate) async fn is_complete(
        &self,
        store: &Articles,
        collections: &[(ArticleCollection, String)],
        index: &VectorIndex,
        model: &str,
    ) -> Result<bool, StoreError> {
        for (collection, revision) in collections {
            let is_complete = if let Some(known) = self.known(collection, revision) {
                known
            } else {
                let is_complete = !store.has_unindexed(collection, index.name(), model).await?;
                self.record(collection, revision, is_complete);
                is_complete
            };
            if !is_complete {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn known(&self, collection: &ArticleCollection, revision: &str) -> Option<bool> {
        let checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        let known = checked.get(collection)?;
        let is_current = known.revision == revision || known.is_complete && known.at.elapsed() < COMPLETE_FOR;
        is_current.then_some(known.is_complete)
    }

    fn record(&self, collection: &ArticleCollection, revision: &str, is_complete: bool) {
        let mut checked = self.checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.len() >= MAX_COLLECTIONS {
            checked.clear();
        }
        let outcome = Checked { revision: revision.to_owned(), at: Instant::now(), is_complete };
        checked.insert(collection.clone(), outcome);
    }
}
