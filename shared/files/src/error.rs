use serde::{Deserialize, Serialize};

use crate::FileType;

/// Why a file is not accepted, for the person who chose it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum FileError {
    /// Its type is unknown.
    #[error(
        "the type of the file is unknown: PNG, JPEG, WebP, GIF, text, Markdown, HTML, CSV, JSON, source code, PDF, DOCX, \
         PPTX and XLSX are accepted"
    )]
    Unsupported,
    /// Its type is one that other builds read.
    #[error("{} files are not read by this server, which is built without the feature `files`", .0.name())]
    NotInThisBuild(FileType),
    /// It does not keep to its format.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// It can be opened with a password only, or its encryption is unknown.
    #[error("the file is encrypted: store it without a password")]
    Encrypted,
    /// It has no characters, as pages after a scan.
    #[error("the file has no text: recognise the text of scanned pages first (OCR)")]
    NoText,
    /// Its fonts do not state which characters their glyphs are.
    #[error("the characters of the PDF are unknown, because its fonts do not name them: export it again, or use OCR")]
    UnknownCharacters,
    /// It exceeds this bound.
    #[error("the file is too large: {0}")]
    TooLarge(String),
    /// Reading took longer than so many seconds.
    #[error("the file could not be read within {0} s")]
    TooSlow(u64),
    /// The process that read it ended without a result.
    #[error("the file cannot be read: it is damaged, or takes too much memory")]
    Crashed,
    /// Others were read for too long.
    #[error("other files are being read: try again")]
    Busy,
    /// The process that reads it cannot be started.
    #[error("the file cannot be read on this system: {0}")]
    NoReader(String),
}

impl FileError {
    pub(crate) fn damaged(reason: &str) -> Self {
        Self::Damaged(reason.to_owned())
    }
}
