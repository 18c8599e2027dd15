//! How files come in: checked, read and stored.

use std::time::SystemTime;

use domain::{Attachment, AttachmentContent, AttachmentKind, ErrorCode, Owner, TurnError, new_id, one_line};
use files::{FileError, FileText, FileType, Picture, Reader};
use serde_json::{Value, json};
use store::StoredFile;

use crate::blob_key::BlobKey;
use crate::blobs::Blobs;
use crate::passages::numbered_text;
use crate::{Attachments, blocking, in_prompts};

/// The longest file in the body of one request, in bytes: Lambda takes 6 MB with its Base64.
pub const MAX_DIRECT_BYTES: usize = 4 * 1024 * 1024;

/// The longest file, in bytes.
pub const MAX_FILE_BYTES: usize = 25 * 1024 * 1024;

/// How many files an owner may have, and how long they may be together.
const MAX_OWNER_FILES: usize = 1_000;
const MAX_OWNER_BYTES: u64 = 1024 * 1024 * 1024;

const MAX_NAME_CHARS: usize = 200;

/// How a client uploads a large file: as the last field, `file`, of a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadForm {
    /// The file's id.
    pub id: String,
    /// Where the form is sent; `None` for a server that takes it itself.
    pub url: Option<String>,
    /// The fields before the file.
    pub fields: Value,
}

/// A file that was checked.
struct CheckedFile {
    file: StoredFile,
    bytes: Vec<u8>,
    text: Option<String>,
}

impl Attachments {
    /// Checks, reads and stores a file.
    ///
    /// # Errors
    /// `unsupported_media_type`, `invalid_attachment` or `too_large`; `invalid_request` for a faulty name.
    pub async fn upload(&self, owner: &Owner, name: &str, bytes: Vec<u8>) -> Result<StoredFile, TurnError> {
        let name = file_name(name)?;
        self.check_totals(owner, bytes.len() as u64).await?;
        let checked = check(owner, &self.reader, new_id(), name, bytes).await?;
        let file = self.write(owner, checked).await?;
        self.records.create(owner, &file, false, SystemTime::now()).await?;
        Ok(file)
    }

    /// Prepares the upload of a large file; `media_type` is only the client's opinion.
    ///
    /// # Errors
    /// `too_large`, or `invalid_request` for a faulty name.
    pub async fn begin_upload(
        &self,
        owner: &Owner,
        name: &str,
        media_type: &str,
        bytes: u64,
    ) -> Result<UploadForm, TurnError> {
        if bytes > MAX_FILE_BYTES as u64 {
            return Err(too_large(&format!("A file may have at most {} MiB", MAX_FILE_BYTES / 1024 / 1024)));
        }
        self.check_totals(owner, bytes).await?;
        let (id, kind) = (new_id(), AttachmentKind::Text);
        let (media_type, name) = (one_line(media_type, MAX_NAME_CHARS), file_name(name)?);
        let file = StoredFile::new(id.clone(), name, media_type, bytes, kind);
        let (url, fields) = match &self.blobs {
            Blobs::Folder(_) => (None, json!({})),
            Blobs::Bucket(bucket) => {
                let (url, fields) = bucket.form(&BlobKey::of_upload(owner, &id), bytes).await?;
                (Some(url), fields)
            }
        };
        self.records.create(owner, &file, true, SystemTime::now()).await?;
        Ok(UploadForm { id, url, fields })
    }

    /// Takes the content of a prepared upload where the server itself receives it.
    ///
    /// # Errors
    /// `not_found` unless an upload waits for it.
    pub async fn receive(&self, owner: &Owner, id: &str, bytes: Vec<u8>) -> Result<(), TurnError> {
        let record = self.records.get(owner, id, SystemTime::now()).await?;
        let waiting = record.filter(|record| record.is_pending && matches!(self.blobs, Blobs::Folder(_)));
        if bytes.len() as u64 > waiting.ok_or(ErrorCode::NotFound)?.file.bytes {
            return Err(too_large("The file is longer than was announced"));
        }
        self.blobs.put(BlobKey::of_upload(owner, id), bytes).await
    }

    /// Checks, reads and stores a file that was uploaded; the same file again for one that is complete.
    ///
    /// # Errors
    /// Those of [`Self::upload`], after which the file is gone; `not_found`, or `invalid_request` before the upload.
    pub async fn complete(&self, owner: &Owner, id: &str) -> Result<StoredFile, TurnError> {
        let record = self.records.get(owner, id, SystemTime::now()).await?.ok_or(ErrorCode::NotFound)?;
        if !record.is_pending {
            return Ok(record.file);
        }
        let Some(bytes) = self.blobs.get(BlobKey::of_upload(owner, id)).await? else {
            // Another call may have completed it meanwhile.
            let missing = |_| TurnError::new(ErrorCode::InvalidRequest, "The file is not uploaded yet");
            return self.get(owner, id).await.map_err(missing);
        };
        let checked = match check(owner, &self.reader, id.to_owned(), record.file.name, bytes).await {
            Ok(checked) => checked,
            Err(error) => {
                let is_final = !matches!(error.failure.code, ErrorCode::RateLimited | ErrorCode::Internal);
                let is_pending =
                    self.records.get(owner, id, SystemTime::now()).await?.is_some_and(|one| one.is_pending);
                if is_final && is_pending {
                    self.delete(owner, id).await?;
                }
                return Err(error);
            }
        };
        let file = self.write(owner, checked).await?;
        let is_first = self.records.complete(owner, &file).await?;
        // Only now: until then the next call completes an interrupted one.
        self.blobs.delete(BlobKey::of_upload(owner, id)).await?;
        if is_first { Ok(file) } else { self.get(owner, id).await }
    }

    async fn write(&self, owner: &Owner, checked: CheckedFile) -> Result<StoredFile, TurnError> {
        let CheckedFile { file, bytes, text } = checked;
        self.blobs.put(BlobKey::of_file(owner, &file.id), bytes).await?;
        if let Some(text) = text {
            self.blobs.put(BlobKey::of_text(owner, &file.id), text.into_bytes()).await?;
        }
        Ok(file)
    }

    /// Whether an owner may have one more file; completes interrupted deletions of others.
    async fn check_totals(&self, owner: &Owner, bytes: u64) -> Result<(), TurnError> {
        let totals = self.records.totals(owner).await?;
        self.delete_all(owner, totals.leaving).await?;
        if totals.count >= MAX_OWNER_FILES || totals.bytes.saturating_add(bytes) > MAX_OWNER_BYTES {
            let message = "You have reached the limit of stored files: delete conversations with files";
            return Err(too_large(message));
        }
        Ok(())
    }
}

/// Reads a file of an owner's request for one prompt; nothing is stored.
///
/// # Errors
/// Those of [`Attachments::upload`].
pub async fn read_once(owner: &Owner, reader: &Reader, name: &str, bytes: Vec<u8>) -> Result<Attachment, TurnError> {
    let CheckedFile { file, bytes, text } = check(owner, reader, String::new(), file_name(name)?, bytes).await?;
    let content = blocking(move || match text {
        Some(text) => AttachmentContent::Text(numbered_text(&text).into()),
        None => AttachmentContent::Base64(in_prompts::encoded(&bytes)),
    });
    let content = content.await?;
    Ok(Attachment { content, ..file.attachment() })
}

/// Checks a picture; returns its media type, and its bytes without metadata.
///
/// # Errors
/// `unsupported_media_type` for anything else, `invalid_attachment` or `too_large`.
pub async fn read_picture(bytes: Vec<u8>) -> Result<(&'static str, Vec<u8>), TurnError> {
    blocking(move || {
        let file_type = FileType::recognise(&bytes, "").ok().filter(|file_type| file_type.is_image());
        let message = "This is not an image: PNG, JPEG, WebP and GIF are accepted";
        let file_type = file_type.ok_or_else(|| TurnError::new(ErrorCode::UnsupportedMediaType, message))?;
        Ok((file_type.media_type(), clean_picture(file_type, &bytes)?.bytes))
    })
    .await?
}

/// The media type of a picture; `None` for anything else.
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    FileType::recognise(bytes, "").ok().filter(|file_type| file_type.is_image()).map(FileType::media_type)
}

fn clean_picture(file_type: FileType, bytes: &[u8]) -> Result<Picture, TurnError> {
    if bytes.len() > MAX_DIRECT_BYTES {
        return Err(too_large("An image may have at most 4 MiB: make it smaller"));
    }
    files::clean_picture(file_type, bytes).map_err(to_turn_error)
}

async fn check(
    owner: &Owner,
    reader: &Reader,
    id: String,
    name: String,
    bytes: Vec<u8>,
) -> Result<CheckedFile, TurnError> {
    let (file_type, mut checked) = blocking(move || recognise(id, name, bytes)).await??;
    if checked.file.kind == AttachmentKind::Text {
        let read = files::read_text(file_type, checked.bytes.clone(), reader, owner).await;
        let FileText { text, pages, truncated, .. } = read.map_err(to_turn_error)?;
        (checked.file.pages, checked.file.truncated) = (pages, truncated);
        checked.file.characters = Some(text.chars().count() as u64);
        checked.text = Some(text);
    }
    Ok(checked)
}

/// What a file is; a picture without its metadata.
fn recognise(id: String, name: String, bytes: Vec<u8>) -> Result<(FileType, CheckedFile), TurnError> {
    let file_type = FileType::recognise(&bytes, &name).map_err(to_turn_error)?;
    let kind = if file_type.is_image() { AttachmentKind::Image } else { AttachmentKind::Text };
    let mut file = StoredFile::new(id, name, file_type.media_type().to_owned(), bytes.len() as u64, kind);
    if kind == AttachmentKind::Text {
        return Ok((file_type, CheckedFile { file, bytes, text: None }));
    }
    let picture = clean_picture(file_type, &bytes)?;
    file.bytes = picture.bytes.len() as u64;
    (file.width, file.height) = (Some(picture.width), Some(picture.height));
    Ok((file_type, CheckedFile { file, bytes: picture.bytes, text: None }))
}

fn file_name(name: &str) -> Result<String, TurnError> {
    // The last name of a path of any system.
    let name = one_line(name.rsplit(['/', '\\']).next().unwrap_or(name), MAX_NAME_CHARS);
    if name.is_empty() {
        return Err(TurnError::new(ErrorCode::InvalidRequest, "`name` must be the name of the file"));
    }
    Ok(name)
}

fn too_large(message: &str) -> TurnError {
    TurnError::new(ErrorCode::TooLarge, message)
}

fn to_turn_error(error: FileError) -> TurnError {
    let code = match error {
        FileError::Unsupported | FileError::NotInThisBuild(_) => ErrorCode::UnsupportedMediaType,
        FileError::TooLarge(_) => ErrorCode::TooLarge,
        FileError::Busy => ErrorCode::RateLimited,
        FileError::NoReader(_) => return TurnError::caused_by(ErrorCode::Internal, error),
        FileError::Damaged(_)
        | FileError::Encrypted
        | FileError::NoText
        | FileError::UnknownCharacters
        | FileError::TooSlow(_)
        | FileError::Crashed => ErrorCode::InvalidAttachment,
    };
    TurnError::new(code, capitalised(&error.to_string()))
}

/// A sentence of an error, which begins in lower case.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().into_iter().flat_map(char::to_uppercase).chain(characters).collect()
}
