//! Articles that models search: their text in chunks, embeddings of these, and the tool `search_articles`.
//!
//! [`ArticleWriter`] turns a document into chunks and stores them; [`ArticleSearch`] finds them again, in memory, by
//! their terms (BM25) and by their meaning (cosine of embeddings). Without an embeddings endpoint it searches by terms
//! alone. With a vector index it keeps nothing in memory: Amazon S3 Vectors ranks, and the table has the texts.

mod attempts;
mod chunks;
mod collection;
mod config;
mod embeddings;
#[cfg(test)]
mod fuzz;
mod index_search;
mod ranking;
mod rendering;
mod search;
mod search_articles;
mod search_result;
mod terms;
mod vector_index;
mod vectors;
mod writer;

pub use config::ArticlesConfig;
pub use embeddings::{ClientEmbeddings, Embeddings, EmbeddingsConfig, EmbeddingsError, EmbeddingsRequest};
pub use files::{ExtractError, Format};
pub use search::ArticleSearch;
pub use search_articles::SearchArticles;
pub use search_result::{ArticleHit, ChunkHit, Found, SearchError, SearchNotice};
pub use vector_index::{VectorIndex, VectorIndexAddress, VectorIndexConfig, VectorIndexError};
pub use writer::{AddError, ArticleSource, ArticleWriter, article_id};
