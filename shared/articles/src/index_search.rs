//! Search of articles whose vectors are in an index: nothing is kept in memory.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use domain::{Membership, Owner};
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use store::{ArticleCollection, Articles, ChunkIndex, ChunkPosition, StoreError, StoredArticle};
use work::{lock, make_space};

use crate::Embeddings;
use crate::ranking::{group, rank_score};
use crate::search_result::{ArticleHit, ChunkHit, Found, MAX_CHUNKS_OF_ARTICLE, SearchError, SearchNotice};
use crate::vector_index::{IndexHit, IndexedArticle, VectorIndex};

/// How many articles are read at the same time.
const MAX_READS: usize = 4;

/// How often the index is queried for one search. A crash leaves the vectors of a few articles at most.
const MAX_ROUNDS: usize = 3;

/// How long a collection is taken for complete, or for incomplete, also while it changes.
const COMPLETE_FOR: Duration = Duration::from_mins(5);
const INCOMPLETE_FOR: Duration = Duration::from_secs(10);

/// For how many collections it is kept whether they are complete.
const MAX_COLLECTIONS: usize = 1_000;

/// Articles that are found by a vector index, in its order.
pub(crate) struct IndexSearch {
    store: Articles,
    index: VectorIndex,
    embeddings: Embeddings,
    /// Until when each collection is taken for complete, or for incomplete.
    checked: Mutex<HashMap<ArticleCollection, (Instant, bool)>>,
}

impl IndexSearch {
    pub(crate) fn new(store: Articles, index: VectorIndex, embeddings: Embeddings) -> Self {
        Self { store, index, embeddings, checked: Mutex::default() }
    }

    /// Finds the articles that fit a query best; the collections of a caller are searched by one request.
    pub(crate) async fn search(
        &self,
        (owner, membership): (&Owner, &Membership),
        query: &str,
        limit: usize,
    ) -> Result<Found, SearchError> {
        let both = [ArticleCollection::Shared, ArticleCollection::Of(owner.clone())];
        let [shared, own] = &both;
        let (shared, own) = futures_util::try_join!(self.store.revision(shared), self.store.revision(own))?;
        let existing = both.into_iter().zip([shared, own]).filter(|(_, revision)| revision.is_some());
        let collections: Vec<ArticleCollection> = existing.map(|(collection, _)| collection).collect();
        if collections.is_empty() {
            return Ok(Found::default());
        }
        let complete = try_join_all(collections.iter().map(|collection| self.is_complete(collection)));
        let (found, complete) = futures_util::join!(self.find((&collections, membership), query, limit), complete);
        let found = found?;
        let notice = if complete?.contains(&false) { Some(SearchNotice::NotIndexed) } else { found.notice };
        Ok(Found { notice, ..found })
    }

    /// Queries the index, again without the vectors of replaced articles if they took the positions of others.
    async fn find(
        &self,
        scope: (&[ArticleCollection], &Membership),
        query: &str,
        limit: usize,
    ) -> Result<Found, SearchError> {
        let vector = self.embeddings.embed_query(query).await;
        let text = self.index.describe().await?.searches_text().then_some(query);
        let notice = match &vector {
            Ok(vector) => {
                self.index.check_dimensions(vector.values.len()).await?;
                text.is_none().then_some(SearchNotice::MeaningOnly)
            }
            Err(error) if text.is_none() => return Err(SearchError::Embeddings(*error)),
            Err(error) => {
                tracing::warn!(%error, "a query has no embedding");
                Some(SearchNotice::EmbeddingsFailed)
            }
        };
        let (model, vector) = (self.embeddings.model(), vector.as_ref().ok());
        let mut replaced = Vec::new();
        for round in 1.. {
            let hits = self.index.query(scope, model, vector, text, &replaced).await?;
            let (articles, more) = self.read(hits, scope.1, limit).await?;
            if articles.len() >= limit || more.is_empty() || round == MAX_ROUNDS {
                return Ok(Found { articles, notice });
            }
            replaced.extend(more);
        }
        Err(SearchError::Failed)
    }

    /// Reads the best articles that the caller may find. One that was replaced or deleted, or is for other groups, is left
    /// out; returns its generation too.
    async fn read(
        &self,
        hits: Vec<IndexHit>,
        membership: &Membership,
        limit: usize,
    ) -> Result<(Vec<ArticleHit>, Vec<String>), StoreError> {
        let ranked = (0..).zip(hits).map(|(rank, (article, position))| (article, (position, rank_score(rank))));
        let read = stream::iter(group(ranked)).map(|(article, chunks)| self.read_article(article, membership, chunks));
        let mut read = read.buffered(MAX_READS);
        let (mut articles, mut replaced) = (Vec::new(), Vec::new());
        while articles.len() < limit {
            match read.try_next().await? {
                None => break,
                Some(Ok(article)) => articles.push(article),
                Some(Err(generation)) => replaced.push(generation),
            }
        }
        Ok((articles, replaced))
    }

    /// Reads an article with these chunks; returns their generation if it is not that of an article for the caller.
    async fn read_article(
        &self,
        article: IndexedArticle,
        membership: &Membership,
        chunks: Vec<(ChunkPosition, f32)>,
    ) -> Result<Result<ArticleHit, String>, StoreError> {
        let IndexedArticle { collection, id, generation } = &article;
        let is_usable = |head: &StoredArticle| head.generation == *generation && membership.may_use(&head.groups);
        let Some(head) = self.store.get(collection, id).await?.filter(is_usable) else {
            return Ok(Err(article.generation));
        };
        let read = stream::iter(chunks).map(async |(position, score)| {
            let text = self.store.chunk_text(collection, id, generation, position).await?;
            Ok::<_, StoreError>(text.map(|text| ChunkHit { index: position.number, text, score }))
        });
        let chunks: Vec<Option<ChunkHit>> = read.buffered(MAX_CHUNKS_OF_ARTICLE).try_collect().await?;
        let chunks: Vec<ChunkHit> = chunks.into_iter().flatten().collect();
        Ok(if chunks.is_empty() { Err(article.generation) } else { Ok(ArticleHit::new(&head, chunks)) })
    }

    /// Whether all articles of a collection have vectors of the model in the index. The vectors of other models are never
    /// compared, so this only decides whether a result is noted as incomplete.
    async fn is_complete(&self, collection: &ArticleCollection) -> Result<bool, StoreError> {
        let known = lock(&self.checked).get(collection).copied();
        if let Some((_, is_complete)) = known.filter(|(until, _)| Instant::now() < *until) {
            return Ok(is_complete);
        }
        let is_complete = !self.store.has_unindexed(collection, self.index.name(), self.embeddings.model()).await?;
        let until = Instant::now() + if is_complete { COMPLETE_FOR } else { INCOMPLETE_FOR };
        let mut checked = lock(&self.checked);
        make_space(&mut checked, MAX_COLLECTIONS, |_| false);
        checked.insert(collection.clone(), (until, is_complete));
        Ok(is_complete)
    }
}
