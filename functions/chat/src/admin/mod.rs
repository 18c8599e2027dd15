//! What administrators define; everybody else is refused with `forbidden`.

pub(crate) mod agents;
pub(crate) mod executions;
pub(crate) mod import;
mod shown;
pub(crate) mod tools;
pub(crate) mod trial;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use conversation::ErrorCode;
use store::DefineError;
use web::ApiError;

/// The id in a path.
fn id(path: Result<Path<String>, PathRejection>) -> Result<String, ApiError> {
    path.map(|Path(id)| id).map_err(|_| ErrorCode::NotFound.into())
}

/// Why a definition was not stored.
fn refused(error: DefineError) -> ApiError {
    match error {
        DefineError::NotFound => ErrorCode::NotFound.into(),
        DefineError::Taken => ApiError::new(ErrorCode::InvalidRequest, "`name` or `id` is taken by another one"),
        DefineError::Store(error) => crate::chat::storage(&error),
    }
}
