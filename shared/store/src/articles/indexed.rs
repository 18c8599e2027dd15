//! Articles whose vectors are in an index.

use std::sync::Arc;

use super::article::VECTOR_INDEX;
use super::collection::{ARTICLE_PREFIX, CHUNK_COUNT, UNUSED_PREFIX};
use super::{ArticleCollection, Articles, ChunkIndex, ChunkPosition, part};
use crate::Result;
use crate::item::{Item, ItemExt, s};

impl Articles {
    /// Stores vectors in an index from now on, and deletes them there too.
    #[must_use]
    pub fn with_index(self, index: Arc<dyn ChunkIndex>) -> Self {
        Self { index: Some(index), ..self }
    }

    /// The name of the index that vectors are stored in.
    pub fn index_name(&self) -> Option<&str> {
        self.index.as_deref().map(ChunkIndex::name)
    }

    /// The text of a chunk; `None` if the generation was deleted meanwhile. One request.
    pub async fn chunk_text(
        &self,
        collection: &ArticleCollection,
        id: &str,
        generation: &str,
        position: ChunkPosition,
    ) -> Result<Option<String>> {
        let Some(item) = self.table.get(&collection.part_key(id, generation, position.part)).await? else {
            return Ok(None);
        };
        let number = position.number.checked_sub(position.first);
        Ok(number
            .zip(Some(part::read_part(&item)?))
            .and_then(|(number, part)| part.chunks.into_iter().nth(number).map(|chunk| chunk.text)))
    }

    /// Whether an article of a collection has no vectors of this model in this index. Reads the articles up to the
    /// first one of these, without their chunks.
    pub async fn has_unindexed(&self, collection: &ArticleCollection, index: &str, model: &str) -> Result<bool> {
        let query = self.table.query_prefix(&collection.partition(), ARTICLE_PREFIX);
        let other = format!("attribute_not_exists({VECTOR_INDEX}) OR {VECTOR_INDEX} <> :index OR model <> :model");
        let query = query.filter_expression(other).projection_expression("pk, sk");
        let query =
            query.expression_attribute_values(":index", s(index)).expression_attribute_values(":model", s(model));
        Ok(self.table.first(query).await?.is_some())
    }

    /// Deletes the vectors that the rows of a collection list, and nothing else.
    pub(crate) async fn delete_vectors(&self, collection: &ArticleCollection) -> Result<()> {
        let Some(index) = &self.index else { return Ok(()) };
        for prefix in [ARTICLE_PREFIX, UNUSED_PREFIX] {
            let mut pages = self.table.pages(self.table.query_prefix(&collection.partition(), prefix));
            while let Some(items) = pages.next().await? {
                for item in &items {
                    index.delete(collection, item.text("generation")?, listed_chunks(item)).await?;
                }
            }
        }
        Ok(())
    }
}

/// The number of chunks of a generation; 0 in a row of a release without indexes, which made no vectors there.
pub(super) fn listed_chunks(row: &Item) -> u32 {
    row.number(CHUNK_COUNT).unwrap_or_default()
}
