//! Search of the articles that a caller may see.

use std::sync::Arc;

use domain::{Membership, Owner};
use store::{ArticleCollection, Articles, QuantisedVector};
use work::{SHORT_WORK, StopFlag};

use crate::collection::{CollectionCache, LoadedArticle};
use crate::index_search::IndexSearch;
use crate::ranking::{best, fuse, group};
use crate::search_result::{ArticleHit, ChunkHit, Found, SearchError, SearchNotice};
use crate::terms::{CHECK_INTERVAL, QueryTerms};
use crate::vectors::{MIN_COSINE, cosine};
use crate::{ArticlesConfig, Embeddings};

/// The articles of a deployment.
pub struct ArticleSearch(Backend);

enum Backend {
    Memory(MemorySearch),
    Index(IndexSearch),
}

struct MemorySearch {
    cache: CollectionCache,
    embeddings: Option<Embeddings>,
}

/// The articles of a search; a chunk's number counts the chunks of all of them in order.
struct Searched(Vec<Arc<LoadedArticle>>);

/// A vector of a query, after the model that made it.
type QueryVector = (String, QuantisedVector);

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

    /// Finds the articles that fit a query best, among those of the caller, for its groups and for all callers: at most
    /// `limit`.
    ///
    /// Without a vector index it reads the collections that have changed since the last search. Dropping the future
    /// stops it.
    pub async fn search(&self, caller: (&Owner, &Membership), query: &str, limit: usize) -> Result<Found, SearchError> {
        match &self.0 {
            Backend::Memory(memory) => memory.search(caller, query, limit).await,
            Backend::Index(index) => index.search(caller, query, limit).await,
        }
    }
}

impl MemorySearch {
    async fn search(
        &self,
        (owner, membership): (&Owner, &Membership),
        query: &str,
        limit: usize,
    ) -> Result<Found, SearchError> {
        let own = ArticleCollection::Of(owner.clone());
        let (shared, own) =
            futures_util::try_join!(self.cache.load(&ArticleCollection::Shared), self.cache.load(&own))?;
        // The copies are those of all callers, so each search selects its own.
        let articles = shared.articles.iter().chain(&own.articles);
        let searched = Searched(articles.filter(|one| membership.may_use(&one.head.groups)).map(Arc::clone).collect());
        if searched.0.is_empty() {
            return Ok(Found::default());
        }
        let (vector, notice) = self.embed_query(&searched, query).await;
        let terms = QueryTerms::new(query);
        let rank = SHORT_WORK.run(owner, move |stop| searched.find(&terms, vector.as_ref(), limit, stop));
        Ok(Found { articles: rank.await.ok_or(SearchError::Failed)?, notice })
    }

    /// The vector of a query, if it can be compared with any article, and its model.
    async fn embed_query(&self, searched: &Searched, query: &str) -> (Option<QueryVector>, Option<SearchNotice>) {
        let Some(embeddings) = &self.embeddings else { return (None, Some(SearchNotice::TermsOnly)) };
        let is_of_model = |article: &Arc<LoadedArticle>| {
            article.head.vector_index.is_none()
                && article.head.model.as_ref().is_some_and(|model| model.name == embeddings.model())
        };
        if !searched.0.iter().any(is_of_model) {
            return (None, Some(SearchNotice::OtherModel));
        }
        match embeddings.embed_query(query).await {
            Ok(vector) => {
                let length = vector.values.len();
                let is_complete = searched.0.iter().all(|article| article.has_vectors_of(embeddings.model(), length));
                let notice = (!is_complete).then_some(SearchNotice::OtherModel);
                (Some((embeddings.model().to_owned(), vector)), notice)
            }
            Err(error) => {
                tracing::warn!(%error, "a query has no embedding");
                (None, Some(SearchNotice::EmbeddingsFailed))
            }
        }
    }
}

impl Searched {
    fn find(&self, terms: &QueryTerms, vector: Option<&QueryVector>, limit: usize, stop: &StopFlag) -> Vec<ArticleHit> {
        let texts = self.0.iter().flat_map(|article| article.texts.iter().map(AsRef::as_ref));
        let mut rankings = vec![best(terms.rank(texts, stop))];
        rankings.extend(vector.map(|vector| best(self.cosines(vector, stop))));
        self.group(&fuse(&rankings), limit)
    }

    /// The cosine of each chunk that has a vector of the query's model.
    fn cosines(&self, (model, query): &QueryVector, stop: &StopFlag) -> Vec<(u32, f32)> {
        let (mut scores, mut next, length) = (Vec::new(), 0_u32, query.values.len());
        for article in &self.0 {
            let first = next;
            next += article.head.chunks;
            if !article.has_vectors_of(model, length) {
                continue;
            }
            for (number, (values, scale)) in (first..).zip(article.vectors(length)) {
                if number.is_multiple_of(CHECK_INTERVAL) && stop.is_set() {
                    return scores;
                }
                let score = cosine(query, values, scale);
                if score >= MIN_COSINE {
                    scores.push((number, score));
                }
            }
        }
        scores
    }

    /// The best articles with their best chunks.
    fn group(&self, ranked: &[(u32, f32)], limit: usize) -> Vec<ArticleHit> {
        let starts = self.0.iter().scan(0_u32, |next, article| {
            let first = *next;
            *next += article.head.chunks;
            Some((first, article))
        });
        let starts: Vec<(u32, &Arc<LoadedArticle>)> = starts.collect();
        let chunks = ranked.iter().filter_map(|(number, score)| {
            let position = starts.partition_point(|(start, _)| start <= number).checked_sub(1)?;
            let (start, article) = starts.get(position)?;
            let index = usize::try_from(number - start).ok()?;
            Some((position, ChunkHit { index, text: article.texts.get(index)?.to_string(), score: *score }))
        });
        let articles = group(chunks).into_iter().take(limit);
        articles.filter_map(|(at, chunks)| Some(ArticleHit::new(&starts.get(at)?.1.head, chunks))).collect()
    }
}
