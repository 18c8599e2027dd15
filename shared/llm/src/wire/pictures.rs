use domain::{Attachment, AttachmentContent, AttachmentKind, Message};
use serde::{Serialize, Serializer};

use crate::Prompt;

/// A picture of a user message.
#[derive(Clone, Copy)]
pub(super) struct Picture<'a> {
    pub(super) media_type: &'a str,
    pub(super) base64: &'a str,
}

/// A picture as a data URL, which is written without another copy of the picture.
pub(super) struct DataUrl<'a>(pub(super) Picture<'a>);

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Picture { media_type, base64 } = self.0;
        serializer.collect_str(&format_args!("data:{media_type};base64,{base64}"))
    }
}

/// Returns the pictures that are loaded; the prompt has the others, and documents, in its text.
pub(super) fn pictures(attachments: &[Attachment]) -> impl Iterator<Item = Picture<'_>> {
    attachments.iter().filter_map(|one| match &one.content {
        AttachmentContent::Base64(base64) if one.kind == AttachmentKind::Image => {
            Some(Picture { media_type: &one.media_type, base64 })
        }
        _ => None,
    })
}

/// Whether the prompt has pictures that are sent.
pub(crate) fn has_pictures(prompt: &Prompt) -> bool {
    prompt.messages.iter().any(|message| match message {
        Message::User { attachments, .. } => pictures(attachments).next().is_some(),
        Message::Assistant { .. } | Message::Tool(_) => false,
    })
}
