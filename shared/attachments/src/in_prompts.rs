//! What prompts have of files.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use domain::{Attachment, AttachmentContent, AttachmentKind, Message, Owner, TurnError};
use futures_util::future::try_join_all;

use crate::Attachments;
use crate::passages::numbered_text;

/// The most pictures of a prompt, the newest, and their length together in bytes.
// Amazon Bedrock's Converse takes 20: shared by the narrowest wire, its API reference, 2026-11-27.
const MAX_PICTURES: usize = 20;
const MAX_PICTURE_BYTES: u64 = 15 * 1024 * 1024;

pub(crate) fn encoded(bytes: &[u8]) -> Arc<str> {
    BASE64_STANDARD.encode(bytes).into()
}

impl Attachments {
    /// Loads what a prompt has of the files of its messages, oldest first: the newest pictures if the model
    /// `takes_images`, and the texts that fit `max_chars` together, the oldest first, so that a prompt begins as the one
    /// before it. Returns the documents that remain to be read by tools. A file that is gone is only named.
    ///
    /// # Errors
    /// The failure of the store.
    pub async fn load(
        &self,
        owner: &Owner,
        messages: Vec<&mut Message>,
        takes_images: bool,
        max_chars: u64,
    ) -> Result<Vec<Attachment>, TurnError> {
        let files = messages.into_iter().filter_map(|message| match message {
            Message::User { attachments, .. } => Some(attachments),
            Message::Assistant { .. } | Message::Tool(_) => None,
        });
        let files = files.flatten().filter(|file| file.content == AttachmentContent::Absent && !file.id.is_empty());
        let (pictures, texts): (Vec<_>, Vec<_>) = files.partition(|file| file.kind == AttachmentKind::Image);
        let (mut count, mut bytes, mut chars) = (0, 0, 0);
        let pictures = pictures.into_iter().rev().take_while(|picture| {
            (count, bytes) = (count + 1, bytes + picture.bytes);
            takes_images && count <= MAX_PICTURES && bytes <= MAX_PICTURE_BYTES
        });
        let (texts, unread): (Vec<_>, Vec<_>) = texts.into_iter().partition(|text| {
            chars += text.characters;
            chars <= max_chars
        });
        let unread = unread.into_iter().map(|file| file.clone()).collect();
        try_join_all(pictures.chain(texts).map(|file| self.load_file(owner, file))).await?;
        Ok(unread)
    }

    async fn load_file(&self, owner: &Owner, file: &mut Attachment) -> Result<(), TurnError> {
        let gone = |error: &TurnError| error.failure.code == domain::ErrorCode::NotFound;
        let loaded = match file.kind {
            AttachmentKind::Image => {
                let bytes = self.content(owner, &file.id).await;
                bytes.map(|bytes| AttachmentContent::Base64(encoded(&bytes)))
            }
            AttachmentKind::Text => {
                self.text(owner, &file.id).await.map(|text| AttachmentContent::Text(numbered_text(&text).into()))
            }
        };
        match loaded {
            Ok(content) => file.content = content,
            Err(error) if gone(&error) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
