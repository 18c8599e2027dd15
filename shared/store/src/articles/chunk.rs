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

impl ArticleChunk {
    /// The size of text and vector in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.vector.as_ref().map_or(0, |vector| vector.values.len() + SCALE_BYTES)
    }
}
