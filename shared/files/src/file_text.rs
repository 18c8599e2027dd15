use domain::strip_invisible;
use serde::{Deserialize, Serialize};

use crate::document::PAGE_SEPARATOR;
use crate::{FileError, text};

/// The longest text that is read of a file, in bytes.
pub(crate) const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// The text of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// The title in its properties, or that of the page.
    pub title: Option<String>,
    /// Its text without invisible characters; a form feed is between two pages.
    pub text: String,
    /// The number of its pages, slides or sheets, if its format has them.
    pub pages: Option<u32>,
    /// Whether there is more text than was kept.
    pub truncated: bool,
}

/// Decodes a text file: UTF-8, UTF-16 with a mark, and in builds with the feature `encodings` others by a guess.
///
/// # Errors
/// `Damaged` if its encoding is unknown, `TooLarge` for more than 8 MiB.
pub fn decode_text(bytes: &[u8]) -> Result<String, FileError> {
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(FileError::TooLarge(format!("more than {} MiB of text", MAX_TEXT_BYTES / 1024 / 1024)));
    }
    text::decode(bytes, MAX_TEXT_BYTES)
}

impl FileText {
    /// The text without invisible characters and surrounding lines, cut at a character.
    pub(crate) fn cleaned(self, max_bytes: usize) -> Result<Self, FileError> {
        let pages: Vec<String> = match self.pages {
            Some(_) => self.text.split(PAGE_SEPARATOR).map(strip_invisible).collect(),
            None => vec![strip_invisible(&self.text).trim().to_owned()],
        };
        if pages.iter().all(|page| page.trim().is_empty()) {
            return Err(FileError::NoText);
        }
        let mut text = pages.join(PAGE_SEPARATOR.encode_utf8(&mut [0; 4]));
        let end = text.floor_char_boundary(max_bytes);
        let truncated = self.truncated || end < text.len();
        text.truncate(end);
        let title = self.title.map(|title| strip_invisible(&title));
        Ok(Self { title, text, truncated, ..self })
    }
}
