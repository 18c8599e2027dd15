//! Vectors of chunks in Amazon S3 Vectors.
//!
//! A vector's key is `COLLECTION/GENERATION/NUMBER`. Its metadata have the collection and the model, by which queries
//! filter, and the chunk's position in the table. The texts of results are read from the table; with a key `text` that
//! does not filter, the index has them too, for its full-text search.
//!
//! A collection is named `shared`, or by the SHA-256 of its owner's name, which is not in the index. Groups are named by the
//! beginning of that of their names, because the metadata that filter have 2 KB in all.

mod error;
mod wire;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use domain::Membership;
use platform::aws::{Call, Method, S3_VECTORS, Service};
use platform::settings::{SettingError, Settings};
use platform::transport::Client;
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use sha2::{Digest, Sha256};
use store::{ArticleCollection, ChunkIndex, ChunkPosition, IndexedGeneration, QuantisedVector, StoreError};
use work::{RefreshPolicy, Refreshed};

use self::wire::IndexDescription;
use crate::attempts::Attempts;

pub use self::error::VectorIndexError;

/// The setting that names the index.
pub(crate) const SETTING: &str = "ARTICLES_VECTORS";

/// How many vectors a request adds or deletes: about 450 KB of 1,024 components each. The service accepts 500.
const BATCH_VECTORS: usize = 100;

/// How many chunks a query finds.
const MAX_RESULTS: usize = 100;

const MAX_PAGES: usize = 10;

/// How long the description of the index is used.
const DESCRIPTION_POLICY: RefreshPolicy =
    RefreshPolicy { fresh_for: Duration::from_mins(5), usable_for: Duration::ZERO, retry_interval: Duration::ZERO };

/// Attempts of a search, whose caller waits: it may take 30 seconds in all.
const QUERY: Attempts = Attempts {
    count: 2,
    timeout: Duration::from_secs(12),
    first_pause: Duration::from_millis(200),
    max_pause: Duration::from_secs(10),
};

/// Attempts of a change, which can wait while the service limits the rate.
const CHANGE: Attempts = Attempts { count: 6, ..QUERY };

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
    http: Client,
    config: VectorIndexConfig,
    name: String,
    description: Refreshed<Arc<IndexDescription>, VectorIndexError>,
}

/// A chunk that a query found, by its position in an article.
pub(crate) type IndexHit = (IndexedArticle, ChunkPosition);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IndexedArticle {
    /// One of those that were searched.
    pub(crate) collection: ArticleCollection,
    pub(crate) id: String,
    pub(crate) generation: String,
}

impl VectorIndexConfig {
    /// Reads `ARTICLES_VECTORS`, and region and credentials of the environment; `None` without it.
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
        let name = format!("{}/{}", config.address.bucket, config.address.index);
        Self(Arc::new(Parts { http: http.clone(), config, name, description: Refreshed::new(DESCRIPTION_POLICY) }))
    }

    /// How the index was created (`GetIndex`); one request in some minutes.
    pub(crate) async fn describe(&self) -> Result<Arc<IndexDescription>, VectorIndexError> {
        let read = async || {
            let response: wire::GetIndexResponse = self.call("GetIndex", serde_json::Map::new(), QUERY).await?;
            let is_cosine = response.index.distance_metric == "cosine";
            is_cosine.then(|| Arc::new(response.index)).ok_or(VectorIndexError::NotCosine)
        };
        self.0.description.get(SystemTime::now(), read).await
    }

    /// Checks that the index exists and takes vectors of this length; 0 if it is not known.
    pub(crate) async fn check_dimensions(&self, dimensions: usize) -> Result<(), VectorIndexError> {
        let index = self.describe().await?.dimension;
        if dimensions == 0 || index == dimensions {
            return Ok(());
        }
        Err(VectorIndexError::OtherDimensions { index, model: dimensions })
    }

    /// Finds the chunks of a model that a caller may find in collections by a vector, a text or both, without some
    /// generations, in the order of the service, the best first. Chunks of other collections are never returned, whatever
    /// the index answers.
    pub(crate) async fn query(
        &self,
        (collections, membership): (&[ArticleCollection], &Membership),
        model: &str,
        vector: Option<&QuantisedVector>,
        text: Option<&str>,
        replaced: &[String],
    ) -> Result<Vec<IndexHit>, VectorIndexError> {
        let names: Vec<String> = collections.iter().map(collection_name).collect();
        let mut parameters = wire::query(&names, wire::group_filter(membership), model, vector, text, replaced);
        let mut hits = Vec::new();
        for _ in 0..MAX_PAGES {
            let page: wire::QueriedPage = self.call("QueryVectors", &parameters, QUERY).await?;
            let fitting = page.vectors.into_iter().filter(wire::QueriedVector::fits);
            hits.extend(fitting.filter_map(|vector| hit(vector.metadata, collections, &names, model)));
            let Some(token) = page.next_token.filter(|_| hits.len() < MAX_RESULTS) else { break };
            parameters.insert("nextToken".to_owned(), token.into());
        }
        hits.truncate(MAX_RESULTS);
        Ok(hits)
    }

    /// Calls an operation, with retries: all operations here are idempotent.
    async fn call<T: DeserializeOwned>(
        &self,
        operation: &str,
        parameters: impl Serialize,
        attempts: Attempts,
    ) -> Result<T, VectorIndexError> {
        let request = wire::Request { index: &self.0.config.address, parameters };
        let body = serde_json::to_vec(&request).map_err(|_| VectorIndexError::BadResponse)?;
        let (Parts { http, config, .. }, path) = (&*self.0, &format!("/{operation}"));
        let signed = || async {
            let headers = &[("content-type", "application/json")];
            let call = Call { method: Method::POST, path, headers, body: body.clone() };
            let request = config.service.signed_request(http, call, SystemTime::now()).await;
            request.map_err(|_| VectorIndexError::BadResponse)
        };
        let response = attempts.send(signed, |error| *error == VectorIndexError::Unavailable).await?;
        serde_json::from_slice(&response).map_err(|_| VectorIndexError::BadResponse)
    }
}

#[async_trait]
impl ChunkIndex for VectorIndex {
    fn name(&self) -> &str {
        &self.0.name
    }

    async fn put(&self, collection: &ArticleCollection, generation: IndexedGeneration<'_>) -> Result<(), StoreError> {
        let stores_text = self.describe().await?.stores_text();
        let name = collection_name(collection);
        let vectors: Vec<_> = wire::vectors(&name, generation, stores_text).collect();
        for vectors in vectors.chunks(BATCH_VECTORS) {
            let _: IgnoredAny = self.call("PutVectors", BTreeMap::from([("vectors", vectors)]), CHANGE).await?;
        }
        Ok(())
    }

    async fn delete(&self, collection: &ArticleCollection, generation: &str, chunks: u32) -> Result<(), StoreError> {
        let name = collection_name(collection);
        let numbers = 0..usize::try_from(chunks).unwrap_or_default();
        let keys: Vec<String> = numbers.map(|number| wire::key(&name, generation, number)).collect();
        for keys in keys.chunks(BATCH_VECTORS) {
            let _: IgnoredAny = self.call("DeleteVectors", serde_json::json!({ "keys": keys }), CHANGE).await?;
        }
        Ok(())
    }
}

/// A result of the service, if it is of these collections and this model.
fn hit(
    metadata: Option<serde_json::Value>,
    collections: &[ArticleCollection],
    names: &[String],
    model: &str,
) -> Option<IndexHit> {
    let found: wire::Metadata = serde_json::from_value(metadata?).ok()?;
    let collection = names.iter().zip(collections).find(|(name, _)| **name == found.collection);
    let Some((_, collection)) = collection.filter(|_| found.model == model) else {
        tracing::error!("the vector index returned a vector that its filter excludes");
        return None;
    };
    let position = ChunkPosition { number: found.chunk, part: found.part, first: found.first };
    let collection = collection.clone();
    Some((IndexedArticle { collection, id: found.article, generation: found.generation }, position))
}

fn collection_name(collection: &ArticleCollection) -> String {
    match collection {
        ArticleCollection::Shared => "shared".to_owned(),
        ArticleCollection::Of(owner) => hex::encode(Sha256::digest(owner.as_str().as_bytes())),
    }
}

/// A vector index, written `s3vectors://BUCKET/INDEX`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VectorIndexAddress {
    #[serde(rename = "vectorBucketName")]
    pub(super) bucket: String,
    #[serde(rename = "indexName")]
    pub(super) index: String,
}

impl VectorIndexAddress {
    /// Parses an address. `None` for names that S3 Vectors does not accept.
    pub fn parse(text: &str) -> Option<Self> {
        let (bucket, index) = text.strip_prefix("s3vectors://")?.split_once('/')?;
        let is_usable = is_name(bucket, &['-']) && is_name(index, &['-', '.']);
        is_usable.then(|| Self { bucket: bucket.to_owned(), index: index.to_owned() })
    }
}

/// Whether a name has 3 to 63 lower-case letters, digits and characters of `inner`, the latter not at its ends.
fn is_name(name: &str, inner: &[char]) -> bool {
    let is_outer = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let is_any = |character: char| is_outer(character) || inner.contains(&character);
    (3..=63).contains(&name.len()) && name.chars().all(is_any) && name.starts_with(is_outer) && name.ends_with(is_outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_names_bucket_and_index() {
        let address = VectorIndexAddress::parse("s3vectors://lambda-chat/articles.v2").unwrap();
        assert_eq!((address.bucket.as_str(), address.index.as_str()), ("lambda-chat", "articles.v2"));
    }

    #[test]
    fn other_addresses_are_rejected() {
        for text in [
            "",
            "articles",
            "s3://bucket/articles",
            "s3vectors://bucket",
            "s3vectors://bucket/",
            "s3vectors:///articles",
            "s3vectors://bucket/a/b",
            "s3vectors://Bucket/articles",
            "s3vectors://bu.cket/articles",
            "s3vectors://bucket/ab",
            "s3vectors://bucket/-articles",
            "s3vectors://bucket/articles-",
            "s3vectors://bucket/art_icles",
            &format!("s3vectors://bucket/{}", "a".repeat(64)),
        ] {
            assert_eq!(VectorIndexAddress::parse(text), None, "{text}");
        }
    }
}
