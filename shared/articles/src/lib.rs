//! Articles that models search: their text in chunks, embeddings of these, and the tool `search_articles`.
//!
//! [`ArticleWriter`] turns a document into chunks and stores them; [`ArticleSearch`] finds them again, in memory, by
//! their terms (BM25) and by their meaning (cosine of embeddings). Without an embeddings endpoint it searches by terms
//! alone.

mod chunks;
mod collection;
mod collection_cache;
mod config;
#[cfg(feature = "docx")]
mod docx;
mod embeddings;
mod entities;
mod extract;
mod fusion;
mod rendering;
mod search;
mod search_articles;
mod stop;
mod terms;
mod vectors;
mod writer;

pub use config::ArticlesConfig;
#[cfg(feature = "docx")]
pub use docx::docx_to_markdown;
pub use embeddings::{Embeddings, EmbeddingsConfig, EmbeddingsError};
pub use extract::{Document, Format, extract};
pub use search::{ArticleHit, ArticleSearch, ChunkHit, Found, SearchError, SearchNotice};
pub use search_articles::SearchArticles;
pub use writer::{AddError, AddOutcome, ArticleSource, ArticleWriter, article_id};
