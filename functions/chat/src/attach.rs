//! Readers of turns that somebody else began.

use std::time::SystemTime;

use store::{Owner, ReadError};
use tokio::time::Instant;
use web::ApiError;

use crate::App;
use crate::begin::{self, Told};
use crate::chat::storage;
use crate::repeat;

/// The running turn of a conversation from its first event on, wherever it runs.
pub(crate) async fn running(app: &App, owner: &Owner, conversation_id: &str) -> Result<Option<Told>, ApiError> {
    match app.store.conversations.running(owner, conversation_id, SystemTime::now()).await {
        Ok(Some(turn)) => {
            let longest = begin::deadline(app, None, Instant::now());
            repeat::attach(app, owner.clone(), turn, longest).await.map(Some)
        }
        Ok(None) | Err(ReadError::NotFound | ReadError::BadCursor) => Ok(None),
        Err(ReadError::Store(error)) => Err(storage(&error)),
    }
}
