/// The length of a vector's scale in bytes.
pub(super) const SCALE_BYTES: usize = size_of::<f32>();

/// A chunk of an article.
#[derive(Clone, Debug, PartialEq)]
pub struct ArticleChunk {
    /// Its text, with the headings that it is below.
    pub text: String,
    /// Its embedding.
    pub vector: Option<QuantisedVector>,
}

/// A vector of length 1 whose components are `values` times `scale`.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantisedVector {
    /// The factor of all components.
    pub scale: f32,
    /// From -127 to 127.
    pub values: Vec<i8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VectorStorage {
    /// In the table, with the texts.
    Table,
    /// In an index of their own.
    Index,
}

impl VectorStorage {
    /// The vector of a chunk that the table stores.
    pub(super) fn stored(self, chunk: &ArticleChunk) -> Option<&QuantisedVector> {
        chunk.vector.as_ref().filter(|_| self == Self::Table)
    }

    /// The size in bytes of what the table stores of a chunk.
    pub(super) fn bytes(self, chunk: &ArticleChunk) -> usize {
        chunk.text.len() + self.stored(chunk).map_or(0, |vector| vector.values.len() + SCALE_BYTES)
    }
}
