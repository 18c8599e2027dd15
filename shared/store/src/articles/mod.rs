//! Articles in collections: what the tool `search_articles` searches.
//!
//! A collection belongs to one owner, or to all callers. Its first partition holds its own row, its articles and the
//! chunks to delete; its chunks are spread over [`SHARDS`] more partitions, so that a large collection can be read with
//! more throughput than one partition has.
//!
//! An article is replaced by a new generation of its chunks: they are written first, then one transaction moves the
//! article to them, then the old ones are deleted. So an interrupted replacement leaves the old article or the new one.
//! Its unused chunks stay listed until [`Articles::clean`] or the next change of the article deletes them.

mod article;
mod chunk;
mod chunk_index;
mod collection;
mod indexed;
mod part;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::TransactWriteItem;
use domain::{Owner, new_id};

pub use self::article::{EmbeddingModel, NewArticle, StoredArticle};
pub use self::chunk::{ArticleChunk, QuantisedVector};
pub use self::chunk_index::{ChunkIndex, ChunkPosition, IndexedGeneration};
pub use self::collection::ArticleCollection;
pub use self::part::{ChunkPage, ChunkPart, PageStart};

use self::article::{article_item, read_article};
use self::chunk::VectorStorage;
use self::collection::{ARTICLE_PREFIX, REVISION, UNUSED_PREFIX, chunks_prefix};
use self::indexed::listed_chunks;
use crate::backoff::back_off;
use crate::clock::{millis, span_millis};
use crate::item::{ItemExt, SCHEMA_VERSION, n, s};
use crate::table::{Expression, Table};
use crate::transaction::TransactionOutcome;
use crate::{Result, StoreError};

/// The number of partitions over which the chunks of a collection are spread.
pub const SHARDS: u8 = 8;

/// How often a replacement is retried after a conflict with another one of the same article.
const MAX_ATTEMPTS: u32 = 5;

/// Unused chunks of this age belong to no replacement that still runs.
const MIN_UNUSED_AGE: Duration = Duration::from_hours(1);

/// Articles in the data table.
#[derive(Clone)]
pub struct Articles {
    table: Table,
    index: Option<Arc<dyn ChunkIndex>>,
}

impl Articles {
    pub(crate) fn new(table: Table) -> Self {
        Self { table, index: None }
    }

    /// The revision of a collection: another text after every change; `None` before the first article. One request.
    pub async fn revision(&self, collection: &ArticleCollection) -> Result<Option<String>> {
        let Some(row) = self.table.get(&collection.own_key()).await? else { return Ok(None) };
        Ok(Some(row.text(REVISION)?.to_owned()))
    }

    /// Records in the shared collection that the deployment has articles, of any owner: afterwards it has a
    /// revision.
    pub async fn announce(&self) -> Result<()> {
        let change = Expression::update("SET revision = if_not_exists(revision, :revision), v = if_not_exists(v, :v)");
        let change = change.value(":revision", s(new_id())).value(":v", n(SCHEMA_VERSION));
        self.table.update(&ArticleCollection::Shared.own_key(), change).await.map(|_| ())
    }

    /// All articles of a collection, sorted by id, without their chunks.
    pub async fn list(&self, collection: &ArticleCollection) -> Result<Vec<StoredArticle>> {
        let query = self.table.query_prefix(&collection.partition(), ARTICLE_PREFIX);
        self.table.query_all(query).await?.iter().map(read_article).collect()
    }

    /// A page of the articles of a collection: at most `limit` after the id `after`, and the id that continues it.
    pub async fn page(
        &self,
        collection: &ArticleCollection,
        limit: u32,
        after: Option<&str>,
    ) -> Result<(Vec<StoredArticle>, Option<String>)> {
        let query = self.table.query_prefix(&collection.partition(), ARTICLE_PREFIX);
        let query = query.limit(i32::try_from(limit).unwrap_or(i32::MAX));
        let start = after.map(|id| collection.article_key(id).attributes());
        let (items, next) = self.table.query_page(query, start).await?;
        let articles = items.iter().map(read_article).collect::<Result<Vec<_>, _>>()?;
        let next = next.and_then(|_| articles.last().map(|last| last.id.clone()));
        Ok((articles, next))
    }

    /// The article of this id.
    pub async fn get(&self, collection: &ArticleCollection, id: &str) -> Result<Option<StoredArticle>> {
        self.table.get(&collection.article_key(id)).await?.as_ref().map(read_article).transpose()
    }

    /// Stores an article, in place of an earlier one of the same id.
    pub async fn put(
        &self,
        collection: &ArticleCollection,
        article: &NewArticle,
        now: SystemTime,
    ) -> Result<StoredArticle> {
        let generation = new_id();
        let index = self.index.as_deref().zip(article.model.as_ref());
        let vectors = if index.is_some() { VectorStorage::Index } else { VectorStorage::Table };
        let (parts, part_lengths) = part::part_items(collection, article, &generation, vectors);
        let chunks = u32::try_from(article.chunks.len()).unwrap_or(u32::MAX);
        self.table.put_all(vec![collection.unused_item(&article.id, &generation, chunks, now)]).await?;
        self.table.put_all(parts).await?;
        if let Some((index, model)) = index {
            let (id, chunks) = (generation.as_str(), article.chunks.as_slice());
            let (groups, part_lengths) = (&article.groups, part_lengths.as_slice());
            let generation = IndexedGeneration { article: &article.id, id, groups, model, chunks, part_lengths };
            index.put(collection, generation).await?;
        }
        let (part_count, index) = (part_lengths.len(), index.map(|(index, _)| index.name()));
        for attempt in 0..MAX_ATTEMPTS {
            let old = self.get(collection, &article.id).await?;
            let stored = StoredArticle::replacing(old.as_ref(), article, &generation, part_count, index, now);
            match self.switch(collection, &stored, old.as_ref(), now).await? {
                TransactionOutcome::Committed => {
                    if let Some(old) = old {
                        self.discard(collection, &old.id, &old.generation, old.chunks).await?;
                    }
                    return Ok(stored);
                }
                TransactionOutcome::ConditionFailed(_) | TransactionOutcome::Conflict => back_off(attempt).await,
            }
        }
        Err(StoreError::Busy)
    }

    /// Deletes an article; returns whether there was one.
    pub async fn delete(&self, collection: &ArticleCollection, id: &str, now: SystemTime) -> Result<bool> {
        for attempt in 0..MAX_ATTEMPTS {
            let Some(old) = self.get(collection, id).await? else { return Ok(false) };
            let writes = vec![
                self.table.delete_write(&collection.article_key(id)),
                self.table
                    .put_write(collection.unused_item(id, &old.generation, old.chunks, now), Expression::default()),
                self.table.update_write(&collection.own_key(), new_revision()),
            ];
            if let TransactionOutcome::Committed = self.table.transact(writes).await? {
                self.discard(collection, id, &old.generation, old.chunks).await?;
                return Ok(true);
            }
            back_off(attempt).await;
        }
        Err(StoreError::Busy)
    }

    /// The chunks of one article, in order; fewer than it has if it was replaced meanwhile.
    pub async fn chunks(&self, collection: &ArticleCollection, article: &StoredArticle) -> Result<Vec<ArticleChunk>> {
        let mut chunks = Vec::new();
        let mut pages = self.table.pages(self.chunk_query(collection, &article.id, &article.generation));
        while let Some(items) = pages.next().await? {
            for item in &items {
                chunks.extend(part::read_part(item)?.chunks);
            }
        }
        Ok(chunks)
    }

    /// A page of the chunks of all articles in one shard, which is below [`SHARDS`]; of several generations of one
    /// article in any order.
    pub async fn chunk_page(
        &self,
        collection: &ArticleCollection,
        shard: u8,
        start: Option<PageStart>,
    ) -> Result<ChunkPage> {
        let query = self.table.query(&collection.shard(shard));
        let (items, next) = self.table.query_page(query, start.map(|PageStart(key)| key)).await?;
        let parts = items.iter().map(part::read_part).collect::<Result<_, _>>()?;
        Ok(ChunkPage { parts, next: next.map(PageStart) })
    }

    /// Deletes the unused chunks that interrupted changes left; returns the number of those changes.
    pub async fn clean(&self, collection: &ArticleCollection, now: SystemTime) -> Result<usize> {
        let oldest = millis(now).saturating_sub(span_millis(MIN_UNUSED_AGE));
        let query = self.table.query_prefix(&collection.partition(), UNUSED_PREFIX);
        let (items, _) = self.table.query_page(query, None).await?;
        let mut cleaned = 0;
        for row in items.iter().filter(|row| row.number("changedAt").is_ok_and(|at: i64| at <= oldest)) {
            let (id, generation) = (row.text("article")?, row.text("generation")?);
            // A restored table may list chunks that were put to use after its moment.
            if self.get(collection, id).await?.is_some_and(|article| article.generation == generation) {
                self.table.delete_all(vec![collection.unused_key(id, generation).attributes()]).await?;
            } else {
                self.discard(collection, id, generation, listed_chunks(row)).await?;
                cleaned += 1;
            }
        }
        Ok(cleaned)
    }

    /// Deletes all articles of an owner; returns the number of items.
    ///
    /// The first partition goes last, so that the next call completes an interrupted one. Without it there is nothing
    /// else, and the others are not read.
    pub(crate) async fn delete_by_owner(&self, owner: &Owner) -> Result<usize> {
        let collection = ArticleCollection::Of(owner.clone());
        let query = self.table.query(&collection.partition());
        let (items, _) = self.table.query_page(query.projection_expression("pk, sk").limit(1), None).await?;
        if items.is_empty() {
            return Ok(0);
        }
        self.delete_vectors(&collection).await?;
        let mut count = 0;
        for shard in 0..SHARDS {
            count += self.table.delete_partition(&collection.shard(shard)).await?;
        }
        Ok(count + self.table.delete_partition(&collection.partition()).await?)
    }

    /// Moves an article to its new chunks if nobody else has replaced it since `old` was read.
    async fn switch(
        &self,
        collection: &ArticleCollection,
        stored: &StoredArticle,
        old: Option<&StoredArticle>,
        now: SystemTime,
    ) -> Result<TransactionOutcome> {
        let unchanged = match old {
            None => Expression::when("attribute_not_exists(pk)"),
            Some(old) => Expression::when("generation = :before").value(":before", s(&old.generation)),
        };
        let mut writes: Vec<TransactWriteItem> = vec![
            self.table.put_write(article_item(collection, stored), unchanged),
            self.table.delete_write(&collection.unused_key(&stored.id, &stored.generation)),
            self.table.update_write(&collection.own_key(), new_revision()),
        ];
        if let Some(old) = old {
            let unused = collection.unused_item(&old.id, &old.generation, old.chunks, now);
            writes.push(self.table.put_write(unused, Expression::default()));
        }
        self.table.transact(writes).await
    }

    /// Deletes a generation of chunks that no article refers to, and the row that lists it.
    async fn discard(&self, collection: &ArticleCollection, id: &str, generation: &str, chunks: u32) -> Result<()> {
        if let Some(index) = &self.index {
            index.delete(collection, generation, chunks).await?;
        }
        self.table.delete_queried(self.chunk_query(collection, id, generation)).await?;
        self.table.delete_all(vec![collection.unused_key(id, generation).attributes()]).await
    }

    /// Builds a query over one generation of an article's chunks.
    fn chunk_query(&self, collection: &ArticleCollection, id: &str, generation: &str) -> QueryFluentBuilder {
        self.table.query_prefix(&collection.shard_of(id), &chunks_prefix(id, generation))
    }
}

/// The update of a collection's own row by every change.
fn new_revision() -> Expression {
    Expression::update("SET revision = :revision, v = if_not_exists(v, :v)")
        .value(":revision", s(new_id()))
        .value(":v", n(SCHEMA_VERSION))
}
