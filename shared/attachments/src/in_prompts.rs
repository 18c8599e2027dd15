//! What prompts have of files.

use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use domain::{Attachment, AttachmentContent, AttachmentKind, ErrorCode, Message, Owner, TurnError};
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

/// What a prompt may have of the files of its conversation.
#[derive(Clone, Copy, Debug)]
pub struct PromptBudget {
    /// Whether the model takes pictures, as far as is known.
    pub takes_images: bool,
    /// The characters of documents of earlier messages.
    pub earlier_chars: u64,
    /// The characters of documents of the new message.
    pub new_chars: u64,
}

impl Attachments {
    /// Loads what a prompt has of the files of its messages, oldest first: the newest pictures, and the documents that fit,
    /// the oldest first, so that a prompt begins as the one before it. Returns the documents that tools must offer: all, if
    /// one is not loaded or is of an earlier message, which a prompt may leave out. A file that is gone is only named.
    ///
    /// # Errors
    /// The failure of the store.
    pub async fn load(
        &self,
        owner: &Owner,
        earlier: Vec<&mut Message>,
        new: Vec<&mut Message>,
        budget: PromptBudget,
    ) -> Result<Vec<Attachment>, TurnError> {
        let (mut pictures, mut texts, mut documents, mut needs_tools) = (Vec::new(), Vec::new(), Vec::new(), false);
        for (messages, max_chars, is_earlier) in [(earlier, budget.earlier_chars, true), (new, budget.new_chars, false)]
        {
            let mut chars = 0;
            for file in messages.into_iter().flat_map(stored_files) {
                if file.kind == AttachmentKind::Image {
                    pictures.push(file);
                    continue;
                }
                documents.push(file.clone());
                let fits = chars + file.characters <= max_chars;
                needs_tools |= is_earlier || !fits;
                if fits {
                    chars += file.characters;
                    texts.push(file);
                }
            }
        }
        let (mut count, mut bytes) = (0, 0);
        let pictures = pictures.into_iter().rev().take_while(|picture| {
            (count, bytes) = (count + 1, bytes + picture.bytes);
            budget.takes_images && count <= MAX_PICTURES && bytes <= MAX_PICTURE_BYTES
        });
        try_join_all(pictures.chain(texts).map(|file| self.load_file(owner, file))).await?;
        Ok(if needs_tools { documents } else { Vec::new() })
    }

    async fn load_file(&self, owner: &Owner, file: &mut Attachment) -> Result<(), TurnError> {
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
            // It has no text that tools could read.
            Err(error) if error.failure.code == ErrorCode::NotFound => file.characters = 0,
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// The files of a message that are stored and not loaded.
fn stored_files(message: &mut Message) -> impl Iterator<Item = &mut Attachment> {
    let is_stored = |file: &&mut Attachment| file.content == AttachmentContent::Absent && !file.id.is_empty();
    message.attachments_mut().iter_mut().filter(is_stored)
}
