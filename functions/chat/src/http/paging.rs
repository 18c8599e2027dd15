use domain::ErrorCode;
use serde::Deserialize;
use web::ApiError;

/// Maximum number of rows of a page.
const MAX_ROWS: u32 = 100;

/// The query of a list that is read page by page.
#[derive(Deserialize)]
pub(crate) struct Paging {
    limit: Option<String>,
    pub(crate) cursor: Option<String>,
}

impl Paging {
    /// The number of rows of the page.
    pub(crate) fn limit(&self, default: u32) -> Result<u32, ApiError> {
        let Some(text) = &self.limit else { return Ok(default) };
        text.parse().ok().filter(|limit| (1..=MAX_ROWS).contains(limit)).ok_or_else(|| {
            let message = format!("`limit` must be a whole number from 1 to {MAX_ROWS}");
            ApiError::new(ErrorCode::InvalidRequest, message)
        })
    }
}
