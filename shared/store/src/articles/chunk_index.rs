use async_trait::async_trait;

use domain::Groups;

use super::{ArticleChunk, ArticleCollection, EmbeddingModel};
use crate::Result;

/// The vectors of chunks in a service of their own, in step with the articles in the table.
///
/// [`Articles`](super::Articles) writes the vectors of a generation before an article refers to it, and deletes them
/// before the rows that list them. Both calls are repeated after a failure, so they must be idempotent.
#[async_trait]
pub trait ChunkIndex: Send + Sync {
    /// Recorded in each article whose vectors are in this index.
    fn name(&self) -> &str;

    /// Adds the vectors of a new generation.
    async fn put(&self, collection: &ArticleCollection, generation: IndexedGeneration<'_>) -> Result<()>;

    /// Deletes the vectors of a generation, whether there are any or not; `chunks` is the number of its chunks.
    async fn delete(&self, collection: &ArticleCollection, generation: &str, chunks: u32) -> Result<()>;
}

/// One generation of an article's chunks.
#[derive(Clone, Copy, Debug)]
pub struct IndexedGeneration<'a> {
    /// The id of the article.
    pub article: &'a str,
    /// The generation; no other article has the same.
    pub id: &'a str,
    /// The groups whose members may find the article; none for every caller.
    pub groups: &'a Groups,
    /// The model of all vectors.
    pub model: &'a EmbeddingModel,
    /// The chunks in order.
    pub chunks: &'a [ArticleChunk],
    /// The number of chunks in each item of the table, in order.
    pub part_lengths: &'a [usize],
}

impl IndexedGeneration<'_> {
    /// The positions of all chunks, in order, from the number of chunks in each item.
    pub fn positions(part_lengths: &[usize]) -> impl Iterator<Item = ChunkPosition> {
        let parts = part_lengths.iter().enumerate().scan(0_usize, |next, (part, length)| {
            let first = *next;
            *next += length;
            Some((first..*next).map(move |number| ChunkPosition { number, part, first }))
        });
        parts.flatten()
    }
}

/// Where a chunk is in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChunkPosition {
    /// The number of the chunk in its article, from 0.
    pub number: usize,
    /// The number of the item that holds it, from 0.
    pub part: usize,
    /// The number of the first chunk of that item.
    pub first: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_numbered_across_items() {
        let position = |number, part, first| ChunkPosition { number, part, first };
        let positions: Vec<ChunkPosition> = IndexedGeneration::positions(&[2, 1, 2]).collect();
        let expected = [position(0, 0, 0), position(1, 0, 0), position(2, 1, 2), position(3, 2, 3), position(4, 2, 3)];
        assert_eq!(positions, expected);
    }
}
