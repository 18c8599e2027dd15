//! Requests and responses of Amazon S3 Vectors, API version 2025-07-15.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_S3_Vectors.html>

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{ChunkPosition, IndexedGeneration};

use super::VectorIndexAddress;

/// The metadata key with a chunk's text. It can have 2,100 bytes, more than a key that filters.
pub(super) const TEXT_KEY: &str = "text";

/// Names the index in each request.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IndexName<'a> {
    vector_bucket_name: &'a str,
    index_name: &'a str,
}

impl<'a> From<&'a VectorIndexAddress> for IndexName<'a> {
    fn from(address: &'a VectorIndexAddress) -> Self {
        Self { vector_bucket_name: &address.bucket, index_name: &address.index }
    }
}

#[derive(Serialize)]
pub(super) struct PutVectors<'a> {
    #[serde(flatten)]
    pub(super) index: IndexName<'a>,
    pub(super) vectors: &'a [PutVector<'a>],
}

#[derive(Serialize)]
pub(super) struct PutVector<'a> {
    pub(super) key: String,
    pub(super) data: VectorData<'a>,
    pub(super) metadata: Metadata<'a>,
}

/// The components without their scale: a cosine does not depend on it, and whole numbers are short.
#[derive(Serialize)]
pub(super) struct VectorData<'a> {
    pub(super) float32: &'a [i8],
}

/// What is stored with a vector.
#[derive(Serialize)]
pub(super) struct Metadata<'a> {
    pub(super) collection: &'a str,
    pub(super) model: &'a str,
    pub(super) article: &'a str,
    pub(super) generation: &'a str,
    pub(super) chunk: usize,
    pub(super) part: usize,
    pub(super) first: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
}

#[derive(Serialize)]
pub(super) struct DeleteVectors<'a> {
    #[serde(flatten)]
    pub(super) index: IndexName<'a>,
    pub(super) keys: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueryVectors<'a> {
    #[serde(flatten)]
    pub(super) index: IndexName<'a>,
    pub(super) top_k: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query_vector: Option<VectorData<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) query_texts: Option<[QueryText<'a>; 1]>,
    pub(super) filter: Value,
    pub(super) return_metadata: bool,
    pub(super) return_distance: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_token: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueryText<'a> {
    pub(super) text: &'a str,
    pub(super) metadata_key: &'a str,
}

#[derive(Serialize)]
pub(super) struct GetIndex<'a> {
    #[serde(flatten)]
    pub(super) index: IndexName<'a>,
}

/// A response without fields that matter.
#[derive(Deserialize)]
pub(super) struct Done {}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueriedPage {
    pub(super) vectors: Vec<QueriedVector>,
    pub(super) next_token: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct QueriedVector {
    pub(super) distance: Option<f32>,
    /// Any value if another program wrote it.
    pub(super) metadata: Option<Value>,
}

/// The metadata of a found vector.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(super) struct FoundMetadata {
    pub(super) collection: String,
    pub(super) model: String,
    pub(super) article: String,
    pub(super) generation: String,
    chunk: usize,
    part: usize,
    first: usize,
}

impl FoundMetadata {
    pub(super) fn position(&self) -> ChunkPosition {
        ChunkPosition { number: self.chunk, part: self.part, first: self.first }
    }
}

#[derive(Deserialize)]
pub(super) struct GetIndexResponse {
    pub(super) index: IndexDetails,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct IndexDetails {
    pub(super) dimension: usize,
    pub(super) distance_metric: String,
    #[serde(default)]
    pub(super) metadata_configuration: MetadataConfiguration,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MetadataConfiguration {
    pub(super) non_filterable_metadata_keys: Vec<String>,
    pub(super) text_search_configurations: Vec<TextSearchConfiguration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TextSearchConfiguration {
    pub(super) metadata_key: String,
    pub(super) status: Option<String>,
}

/// Selects the vectors of one model in the collections that a caller may see, without some generations.
pub(super) fn filter(collections: &[String], model: &str, replaced: &[String]) -> Value {
    let mut conditions = vec![json!({ "collection": { "$in": collections } }), json!({ "model": { "$eq": model } })];
    if !replaced.is_empty() {
        conditions.push(json!({ "generation": { "$nin": replaced } }));
    }
    json!({ "$and": conditions })
}

/// The vectors of a generation; a chunk without a vector has none.
pub(super) fn vectors<'a>(
    collection: &'a str,
    generation: IndexedGeneration<'a>,
    stores_text: bool,
) -> impl Iterator<Item = PutVector<'a>> {
    let (part_lengths, chunks) = (generation.part_lengths, generation.chunks);
    let positions = IndexedGeneration::positions(part_lengths);
    positions.zip(chunks).filter_map(move |(ChunkPosition { number, part, first }, chunk)| {
        let metadata = Metadata {
            collection,
            model: &generation.model.name,
            article: generation.article,
            generation: generation.id,
            chunk: number,
            part,
            first,
            text: stores_text.then_some(chunk.text.as_str()),
        };
        let data = VectorData { float32: &chunk.vector.as_ref()?.values };
        Some(PutVector { key: key(collection, generation.id, number), data, metadata })
    })
}

/// The key of a chunk's vector.
pub(super) fn key(collection: &str, generation: &str, number: usize) -> String {
    format!("{collection}/{generation}/{number}")
}
