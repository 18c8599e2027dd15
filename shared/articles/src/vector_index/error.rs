use reqwest::header::HeaderMap;
use store::StoreError;

use crate::attempts::ServiceError;

/// The longest error code that is reported, in characters.
const MAX_CODE_CHARS: usize = 60;

/// The header with the error code of a rejected request.
const ERROR_TYPE: &str = "x-amzn-errortype";

/// Why the vector index did not do what was requested.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VectorIndexError {
    /// No response, or one that a later attempt may not get.
    #[error("the vector index (ARTICLES_VECTORS) cannot be reached or is busy")]
    Unavailable,
    /// Credentials or permissions do not suffice.
    #[error("the vector index (ARTICLES_VECTORS) denies access: the credentials need s3vectors permissions for it")]
    Denied,
    /// There is no such bucket or index in this region.
    #[error("the vector index (ARTICLES_VECTORS) does not exist in this region")]
    Absent,
    /// Another rejection, with the code of the service.
    #[error("the vector index (ARTICLES_VECTORS) rejects the request (status {0} {1})")]
    Rejected(u16, String),
    /// A response that is not of the documented form.
    #[error("a response of the vector index (ARTICLES_VECTORS) cannot be read")]
    BadResponse,
    /// The index is for vectors of another length than those of the embeddings model.
    #[error("the vector index (ARTICLES_VECTORS) is for {index} components, and EMBEDDINGS_MODEL has {model}")]
    OtherDimensions {
        /// The length of the index's vectors.
        index: usize,
        /// The length of the model's vectors.
        model: usize,
    },
    /// The index does not compare by cosine.
    #[error("the vector index (ARTICLES_VECTORS) must have the distance metric cosine")]
    NotCosine,
}

impl ServiceError for VectorIndexError {
    const UNAVAILABLE: Self = Self::Unavailable;
    const BAD_RESPONSE: Self = Self::BadResponse;

    fn of_response(status: u16, headers: &HeaderMap) -> Self {
        let code = headers.get(ERROR_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let code = code.chars().take_while(char::is_ascii_alphanumeric).take(MAX_CODE_CHARS);
        match status {
            401 | 403 => Self::Denied,
            404 => Self::Absent,
            408 | 429 | 500.. => Self::Unavailable,
            status => Self::Rejected(status, code.collect()),
        }
    }
}

impl From<VectorIndexError> for StoreError {
    fn from(error: VectorIndexError) -> Self {
        if error == VectorIndexError::Unavailable { Self::Busy } else { Self::Fault(error.to_string()) }
    }
}
