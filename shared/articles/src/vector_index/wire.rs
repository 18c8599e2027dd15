//! Requests and responses of Amazon S3 Vectors, API version 2025-07-15, as of November 2026.
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_S3_Vectors.html>

use domain::Membership;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use store::{ChunkPosition, IndexedGeneration, QuantisedVector};

use super::{MAX_RESULTS, VectorIndexAddress};
use crate::vectors::MIN_COSINE;

/// The metadata key with a chunk's text. It can have 2,100 bytes, more than a key that filters.
const TEXT_KEY: &str = "text";

/// The body of each request: the names of bucket and index, and the parameters of the operation.
#[derive(Serialize)]
pub(super) struct Request<'a, T> {
    #[serde(flatten)]
    pub(super) index: &'a VectorIndexAddress,
    #[serde(flatten)]
    pub(super) parameters: T,
}

#[derive(Serialize)]
pub(super) struct PutVector<'a> {
    key: String,
    data: VectorData<'a>,
    metadata: Metadata,
}

/// The components without their scale: a cosine does not depend on it, and whole numbers are short.
#[derive(Serialize)]
struct VectorData<'a> {
    float32: &'a [i8],
}

/// What is stored with a vector.
#[derive(Serialize, Deserialize)]
pub(super) struct Metadata {
    pub(super) collection: String,
    pub(super) model: String,
    pub(super) article: String,
    pub(super) generation: String,
    pub(super) chunk: usize,
    pub(super) part: usize,
    pub(super) first: usize,
    /// For the filter alone: the groups of a result are read from the table.
    #[serde(skip_serializing_if = "Vec::is_empty", skip_deserializing)]
    groups: Vec<String>,
    /// For the full-text search alone: the text of a result is read from the table.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueriedPage {
    pub(super) vectors: Vec<QueriedVector>,
    pub(super) next_token: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct QueriedVector {
    /// Of a search by meaning alone.
    distance: Option<f32>,
    /// Of any other search.
    #[serde(default)]
    scores: Scores,
    /// Any value if another program wrote it.
    pub(super) metadata: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Scores {
    bm25_scores: Vec<IgnoredAny>,
    vector_distance: Option<f32>,
}

impl QueriedVector {
    /// Whether the chunk has terms of the query, or is similar to it.
    pub(super) fn fits(&self) -> bool {
        let distance = self.distance.or(self.scores.vector_distance);
        !self.scores.bm25_scores.is_empty() || distance.is_none_or(|far| far <= 1.0 - MIN_COSINE)
    }
}

#[derive(Deserialize)]
pub(super) struct GetIndexResponse {
    pub(super) index: IndexDescription,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IndexDescription {
    pub(super) dimension: usize,
    pub(super) distance_metric: String,
    #[serde(default)]
    metadata_configuration: MetadataConfiguration,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MetadataConfiguration {
    non_filterable_metadata_keys: Vec<String>,
    text_search_configurations: Vec<TextSearchConfiguration>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TextSearchConfiguration {
    metadata_key: String,
    status: Option<String>,
}

impl IndexDescription {
    /// Whether the index takes texts as metadata.
    pub(super) fn stores_text(&self) -> bool {
        self.metadata_configuration.non_filterable_metadata_keys.iter().any(|key| key == TEXT_KEY)
    }

    /// Whether the index can be searched by terms.
    pub(crate) fn searches_text(&self) -> bool {
        let is_ready = |search: &TextSearchConfiguration| {
            search.metadata_key == TEXT_KEY && search.status.as_deref().is_none_or(|status| status == "ACTIVE")
        };
        self.stores_text() && self.metadata_configuration.text_search_configurations.iter().any(is_ready)
    }
}

/// The parameters of `QueryVectors`: with a vector and a text the service ranks by both (hybrid search). The filter selects
/// the vectors of one model in the collections that a caller may see, without some generations.
pub(super) fn query(
    collections: &[String],
    groups: Option<Value>,
    model: &str,
    vector: Option<&QuantisedVector>,
    text: Option<&str>,
    replaced: &[String],
) -> Map<String, Value> {
    let mut conditions = vec![json!({ "collection": { "$in": collections } }), json!({ "model": { "$eq": model } })];
    conditions.extend(groups);
    if !replaced.is_empty() {
        conditions.push(json!({ "generation": { "$nin": replaced } }));
    }
    let parameters = [
        ("topK", MAX_RESULTS.into()),
        ("filter", json!({ "$and": conditions })),
        ("returnMetadata", true.into()),
        // A search with texts has its distances in its scores.
        ("returnDistance", text.is_none().into()),
        ("returnScores", text.is_some().into()),
    ];
    let vector = vector.map(|vector| ("queryVector", json!({ "float32": vector.values })));
    let text = text.map(|text| ("queryTexts", json!([{ "text": text, "metadataKey": TEXT_KEY }])));
    let all = parameters.into_iter().chain(vector).chain(text);
    all.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The condition of what a caller may find: what is for no group or for one of its groups. `None` for administrators.
pub(super) fn group_filter(caller: &Membership) -> Option<Value> {
    // Compared with an array, `$eq` is true if the value is one of its elements.
    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/s3-vectors-metadata-filtering.html, 2026-11-26.
    let of_group = |name: &String| json!({ "groups": { "$eq": group_name(name) } });
    let for_all = json!({ "groups": { "$exists": false } });
    let conditions: Vec<Value> = [for_all].into_iter().chain(caller.groups.names().iter().map(of_group)).collect();
    (!caller.is_administrator).then(|| json!({ "$or": conditions }))
}

/// The name of a group in the index.
fn group_name(name: &str) -> String {
    hex::encode(Sha256::digest(name.as_bytes())).chars().take(16).collect()
}

/// The vectors of a generation; a chunk without a vector has none.
pub(super) fn vectors<'a>(
    collection: &'a str,
    generation: IndexedGeneration<'a>,
    stores_text: bool,
) -> impl Iterator<Item = PutVector<'a>> {
    let positions = IndexedGeneration::positions(generation.part_lengths);
    positions.zip(generation.chunks).filter_map(move |(ChunkPosition { number, part, first }, chunk)| {
        let metadata = Metadata {
            collection: collection.to_owned(),
            model: generation.model.name.clone(),
            article: generation.article.to_owned(),
            generation: generation.id.to_owned(),
            chunk: number,
            part,
            first,
            groups: generation.groups.names().iter().map(|name| group_name(name)).collect(),
            text: stores_text.then(|| chunk.text.clone()),
        };
        let data = VectorData { float32: &chunk.vector.as_ref()?.values };
        Some(PutVector { key: key(collection, generation.id, number), data, metadata })
    })
}

/// The key of a chunk's vector.
pub(super) fn key(collection: &str, generation: &str, number: usize) -> String {
    format!("{collection}/{generation}/{number}")
}
