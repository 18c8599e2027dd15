//! Items with several chunks: their texts as JSON, their vectors as bytes.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use super::ArticleCollection;
use super::article::NewArticle;
use super::chunk::{ArticleChunk, QuantisedVector, SCALE_BYTES, VectorStorage};
use crate::item::{Item, ItemExt, item, s, to_json};
use crate::{Result, StoreError};

/// The maximum size of the chunks of one item in bytes; an item holds 400 KB with its keys, and JSON escapes some
/// characters.
const MAX_PART_BYTES: usize = 200_000;

/// The same for chunks whose vectors are in an index: a search reads single items then, so they are small.
const MAX_INDEXED_PART_BYTES: usize = 16_000;

/// Consecutive chunks of one generation of an article.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkPart {
    /// The id of the article.
    pub article: String,
    /// The generation of its chunks.
    pub generation: String,
    /// The chunks; a part of a lower key has the earlier ones.
    pub chunks: Vec<ArticleChunk>,
}

/// A page of a collection's chunks.
#[derive(Clone, Debug)]
pub struct ChunkPage {
    /// The parts in order of article, generation and position.
    pub parts: Vec<ChunkPart>,
    /// Where the next page starts; `None` after the last.
    pub next: Option<PageStart>,
}

/// Where a page starts.
#[derive(Clone, Debug)]
pub struct PageStart(pub(super) Item);

/// The items of all chunks of an article, with the number of chunks in each.
pub(super) fn part_items(
    collection: &ArticleCollection,
    article: &NewArticle,
    generation: &str,
    vectors: VectorStorage,
) -> (Vec<Item>, Vec<usize>) {
    let (mut items, mut lengths) = (Vec::new(), Vec::new());
    let mut rest = article.chunks.as_slice();
    while !rest.is_empty() {
        let (part, more) = rest.split_at(part_length(rest, vectors));
        let key = collection.part_key(&article.id, generation, items.len());
        let texts: Vec<&str> = part.iter().map(|chunk| chunk.text.as_str()).collect();
        let attributes = [("article", s(&article.id)), ("generation", s(generation)), ("texts", s(to_json(&texts)))];
        let bytes: Vec<u8> = part.iter().filter_map(|chunk| vectors.stored(chunk)).flat_map(to_bytes).collect();
        let vectors = (!bytes.is_empty()).then(|| ("vectors", AttributeValue::B(Blob::new(bytes))));
        items.push(item(&key, attributes.into_iter().chain(vectors)));
        lengths.push(part.len());
        rest = more;
    }
    (items, lengths)
}

/// The number of chunks that fit into one item, at least one.
fn part_length(chunks: &[ArticleChunk], vectors: VectorStorage) -> usize {
    let mut bytes = 0;
    let limit = match vectors {
        VectorStorage::Table => MAX_PART_BYTES,
        VectorStorage::Index => MAX_INDEXED_PART_BYTES,
    };
    let fits = |chunk: &&ArticleChunk| {
        bytes += vectors.bytes(chunk);
        bytes <= limit
    };
    chunks.iter().take_while(fits).count().max(1)
}

fn to_bytes(vector: &QuantisedVector) -> impl Iterator<Item = u8> {
    let values = vector.values.iter().map(|value| value.cast_unsigned());
    vector.scale.to_le_bytes().into_iter().chain(values)
}

pub(super) fn read_part(item: &Item) -> Result<ChunkPart> {
    item.check_version("an article")?;
    let texts: Vec<String> = item.json("texts")?;
    let vectors = item.get("vectors").and_then(|value| value.as_b().ok()).map(Blob::as_ref);
    let mut vectors = read_vectors(vectors.unwrap_or_default(), texts.len())?.into_iter();
    let chunks = texts.into_iter().map(|text| ArticleChunk { text, vector: vectors.next() }).collect();
    Ok(ChunkPart { article: item.text("article")?.to_owned(), generation: item.text("generation")?.to_owned(), chunks })
}

/// Reads the vectors of `count` chunks; none from no bytes.
fn read_vectors(bytes: &[u8], count: usize) -> Result<Vec<QuantisedVector>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let length = bytes.len().checked_div(count).filter(|length| length * count == bytes.len() && *length > SCALE_BYTES);
    let length = length.ok_or_else(|| StoreError::fault("vectors that are not readable"))?;
    let vector = |bytes: &[u8]| {
        let (scale, values) = bytes.split_first_chunk()?;
        let values = values.iter().map(|value| value.cast_signed()).collect();
        Some(QuantisedVector { scale: f32::from_le_bytes(*scale), values })
    };
    Ok(bytes.chunks_exact(length).filter_map(vector).collect())
}
