use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::is_default;

/// A file that belongs to a user message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Its id; empty while no store has it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub id: String,
    /// The name of the file, on one line; empty if its request does not name it.
    pub name: String,
    /// Its media type, such as `image/png`, by its content.
    #[serde(rename = "type")]
    pub media_type: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// What models get of it.
    pub kind: AttachmentKind,
    /// The length of its text in characters; 0 for a picture.
    #[serde(default, skip_serializing_if = "is_default")]
    pub characters: u64,
    /// What prompts have of it. It is stored apart from the message.
    #[serde(skip)]
    pub content: AttachmentContent,
}

/// What models get of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentKind {
    /// A picture.
    Image,
    /// The text of a document.
    Text,
}

/// The content of an attachment, as far as it is known.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum AttachmentContent {
    /// It is not loaded: a prompt names the file only.
    #[default]
    Absent,
    /// A request names its address, which begins with `data:`, `http:` or `https:`.
    Address(Arc<str>),
    /// The bytes of a picture in Base64.
    Base64(Arc<str>),
    /// The text of a document.
    Text(Arc<str>),
}

impl std::fmt::Debug for AttachmentContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Absent => "Absent",
            Self::Address(_) => "Address",
            Self::Base64(_) => "Base64",
            Self::Text(_) => "Text",
        })
    }
}

impl Attachment {
    /// A file of which only its address is known: a picture until its content is read.
    pub fn at(name: String, media_type: String, address: &str) -> Self {
        Self {
            id: String::new(),
            name,
            media_type,
            bytes: 0,
            kind: AttachmentKind::Image,
            characters: 0,
            content: AttachmentContent::Address(address.into()),
        }
    }
}
