//! Search of the articles that a caller may see.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use domain::Owner;
use fairness::FairSlots;
use store::{ArticleCollection, Articles, QuantisedVector, StoreError};
use tokio::task::spawn_blocking;

use crate::collection::{LoadedArticle, LoadedCollection};
use crate::collection_cache::{CollectionCache, LoadError};
use crate::fusion::{best, fuse};
use crate::stop::{CHECK_INTERVAL, StopOnDrop};
use crate::terms::QueryTerms;
use crate::vectors::cosine;
use crate::{ArticlesConfig, Embeddings};

/// Concurrent rankings, at most one of each owner.
static SLOTS: LazyLock<FairSlots<Owner>> = LazyLock::new(|| FairSlots::new(2));

/// How many chunks of one article are returned.
const MAX_CHUNKS_OF_ARTICLE: usize = 3;

/// Below this cosine no embedding model sees any similarity.
const MIN_COSINE: f32 = 0.1;

/// The articles of a deployment, with copies in memory of those that were searched.
pub struct ArticleSearch {
    cache: CollectionCache,
    embeddings: Option<Embeddings>,
}

/// The result of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The best articles first.
    pub articles: Vec<ArticleHit>,
    /// What limited the search.
    pub notice: Option<SearchNotice>,
}

/// An article with the chunks that fit a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ArticleHit {
    /// The id of the article.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Where people can read it.
    pub url: Option<String>,
    /// At most three, the best first.
    pub chunks: Vec<ChunkHit>,
}

/// A chunk that fits a query.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkHit {
    /// Its position in the article, from 0.
    pub index: usize,
    /// Its text, with the title and the headings that it is below on the first line.
    pub text: String,
    /// How well it fits, from 0 to 1; comparable within one search only.
    pub score: f32,
}

/// What limited a search to terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchNotice {
    /// No embeddings endpoint is configured.
    TermsOnly,
    /// The embeddings endpoint failed.
    EmbeddingsFailed,
    /// Some articles have no vectors, or those of another model: they were searched by their terms.
    OtherModel,
}

/// Why a search has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SearchError {
    /// The articles do not fit into the memory for them.
    #[error("the articles are larger than the memory that they may take")]
    TooLarge,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The ranking failed.
    #[error("the articles cannot be ranked")]
    Failed,
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
        Self { cache: CollectionCache::new(store, config.max_bytes), embeddings }
    }

    /// Finds the articles that fit a query best, among those for all callers and those of `owner`: at most `limit`.
    ///
    /// It reads the collections that have changed since the last search. Dropping the future stops it.
    pub async fn search(&self, owner: &Owner, query: &str, limit: usize) -> Result<Found, SearchError> {
        let own = ArticleCollection::Of(owner.clone());
        let (shared, own) =
            futures_util::try_join!(self.cache.load(&ArticleCollection::Shared), self.cache.load(&own))?;
        let searched = Searched(vec![shared, own]);
        if searched.articles().next().is_none() {
            return Ok(Found::default());
        }
        let (vector, notice) = self.embed_query(&searched, query).await;
        let slot = SLOTS.acquire(owner).await.map_err(|_closed| SearchError::Failed)?;
        let (_stop, flag) = StopOnDrop::new();
        let terms = QueryTerms::new(query);
        let rank = move || {
            let articles = searched.find(&terms, vector.as_ref(), limit, &flag);
            drop(slot);
            articles
        };
        let articles = spawn_blocking(rank).await.map_err(|_panic| SearchError::Failed)?;
        Ok(Found { articles, notice })
    }

    /// The vector of a query, if it can be compared with any article.
    async fn embed_query(&self, searched: &Searched, query: &str) -> (Option<QueryVector>, Option<SearchNotice>) {
        let Some(embeddings) = &self.embeddings else { return (None, Some(SearchNotice::TermsOnly)) };
        let is_of_model = |article: &Arc<LoadedArticle>| {
            article.head.model.as_ref().is_some_and(|model| model.name == embeddings.model())
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

    fn find(
        &self,
        terms: &QueryTerms,
        vector: Option<&QueryVector>,
        limit: usize,
        stop: &AtomicBool,
    ) -> Vec<ArticleHit> {
        let texts = self.articles().flat_map(|article| article.texts.iter().map(AsRef::as_ref));
        let mut rankings = vec![best(terms.rank(texts, stop))];
        rankings.extend(vector.map(|vector| best(self.cosines(vector, stop))));
        self.group(&fuse(&rankings), limit)
    }

    /// The cosine of each chunk that has a vector of the query's model.
    fn cosines(&self, query: &QueryVector, stop: &AtomicBool) -> Vec<(u32, f32)> {
        let (mut scores, mut next) = (Vec::new(), 0_u32);
        for article in self.articles() {
            let first = next;
            next += article.head.chunks;
            if !query.fits(article) {
                continue;
            }
            for (number, (values, scale)) in (first..).zip(article.vectors(query.vector.values.len())) {
                if number.is_multiple_of(CHECK_INTERVAL) && stop.load(Ordering::Relaxed) {
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
                None if !is_full => hits.push((position, ArticleHit::new(article, chunk))),
                _ => {}
            }
        }
        hits.into_iter().map(|(_, hit)| hit).collect()
    }
}

impl ArticleHit {
    fn new(article: &LoadedArticle, chunk: ChunkHit) -> Self {
        let head = &article.head;
        Self { id: head.id.clone(), title: head.title.clone(), url: head.url.clone(), chunks: vec![chunk] }
    }
}
