//! Results of a search of articles.

use store::{StoreError, StoredArticle};

use crate::EmbeddingsError;
use crate::vector_index::VectorIndexError;

pub(crate) const MAX_CHUNKS_OF_ARTICLE: usize = 3;

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

impl ArticleHit {
    pub(crate) fn new(head: &StoredArticle, chunks: Vec<ChunkHit>) -> Self {
        Self { id: head.id.clone(), title: head.title.clone(), url: head.url.clone(), chunks }
    }
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

/// What limited a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchNotice {
    /// No embeddings endpoint is configured.
    TermsOnly,
    /// The embeddings endpoint failed.
    EmbeddingsFailed,
    /// Some articles have no vectors, or those of another model: they were searched by their terms.
    OtherModel,
    /// The vector index has no full-text search: articles were searched by their meaning alone.
    MeaningOnly,
    /// Some articles have no vectors of the configured model in the vector index: they were not searched.
    NotIndexed,
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
    /// The vector index failed.
    #[error(transparent)]
    Index(#[from] VectorIndexError),
    /// The query has no embedding, and the vector index cannot be searched by terms.
    #[error(transparent)]
    Embeddings(EmbeddingsError),
    /// The ranking failed.
    #[error("the articles cannot be ranked")]
    Failed,
}
