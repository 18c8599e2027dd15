//! Search of articles whose vectors are in an index: nothing is kept in memory.

use std::collections::HashMap;

use domain::Owner;
use futures_util::future::OptionFuture;
use futures_util::{StreamExt, TryStreamExt, stream};
use store::{ArticleCollection, Articles, QuantisedVector, StoreError, StoredArticle};

use crate::coverage::Coverage;
use crate::fusion::fuse;
use crate::search_result::{ArticleHit, ChunkHit, Found, MAX_CHUNKS_OF_ARTICLE, MIN_COSINE, SearchError, SearchNotice};
use crate::vector_index::{IndexHit, IndexQuery, RankBy, VectorIndex};
use crate::{Embeddings, EmbeddingsError};

/// How many items are read at the same time.
const MAX_READS: usize = 16;

/// How many articles are read in addition to those that a result can have: some may have been replaced.
const SPARE_ARTICLES: usize = 3;

/// How often the index is queried for one search. A crash leaves the vectors of a few articles at most.
const MAX_ROUNDS: usize = 3;

/// Articles that are found by a vector index.
pub(crate) struct IndexSearch {
    store: Articles,
    index: VectorIndex,
    embeddings: Embeddings,
    coverage: Coverage,
}

/// The best chunks of one article, best first, with their scores.
struct RankedArticle {
    collection: usize,
    id: String,
    generation: String,
    chunks: Vec<(IndexHit, f32)>,
}

impl IndexSearch {
    pub(crate) fn new(store: Articles, index: VectorIndex, embeddings: Embeddings) -> Self {
        Self { store, index, embeddings, coverage: Coverage::default() }
    }

    /// Finds the articles that fit a query best; the collections of a caller are searched by one request.
    pub(crate) async fn search(&self, owner: &Owner, query: &str, limit: usize) -> Result<Found, SearchError> {
        let collections = self.collections(owner).await?;
        if collections.is_empty() {
            return Ok(Found::default());
        }
        let names: Vec<ArticleCollection> = collections.iter().map(|(collection, _)| collection.clone()).collect();
        let is_complete = self.coverage.is_complete(&self.store, &collections, &self.index, self.embeddings.model());
        let (found, is_complete) = futures_util::join!(self.find(&names, query, limit), is_complete);
        let found = found?;
        let notice = if is_complete? { found.notice } else { Some(SearchNotice::NotIndexed) };
        Ok(Found { notice, ..found })
    }

    /// Queries the index, again without the vectors of replaced articles if they took the positions of others.
    async fn find(&self, collections: &[ArticleCollection], query: &str, limit: usize) -> Result<Found, SearchError> {
        let vector = self.embeddings.embed_query(query).await;
        let mut replaced = Vec::new();
        let mut rounds = 0;
        loop {
            let (rankings, notice) = self.rank(collections, query, vector.as_ref(), &replaced).await?;
            let (articles, more) = self.read(collections, group(&rankings), limit).await?;
            rounds += 1;
            if articles.len() >= limit || more.is_empty() || rounds == MAX_ROUNDS {
                return Ok(Found { articles, notice });
            }
            replaced.extend(more);
        }
    }

    /// The collections of a caller that have articles, with their revisions.
    async fn collections(&self, owner: &Owner) -> Result<Vec<(ArticleCollection, String)>, StoreError> {
        let both = [ArticleCollection::Shared, ArticleCollection::Of(owner.clone())];
        let [shared, own] = &both;
        let revisions = futures_util::try_join!(self.store.revision(shared), self.store.revision(own))?;
        let revisions = [revisions.0, revisions.1];
        Ok(both.into_iter().zip(revisions).filter_map(|(collection, revision)| Some((collection, revision?))).collect())
    }

    /// The rankings by meaning and by terms, as far as each is possible, and what limited them.
    async fn rank(
        &self,
        collections: &[ArticleCollection],
        query: &str,
        vector: Result<&QuantisedVector, &EmbeddingsError>,
        replaced: &[String],
    ) -> Result<(Vec<Vec<IndexHit>>, Option<SearchNotice>), SearchError> {
        let has_terms = self.index.describe().await?.searches_text;
        let search = |rank_by| {
            let model = self.embeddings.model();
            self.index.query(IndexQuery { collections, model, rank_by, max_distance: 1.0 - MIN_COSINE, replaced })
        };
        let by_terms: OptionFuture<_> = has_terms.then(|| search(RankBy::Terms(query))).into();
        let by_meaning = async {
            let vector = vector.map_err(|error| SearchError::Embeddings(*error))?;
            self.index.check_dimensions(vector.values.len()).await?;
            Ok(search(RankBy::Meaning(vector)).await?)
        };
        let (meaning, terms) = futures_util::join!(by_meaning, by_terms);
        match (meaning, terms) {
            (Ok(meaning), Some(Ok(terms))) => Ok((vec![terms, meaning], None)),
            (Ok(meaning), None) => Ok((vec![meaning], Some(SearchNotice::MeaningOnly))),
            (Ok(meaning), Some(Err(error))) => {
                tracing::warn!(%error, "articles were not searched by their terms");
                Ok((vec![meaning], Some(SearchNotice::MeaningOnly)))
            }
            (Err(SearchError::Embeddings(error)), Some(Ok(terms))) => {
                tracing::warn!(%error, "a query has no embedding");
                Ok((vec![terms], Some(SearchNotice::EmbeddingsFailed)))
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Reads the best articles. One whose vectors are of an earlier generation is left out; returns those generations
    /// too.
    async fn read(
        &self,
        collections: &[ArticleCollection],
        ranked: Vec<RankedArticle>,
        limit: usize,
    ) -> Result<(Vec<ArticleHit>, Vec<String>), StoreError> {
        let mut ranked = ranked.into_iter();
        let (mut articles, mut replaced) = (Vec::new(), Vec::new());
        while articles.len() < limit {
            let next: Vec<RankedArticle> = ranked.by_ref().take(limit - articles.len() + SPARE_ARTICLES).collect();
            if next.is_empty() {
                break;
            }
            let read = stream::iter(next).map(async |ranked| {
                let generation = ranked.generation.clone();
                let article = self.read_article(collections, ranked).await?;
                Ok::<_, StoreError>(article.ok_or(generation))
            });
            let read: Vec<Result<ArticleHit, String>> = read.buffered(MAX_READS).try_collect().await?;
            for article in read {
                match article {
                    Ok(article) => articles.push(article),
                    Err(generation) => replaced.push(generation),
                }
            }
        }
        articles.truncate(limit);
        Ok((articles, replaced))
    }

    /// Reads an article and its chunks from the caller's own collection; `None` if it was replaced or deleted.
    async fn read_article(
        &self,
        collections: &[ArticleCollection],
        ranked: RankedArticle,
    ) -> Result<Option<ArticleHit>, StoreError> {
        let Some(collection) = collections.get(ranked.collection) else { return Ok(None) };
        let head = self.store.get(collection, &ranked.id).await?;
        let Some(head) = head.filter(|head| head.generation == ranked.generation) else { return Ok(None) };
        let head = &head;
        let chunks = stream::iter(ranked.chunks).map(|(hit, score)| self.read_chunk(collection, head, hit, score));
        let chunks: Vec<Option<ChunkHit>> = chunks.buffered(MAX_CHUNKS_OF_ARTICLE).try_collect().await?;
        let chunks: Vec<ChunkHit> = chunks.into_iter().flatten().collect();
        let hit = ArticleHit { id: head.id.clone(), title: head.title.clone(), url: head.url.clone(), chunks };
        Ok(Some(hit).filter(|hit| !hit.chunks.is_empty()))
    }

    async fn read_chunk(
        &self,
        collection: &ArticleCollection,
        head: &StoredArticle,
        hit: IndexHit,
        score: f32,
    ) -> Result<Option<ChunkHit>, StoreError> {
        let text = self.store.chunk_text(collection, &head.id, &head.generation, hit.position).await?;
        Ok(text.map(|text| ChunkHit { index: hit.position.number, text, score }))
    }
}

/// Joins rankings, and groups their chunks by article in the order of each article's best one.
fn group(rankings: &[Vec<IndexHit>]) -> Vec<RankedArticle> {
    let (mut hits, mut numbers): (Vec<&IndexHit>, HashMap<&IndexHit, u32>) = (Vec::new(), HashMap::new());
    let mut number = |hit| {
        *numbers.entry(hit).or_insert_with(|| {
            hits.push(hit);
            u32::try_from(hits.len() - 1).unwrap_or(u32::MAX)
        })
    };
    let rankings: Vec<Vec<u32>> = rankings.iter().map(|ranking| ranking.iter().map(&mut number).collect()).collect();
    let mut articles: Vec<RankedArticle> = Vec::new();
    for (number, score) in fuse(&rankings) {
        let Some(hit) = usize::try_from(number).ok().and_then(|number| hits.get(number)) else { continue };
        let is_same = |known: &&mut RankedArticle| {
            (known.collection, &known.id, &known.generation) == (hit.collection, &hit.article, &hit.generation)
        };
        match articles.iter_mut().find(is_same) {
            Some(known) if known.chunks.len() < MAX_CHUNKS_OF_ARTICLE => known.chunks.push(((*hit).clone(), score)),
            Some(_) => {}
            None => articles.push(RankedArticle {
                collection: hit.collection,
                id: hit.article.clone(),
                generation: hit.generation.clone(),
                chunks: vec![((*hit).clone(), score)],
            }),
        }
    }
    articles
}
