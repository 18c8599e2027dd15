//! Files of users: taken in, stored, read by models, and deleted with the messages that use them.

mod blob_key;
mod blobs;
mod bucket;
mod in_prompts;
mod intake;
mod passages;
mod tools;

pub use blobs::Blobs;
pub use bucket::Bucket;
pub use files::{FileError, Reader};
pub use in_prompts::PromptBudget;
pub use intake::{MAX_DIRECT_BYTES, MAX_FILE_BYTES, UploadForm, picture_type, read_once, read_picture};

use std::time::SystemTime;

use domain::{Attachment, AttachmentKind, ErrorCode, Owner, TurnError};
use futures_util::future::try_join_all;
use futures_util::{StreamExt, TryStreamExt, stream};
use store::{FileRecords, StoredFile};
use tokio::task::spawn_blocking;

use crate::blob_key::BlobKey;

/// How many files are deleted at the same time.
const DELETIONS: usize = 16;

/// The files of all owners. Clones share them.
#[derive(Clone)]
pub struct Attachments {
    blobs: Blobs,
    records: FileRecords,
    reader: Reader,
}

impl Attachments {
    /// The files whose content is in `blobs`.
    pub fn new(blobs: Blobs, records: FileRecords, reader: Reader) -> Self {
        Self { blobs, records, reader }
    }

    /// Where browsers send forms with larger files; `None` if this server takes them.
    pub fn upload_address(&self) -> Option<String> {
        match &self.blobs {
            Blobs::Bucket(bucket) => Some(bucket.address()),
            Blobs::Folder(_) => None,
        }
    }

    /// What is known of a file.
    ///
    /// # Errors
    /// `not_found` for another owner's, an expired or an unknown one.
    pub async fn get(&self, owner: &Owner, id: &str) -> Result<StoredFile, TurnError> {
        let record = self.records.get(owner, id, SystemTime::now()).await?;
        Ok(record.filter(|record| !record.is_pending).ok_or(ErrorCode::NotFound)?.file)
    }

    /// The content of a file.
    ///
    /// # Errors
    /// Those of [`Self::get`].
    pub async fn content(&self, owner: &Owner, id: &str) -> Result<Vec<u8>, TurnError> {
        Ok(self.blobs.get(BlobKey::of_file(owner, id)).await?.ok_or(ErrorCode::NotFound)?)
    }

    /// The text of a document, with form feeds between its pages.
    ///
    /// # Errors
    /// `not_found` for a picture, or a file that is gone.
    pub async fn text(&self, owner: &Owner, id: &str) -> Result<String, TurnError> {
        let text = self.blobs.get(BlobKey::of_text(owner, id)).await?.ok_or(ErrorCode::NotFound)?;
        String::from_utf8(text).map_err(|error| TurnError::caused_by(ErrorCode::Internal, error))
    }

    /// Finds the files of a new message.
    ///
    /// # Errors
    /// `not_found` for one that is not the owner's.
    pub async fn find(&self, owner: &Owner, ids: &[String]) -> Result<Vec<Attachment>, TurnError> {
        let records = self.records.get_all(owner, ids, SystemTime::now()).await?;
        let message = "One of the `attachments` does not exist. Files that no message uses are deleted after 24 hours.";
        let records = records.ok_or_else(|| TurnError::new(ErrorCode::NotFound, message))?;
        Ok(records.iter().map(|record| record.file.attachment()).collect())
    }

    /// Keeps the content of the files of a new message, unless its conversation is temporary; repeating it changes nothing.
    ///
    /// # Errors
    /// The failure of a store.
    pub async fn keep_all(&self, owner: &Owner, files: &[Attachment]) -> Result<(), TurnError> {
        try_join_all(files.iter().map(|file| self.keep(owner, file))).await.map(drop)
    }

    async fn keep(&self, owner: &Owner, file: &Attachment) -> Result<(), TurnError> {
        self.blobs.keep(BlobKey::of_file(owner, &file.id)).await?;
        if file.kind == AttachmentKind::Text {
            self.blobs.keep(BlobKey::of_text(owner, &file.id)).await?;
        }
        Ok(())
    }

    /// Deletes a file, whichever messages use it; they still name it.
    ///
    /// # Errors
    /// `not_found`, or the failure of a store; the next call completes an interrupted deletion.
    pub async fn delete(&self, owner: &Owner, id: &str) -> Result<(), TurnError> {
        if !self.records.retire(owner, id).await? {
            return Err(ErrorCode::NotFound.into());
        }
        self.delete_retired(owner, id).await
    }

    /// Deletes the files that only deleted messages have used, which are given as conversation and message.
    ///
    /// # Errors
    /// The failure of a store; the next call completes an interrupted deletion.
    pub async fn release(&self, owner: &Owner, is_deleted: impl Fn(&str, &str) -> bool) -> Result<(), TurnError> {
        let released = self.records.release(owner, is_deleted, SystemTime::now()).await?;
        self.delete_all(owner, released).await
    }

    /// Deletes all files of an owner.
    ///
    /// # Errors
    /// The failure of a store; the next call completes an interrupted deletion.
    pub async fn erase(&self, owner: &Owner) -> Result<(), TurnError> {
        let files = self.records.list(owner).await?;
        self.delete_all(owner, files.into_iter().map(|file| file.id).collect()).await?;
        self.blobs.delete_rest(owner).await
    }

    async fn delete_all(&self, owner: &Owner, ids: Vec<String>) -> Result<(), TurnError> {
        let deletions = stream::iter(ids).map(|id| async move { self.delete_retired(owner, &id).await });
        deletions.buffer_unordered(DELETIONS).try_collect().await
    }

    async fn delete_retired(&self, owner: &Owner, id: &str) -> Result<(), TurnError> {
        for key in [BlobKey::of_upload(owner, id), BlobKey::of_text(owner, id), BlobKey::of_file(owner, id)] {
            self.blobs.delete(key).await?;
        }
        Ok(self.records.remove(owner, id).await?)
    }
}

/// Runs work in proportion to the length of a file outside of the serving threads.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, TurnError> {
    spawn_blocking(work).await.map_err(|error| TurnError::caused_by(ErrorCode::Internal, error))
}
