//! Search of the articles that a caller may see.

use std::sync::Arc;

use domain::Owner;
use store::{ArticleCollection, Articles, QuantisedVector};
use work::{SHORT_WORK, StopFlag};

use crate::collection::{LoadedArticle, LoadedCollection};
use crate::collection_cache::{CollectionCache, LoadError};
use crate::fusion::{best, fuse};
use crate::index_search::IndexSearch;
use crate::search_result::{ArticleHit, ChunkHit, Found, MAX_CHUNKS_OF_ARTICLE, MIN_COSINE, SearchError, SearchNotice};
use crate::terms::{CHECK_INTERVAL, QueryTerms};
use crate::vectors::cosine;
use crate::{ArticlesConfig, Embeddings};

/// The articles of a deployment.
pub struct ArticleSearch(Backend);

/// How articles are found.
enum Backend {
    /// In the memory of this process.
    Memory(MemorySearch),
    /// By a vector index.
    Index(IndexSearch),
}

/// Copies in memory of the articles that were searched.
struct MemorySearch {
    cache: CollectionCache,
    embeddings: Option<Embeddings>,
}

impl From<LoadError> for SearchError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::TooLarge => Self::TooLarge,
            LoadError::Store(error) => Self::Store(error),
        }
    }
}

/// The collections of a search; a chunk's number counts the chunks of all articles in order.
struct Searched(Vec<Arc<LoadedCollection>>);

/// A vector of a query, and the model that made it.
struct QueryVector {
    model: String,
    vector: QuantisedVector,
}

impl ArticleSearch {
    /// Creates a search over the articles of a store; makes no call.
    pub fn new(store: Articles, config: &ArticlesConfig, http: &platform::transport::Client) -> Self {
        let embeddings = config.embeddings.clone().map(|config| Embeddings::new(config, http.clone()));
        Self(match (config.index(http), embeddings) {
            (Some(index), Some(embeddings)) => Backend::Index(IndexSearch::new(store, index, embeddings)),
            (_, embeddings) => {
                Backend::Memory(MemorySearch { cache: CollectionCache::new(store, config.max_bytes), embeddings })
            }
        })
    }

    /// Finds the articles that fit a query best, among those for all callers and those of `owner`: at most `limit`.
    ///
    /// Without a vector index it reads the collections that have changed since the last search. Dropping the future
    /// stops it.
    pub async fn search(&self, owner: &Owner, query: &str, limit: usize) -> Result<Found, SearchError> {
        match &self.0 {
            Backend::Memory(memory) => memory.search(owner, query, limit).await,
            Backend::Index(index) => index.search(owner, query, limit).await,
        }
    }
}

impl MemorySearch {
    async fn search(&self, owner: &Owner, query: &str, limit: usize) -> Result<Found, SearchError> {
        let own = ArticleCollection::Of(owner.clone());
        let (shared, own) =
            futures_util::try_join!(self.cache.load(&ArticleCollection::Shared), self.cache.load(&own))?;
        let searched = Searched(vec![shared, own]);
        if searched.articles().next().is_none() {
            return Ok(Found::default());
        }
        let (vector, notice) = self.embed_query(&searched, query).await;
        let terms = QueryTerms::new(query);
        let rank = SHORT_WORK.run(owner, move |stop| searched.find(&terms, vector.as_ref(), limit, stop));
        Ok(Found { articles: rank.await.ok_or(SearchError::Failed)?, notice })
    }

    /// The vector of a query, if it can be compared with any article.
    async fn embed_query(&self, searched: &Searched, query: &str) -> (Option<QueryVector>, Option<SearchNotice>) {
        let Some(embeddings) = &self.embeddings else { return (None, Some(SearchNotice::TermsOnly)) };
        let is_of_model = |article: &Arc<LoadedArticle>| {
            article.head.vector_index.is_none()
                && article.head.model.as_ref().is_some_and(|model| model.name == embeddings.model())
        };
        if !searched.articles().any(is_of_model) {
            return (None, Some(SearchNotice::OtherModel));
        }
        match embeddings.embed_query(query).await {
            Ok(vector) => {
                let vector = QueryVector { model: embeddings.model().to_owned(), vector };
                let is_complete = searched.articles().all(|article| vector.fits(article));
                (Some(vector), (!is_complete).then_some(SearchNotice::OtherModel))
            }
            Err(error) => {
                tracing::warn!(%error, "a query has no embedding");
                (None, Some(SearchNotice::EmbeddingsFailed))
            }
        }
    }
}

impl QueryVector {
    fn fits(&self, article: &LoadedArticle) -> bool {
        article.has_vectors_of(&self.model, self.vector.values.len())
    }
}

impl Searched {
    fn articles(&self) -> impl Iterator<Item = &Arc<LoadedArticle>> {
        self.0.iter().flat_map(|collection| &collection.articles)
    }

    fn find(&self, terms: &QueryTerms, vector: Option<&QueryVector>, limit: usize, stop: &StopFlag) -> Vec<ArticleHit> {
        let texts = self.articles().flat_map(|article| article.texts.iter().map(AsRef::as_ref));
        let mut rankings = vec![best(terms.rank(texts, stop))];
        rankings.extend(vector.map(|vector| best(self.cosines(vector, stop))));
        self.group(&fuse(&rankings), limit)
    }

    /// The cosine of each chunk that has a vector of the query's model.
    fn cosines(&self, query: &QueryVector, stop: &StopFlag) -> Vec<(u32, f32)> {
        let (mut scores, mut next) = (Vec::new(), 0_u32);
        for article in self.articles() {
            let first = next;
            next += article.head.chunks;
            if !query.fits(article) {
                continue;
            }
            for (number, (values, scale)) in (first..).zip(article.vectors(query.vector.values.len())) {
                if number.is_multiple_of(CHECK_INTERVAL) && stop.is_set() {
                    return scores;
                }
                let score = cosine(&query.vector, values, scale);
                if score >= MIN_COSINE {
                    scores.push((number, score));
                }
            }
        }
        scores
    }

    /// Groups the best chunks by their articles, in the order of each article's best one.
    fn group(&self, chunks: &[(u32, f32)], limit: usize) -> Vec<ArticleHit> {
        let mut first = 0_u32;
        let mut starts = Vec::new();
        for article in self.articles() {
            starts.push((first, article));
            first += article.head.chunks;
        }
        let mut hits: Vec<(usize, ArticleHit)> = Vec::new();
        for (number, score) in chunks {
            let position = starts.partition_point(|(start, _)| start <= number).saturating_sub(1);
            let Some((start, article)) = starts.get(position) else { continue };
            let index = usize::try_from(number - start).unwrap_or_default();
            let Some(text) = article.texts.get(index) else { continue };
            let chunk = ChunkHit { index, text: text.to_string(), score: *score };
            let is_full = hits.len() >= limit;
            match hits.iter_mut().find(|(known, _)| *known == position) {
                Some((_, hit)) if hit.chunks.len() < MAX_CHUNKS_OF_ARTICLE => hit.chunks.push(chunk),
                None if !is_full => hits.push((position, article_hit(article, chunk))),
                _ => {}
            }
        }
        hits.into_iter().map(|(_, hit)| hit).collect()
    }
}

/// The start of an article's result.
fn article_hit(article: &LoadedArticle, chunk: ChunkHit) -> ArticleHit {
    let head = &article.head;
    ArticleHit { id: head.id.clone(), title: head.title.clone(), url: head.url.clone(), chunks: vec![chunk] }
}
