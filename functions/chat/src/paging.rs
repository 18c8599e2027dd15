//! Lists that come in pages.

use axum::extract::rejection::QueryRejection;
use conversation::ErrorCode;
use serde::Deserialize;
use store::ReadError;
use web::ApiError;

/// The most rows of a page.
const MOST_ROWS: u32 = 100;

/// What a request for a page may say.
#[derive(Deserialize)]
pub(crate) struct Paging {
    limit: Option<String>,
    pub(crate) cursor: Option<String>,
}

impl Paging {
    /// The number of rows.
    pub(crate) fn limit(&self, default: u32) -> Result<u32, ApiError> {
        let Some(text) = &self.limit else { return Ok(default) };
        text.parse().ok().filter(|limit| (1..=MOST_ROWS).contains(limit)).ok_or_else(|| {
            let sentence = format!("`limit` must be a whole number from 1 to {MOST_ROWS}");
            ApiError::new(ErrorCode::InvalidRequest, sentence)
        })
    }
}

/// Why a list cannot be read.
pub(crate) fn refused(error: ReadError) -> ApiError {
    match error {
        ReadError::NotFound => ErrorCode::NotFound.into(),
        ReadError::BadCursor => {
            ApiError::new(ErrorCode::InvalidRequest, "`cursor` must be a `nextCursor` that this list gave")
        }
        ReadError::Store(error) => crate::chat::storage(&error),
    }
}

pub(crate) fn bad_query(_: QueryRejection) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, "The query string cannot be read")
}
