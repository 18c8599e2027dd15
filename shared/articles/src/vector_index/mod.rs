//! Vectors of chunks in Amazon S3 Vectors.
//!
//! A vector's key is `COLLECTION/GENERATION/NUMBER`. Its metadata have the collection and the model, by which queries
//! filter, and the chunk's position in the table. The texts of results are read from the table; with a key `text` that
//! does not filter, the index has them too, for its full-text search.
//!
//! A collection is named `shared`, or by the SHA-256 of its owner's name, which is not in the index.

mod address;
mod client;
mod error;
mod wire;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use platform::aws::{S3_VECTORS, Service};
use platform::settings::{SettingError, Settings};
use platform::transport::Client;
use sha2::{Digest, Sha256};
use store::{ArticleCollection, ChunkIndex, ChunkPosition, IndexedGeneration, QuantisedVector, StoreError};

pub use self::address::VectorIndexAddress;
pub use self::error::VectorIndexError;

use self::client::{Attempts, VectorsClient};
use self::wire::{FoundMetadata, IndexName, QueryText, QueryVectors, TEXT_KEY, VectorData};

/// The setting that names the index.
pub(crate) const SETTING: &str = "ARTICLES_VECTORS";

/// How many vectors a request adds or deletes: about 450 KB of 1,024 components each. The service accepts 500.
const BATCH_VECTORS: usize = 100;

/// How many chunks a query finds.
const MAX_RESULTS: usize = 100;

/// How many pages of results are read.
const MAX_PAGES: usize = 10;

/// How long the description of the index is used.
const DESCRIPTION_AGE: Duration = Duration::from_mins(5);

/// The index of `ARTICLES_VECTORS`.
#[derive(Clone, Debug)]
pub struct VectorIndexConfig {
    address: VectorIndexAddress,
    service: Arc<Service>,
}

/// A vector index; clones share what is known about it.
#[derive(Clone, Debug)]
pub struct VectorIndex(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    client: VectorsClient,
    address: VectorIndexAddress,
    name: String,
    description: Mutex<Option<(Instant, IndexDescription)>>,
}

/// How an index was created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexDescription {
    /// The length of its vectors.
    dimensions: usize,
    /// Whether it takes texts as metadata.
    stores_text: bool,
    /// Whether it can be searched by terms.
    pub(crate) searches_text: bool,
}

/// What a query ranks chunks by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RankBy<'a> {
    /// Similarity to a vector.
    Meaning(&'a QuantisedVector),
    /// The terms of a text, by BM25.
    Terms(&'a str),
}

/// A query of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexQuery<'a> {
    /// Those that the caller may see.
    pub(crate) collections: &'a [ArticleCollection],
    /// The model of the vectors.
    pub(crate) model: &'a str,
    pub(crate) rank_by: RankBy<'a>,
    /// Chunks of a larger cosine distance are left out.
    pub(crate) max_distance: f32,
    /// Generations that are left out.
    pub(crate) replaced: &'a [String],
}

/// A chunk that a query found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct IndexHit {
    /// The position of its collection among those that were searched.
    pub(crate) collection: usize,
    pub(crate) article: String,
    pub(crate) generation: String,
    pub(crate) position: ChunkPosition,
}

impl VectorIndexConfig {
    /// Reads `ARTICLES_VECTORS`, and region and credentials of the environment; `None` without it.
    ///
    /// # Errors
    /// A setting that cannot be parsed, and an index without region or credentials.
    pub fn from_settings(settings: &Settings) -> Result<Option<Self>, SettingError> {
        let Some(address) = settings.parse(SETTING, "s3vectors://BUCKET/INDEX", VectorIndexAddress::parse)? else {
            return Ok(None);
        };
        let service = Service::from_settings(settings, S3_VECTORS, "AWS_ENDPOINT_URL_S3VECTORS")?;
        Ok(Some(Self { address, service: Arc::new(service) }))
    }
}

impl VectorIndex {
    /// Creates the client of an index; makes no call.
    pub fn new(config: VectorIndexConfig, http: &Client) -> Self {
        let VectorIndexConfig { address, service } = config;
        let name = format!("{}/{}", address.bucket, address.index);
        let client = VectorsClient::new(http.clone(), service);
        Self(Arc::new(Parts { client, address, name, description: Mutex::default() }))
    }

    /// How the index was created (`GetIndex`); one request in some minutes.
    pub(crate) async fn describe(&self) -> Result<IndexDescription, VectorIndexError> {
        let known = *self.0.description.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, description)) = known.filter(|(read_at, _)| read_at.elapsed() < DESCRIPTION_AGE) {
            return Ok(description);
        }
        let request = wire::GetIndex { index: self.index() };
        let response: wire::GetIndexResponse = self.0.client.call("GetIndex", &request, Attempts::Query).await?;
        let description = IndexDescription::read(&response.index)?;
        *self.0.description.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), description));
        Ok(description)
    }

    /// Checks that vectors of this length fit into the index.
    pub(crate) async fn check_dimensions(&self, dimensions: usize) -> Result<(), VectorIndexError> {
        let index = self.describe().await?.dimensions;
        if index == dimensions {
            return Ok(());
        }
        Err(VectorIndexError::OtherDimensions { index, model: dimensions })
    }

    /// Finds the chunks of a model in collections, the best first. Chunks of other collections are never returned,
    /// whatever the index answers.
    pub(crate) async fn query(&self, query: IndexQuery<'_>) -> Result<Vec<IndexHit>, VectorIndexError> {
        let IndexQuery { collections, model, rank_by, max_distance, replaced } = query;
        let names: Vec<String> = collections.iter().map(collection_name).collect();
        let (query_vector, query_texts) = match rank_by {
            RankBy::Meaning(vector) => (Some(VectorData { float32: &vector.values }), None),
            RankBy::Terms(text) => (None, Some([QueryText { text, metadata_key: TEXT_KEY }])),
        };
        let mut request = QueryVectors {
            index: self.index(),
            top_k: MAX_RESULTS,
            return_distance: query_vector.is_some(),
            query_vector,
            query_texts,
            filter: wire::filter(&names, model, replaced),
            return_metadata: true,
            next_token: None,
        };
        let mut hits = Vec::new();
        for _ in 0..MAX_PAGES {
            let page: wire::QueriedPage = self.0.client.call("QueryVectors", &request, Attempts::Query).await?;
            let near = page.vectors.into_iter().filter(|vector| vector.distance.is_none_or(|far| far <= max_distance));
            hits.extend(near.filter_map(|vector| hit(vector.metadata, &names, model)));
            request.next_token = page.next_token;
            if request.next_token.is_none() || hits.len() >= MAX_RESULTS {
                break;
            }
        }
        hits.truncate(MAX_RESULTS);
        Ok(hits)
    }

    fn index(&self) -> IndexName<'_> {
        (&self.0.address).into()
    }
}

#[async_trait]
impl ChunkIndex for VectorIndex {
    fn name(&self) -> &str {
        &self.0.name
    }

    async fn put(&self, collection: &ArticleCollection, generation: IndexedGeneration<'_>) -> Result<(), StoreError> {
        let stores_text = self.describe().await?.stores_text;
        let name = collection_name(collection);
        let vectors: Vec<_> = wire::vectors(&name, generation, stores_text).collect();
        for batch in vectors.chunks(BATCH_VECTORS) {
            let request = wire::PutVectors { index: self.index(), vectors: batch };
            let _: wire::Done = self.0.client.call("PutVectors", &request, Attempts::Change).await?;
        }
        Ok(())
    }

    async fn delete(&self, collection: &ArticleCollection, generation: &str, chunks: u32) -> Result<(), StoreError> {
        let name = collection_name(collection);
        let numbers = 0..usize::try_from(chunks).unwrap_or_default();
        let keys: Vec<String> = numbers.map(|number| wire::key(&name, generation, number)).collect();
        for batch in keys.chunks(BATCH_VECTORS) {
            let request = wire::DeleteVectors { index: self.index(), keys: batch };
            let _: wire::Done = self.0.client.call("DeleteVectors", &request, Attempts::Change).await?;
        }
        Ok(())
    }
}

impl IndexDescription {
    fn read(details: &wire::IndexDetails) -> Result<Self, VectorIndexError> {
        if details.distance_metric != "cosine" {
            return Err(VectorIndexError::NotCosine);
        }
        let metadata = &details.metadata_configuration;
        let stores_text = metadata.non_filterable_metadata_keys.iter().any(|key| key == TEXT_KEY);
        let is_ready = |search: &wire::TextSearchConfiguration| {
            search.metadata_key == TEXT_KEY && search.status.as_deref().is_none_or(|status| status == "ACTIVE")
        };
        let searches_text = stores_text && metadata.text_search_configurations.iter().any(is_ready);
        Ok(Self { dimensions: details.dimension, stores_text, searches_text })
    }
}

/// A result of the service, if it is what the query selects.
fn hit(metadata: Option<serde_json::Value>, collections: &[String], model: &str) -> Option<IndexHit> {
    let found: FoundMetadata = serde_json::from_value(metadata?).ok()?;
    let collection = collections.iter().position(|name| *name == found.collection);
    let Some(collection) = collection.filter(|_| found.model == model) else {
        tracing::error!("the vector index returned a vector that its filter excludes");
        return None;
    };
    let position = found.position();
    Some(IndexHit { collection, article: found.article, generation: found.generation, position })
}

/// The name of a collection in the index.
fn collection_name(collection: &ArticleCollection) -> String {
    match collection {
        ArticleCollection::Shared => "shared".to_owned(),
        ArticleCollection::Of(owner) => format!("{:x}", Sha256::digest(owner.as_str().as_bytes())),
    }
}
