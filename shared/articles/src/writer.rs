//! Documents into stored articles.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use domain::{Groups, Owner};
use sha2::{Digest, Sha256};
use store::{
    ArticleChunk, ArticleCollection, Articles, ChunkIndex, EmbeddingModel, NewArticle, StoreError, StoredArticle,
};
use url::Url;
use work::SHORT_WORK;

use crate::chunks::divide;
use crate::vector_index::VectorIndex;
use crate::{ArticlesConfig, Embeddings, EmbeddingsError, Format, VectorIndexError};
use files::{ExtractError, extract};

const MAX_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;

/// The maximum number of chunks of an article.
const MAX_CHUNKS: usize = 5_000;

/// The longest address of an article, in bytes.
const MAX_URL_BYTES: usize = 2048;

const MAX_TITLE_CHARS: usize = 300;

/// The length of an article's id.
const ID_CHARS: usize = 32;

/// Part of every digest: another reading or division of a format's texts makes its articles changed ones.
fn division(format: Format) -> &'static str {
    match format {
        #[cfg(feature = "html")]
        Format::Html => "2",
        _ => "1",
    }
}

/// A document that becomes an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleSource {
    /// What it is known by, such as its address or its path: a later document of the same key replaces it.
    pub key: String,
    /// Its title; the document's own one, else the key, if it is absent.
    pub title: Option<String>,
    /// Where people can read it: `http` or `https`.
    pub url: Option<String>,
    /// The groups whose members may find it, none for every caller; `None` for those of the stored article.
    pub groups: Option<Groups>,
    /// Its content.
    pub text: String,
    /// The format of the content.
    pub format: Format,
}

/// Why a document was not added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddError {
    /// It has no text.
    #[error("it has no text")]
    NoText,
    /// It is too long.
    #[error("it is too long: at most {} MiB and {MAX_CHUNKS} chunks are accepted", MAX_DOCUMENT_BYTES / 1024 / 1024)]
    TooLong,
    /// It exceeds a bound of its format.
    #[error("it cannot be read: {0}")]
    TooComplex(#[from] ExtractError),
    /// The reading failed.
    #[error("it cannot be read")]
    Unreadable,
    /// The address is not on the web.
    #[error("its address must begin with http:// or https://, with at most {MAX_URL_BYTES} bytes")]
    InvalidUrl,
    /// Its chunks have no embeddings.
    #[error(transparent)]
    Embeddings(#[from] EmbeddingsError),
    /// The vector index does not take its vectors.
    #[error(transparent)]
    Index(#[from] VectorIndexError),
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Adds documents to collections.
#[derive(Clone)]
pub struct ArticleWriter {
    store: Articles,
    embeddings: Option<Embeddings>,
    index: Option<VectorIndex>,
    /// The length of the model's vectors; 0 until one was made.
    dimensions: Arc<AtomicUsize>,
}

/// The id of the article of a key.
pub fn article_id(key: &str) -> String {
    hex::encode(Sha256::digest(key.as_bytes())).chars().take(ID_CHARS).collect()
}

impl ArticleSource {
    /// Identifies everything that makes the article except its vectors.
    fn digest(&self) -> String {
        let mut hash = Sha256::new();
        let format = format!("{:?}", self.format);
        let (title, url) = (self.title.as_deref().unwrap_or_default(), self.url.as_deref().unwrap_or_default());
        for part in [division(self.format), &format, title, url, &self.text] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hex::encode(hash.finalize())
    }

    /// Reads the title, the texts of chunks and the digest; `None` if the digest is that of the stored article.
    fn read(self, stored_digest: Option<&str>) -> Result<Option<(String, Vec<String>, String)>, AddError> {
        let digest = self.digest();
        if stored_digest == Some(digest.as_str()) {
            return Ok(None);
        }
        let document = extract(&self.text, self.format)?;
        let title = self.title.or(document.title.clone()).unwrap_or(self.key);
        let title: String = tools::strip_invisible(&title).chars().take(MAX_TITLE_CHARS).collect();
        let texts = divide(&document, &title);
        match texts.len() {
            0 => Err(AddError::NoText),
            count if count > MAX_CHUNKS => Err(AddError::TooLong),
            _ => Ok(Some((title, texts, digest))),
        }
    }

    fn check(&self) -> Result<(), AddError> {
        if self.text.len() > MAX_DOCUMENT_BYTES {
            return Err(AddError::TooLong);
        }
        let is_on_web = |url: &String| {
            let parsed = Url::parse(url).is_ok_and(|parsed| matches!(parsed.scheme(), "http" | "https"));
            parsed && url.len() <= MAX_URL_BYTES && !url.contains(char::is_whitespace)
        };
        if self.url.as_ref().is_none_or(is_on_web) { Ok(()) } else { Err(AddError::InvalidUrl) }
    }
}

impl ArticleWriter {
    /// Creates a writer; makes no call.
    pub fn new(store: Articles, config: &ArticlesConfig, http: &platform::transport::Client) -> Self {
        let embeddings = config.embeddings.clone().map(|config| Embeddings::new(config, http.clone()));
        let index = config.index(http);
        let store = match &index {
            Some(index) => store.with_index(Arc::new(index.clone())),
            None => store,
        };
        Self { store, embeddings, index, dimensions: Arc::default() }
    }

    /// Prepares the adding of documents: deletes what earlier interruptions left, and records that there are articles.
    pub async fn prepare(&self, collection: &ArticleCollection, now: SystemTime) -> Result<(), StoreError> {
        self.store.announce().await?;
        self.store.clean(collection, now).await.map(|_| ())
    }

    /// Adds a document for `owner`, who waits for a thread that reads it, in place of the article `known`. Returns the stored
    /// article, or `None` if it is unchanged.
    ///
    /// An unchanged document is not embedded again, unless it is for other groups, or its vectors are of another model or in
    /// another index than the configured ones.
    pub async fn add(
        &self,
        owner: &Owner,
        collection: &ArticleCollection,
        source: ArticleSource,
        known: Option<&StoredArticle>,
        now: SystemTime,
    ) -> Result<Option<StoredArticle>, AddError> {
        source.check()?;
        let id = known.map_or_else(|| article_id(&source.key), |known| known.id.clone());
        let url = source.url.clone();
        let groups = source.groups.clone().or_else(|| known.map(|known| known.groups.clone())).unwrap_or_default();
        let is_current = |known: &&StoredArticle| known.groups == groups && self.has_current_vectors(known);
        let current = known.filter(is_current).map(|known| known.digest.clone());
        let read = SHORT_WORK.run(owner, move |_| source.read(current.as_deref())).await;
        let Some((title, texts, digest)) = read.ok_or(AddError::Unreadable)?? else {
            return Ok(None);
        };
        let (model, chunks) = self.embed(texts).await?;
        let article = NewArticle { id, title, url, groups, digest, model, chunks };
        Ok(Some(self.store.put(collection, &article, now).await?))
    }

    /// Whether an article has the vectors that it would get now.
    fn has_current_vectors(&self, known: &StoredArticle) -> bool {
        let Some(embeddings) = &self.embeddings else { return true };
        let is_of_model = known.model.as_ref().is_some_and(|model| model.name == embeddings.model());
        is_of_model && known.vector_index.as_deref() == self.index.as_ref().map(ChunkIndex::name)
    }

    /// Checks that the index exists and takes the model's vectors, as far as their length is known.
    async fn check_index(&self) -> Result<(), VectorIndexError> {
        let Some(index) = &self.index else { return Ok(()) };
        index.check_dimensions(self.dimensions.load(Ordering::Relaxed)).await
    }

    async fn embed(&self, texts: Vec<String>) -> Result<(Option<EmbeddingModel>, Vec<ArticleChunk>), AddError> {
        let Some(embeddings) = &self.embeddings else {
            let chunks = texts.into_iter().map(|text| ArticleChunk { text, vector: None });
            return Ok((None, chunks.collect()));
        };
        self.check_index().await?;
        let vectors = embeddings.embed(&texts).await?;
        let length = vectors.first().map_or(0, |vector| vector.values.len());
        self.dimensions.store(length, Ordering::Relaxed);
        self.check_index().await?;
        let dimensions = u32::try_from(length).map_err(|_| EmbeddingsError::BadResponse)?;
        let chunks = texts.into_iter().zip(vectors).map(|(text, vector)| ArticleChunk { text, vector: Some(vector) });
        Ok((Some(EmbeddingModel { name: embeddings.model().to_owned(), dimensions }), chunks.collect()))
    }
}
