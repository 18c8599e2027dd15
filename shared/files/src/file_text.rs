use domain::strip_invisible;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::document::PAGE_SEPARATOR;
use crate::{FileError, FileType, Reader, text};

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

/// Reads the text of a file. Formats with markup are read in a process of their own, two of them at the same time.
///
/// # Errors
/// `NotInThisBuild` without the feature of the format, `Unsupported` for a picture; what reading the file shows.
pub async fn read_text(file_type: FileType, bytes: Vec<u8>, reader: &Reader) -> Result<FileText, FileError> {
    match file_type {
        FileType::Markdown | FileType::Csv | FileType::Json | FileType::Svg | FileType::PlainText => {
            let max_bytes = reader.max_text_bytes();
            spawn_blocking(move || text_of(file_type, bytes, max_bytes)).await.unwrap_or(Err(FileError::Crashed))
        }
        _ if file_type.is_image() => Err(FileError::Unsupported),
        _ if !is_in_this_build(file_type) => Err(FileError::NotInThisBuild(file_type)),
        _ => reader.read(file_type, bytes).await,
    }
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

fn is_in_this_build(file_type: FileType) -> bool {
    match file_type {
        FileType::Html => cfg!(feature = "html"),
        FileType::Pdf => cfg!(feature = "pdf"),
        FileType::Docx | FileType::Pptx | FileType::Xlsx => cfg!(feature = "office"),
        _ => true,
    }
}

/// Reads a file in this process.
pub(crate) fn text_of(file_type: FileType, bytes: Vec<u8>, max_bytes: usize) -> Result<FileText, FileError> {
    let read = match file_type {
        #[cfg(feature = "html")]
        FileType::Html => FileText::of_html(&bytes)?,
        #[cfg(feature = "office")]
        FileType::Docx | FileType::Pptx | FileType::Xlsx => crate::office::read(file_type, &bytes)?,
        #[cfg(feature = "pdf")]
        FileType::Pdf => crate::pdf::read(bytes)?,
        _ if is_in_this_build(file_type) => {
            let truncated = bytes.len() > max_bytes.saturating_mul(2);
            FileText { text: text::decode(&bytes, max_bytes)?, truncated, ..FileText::default() }
        }
        _ => return Err(FileError::NotInThisBuild(file_type)),
    };
    read.cleaned(max_bytes)
}

impl FileText {
    #[cfg(feature = "html")]
    fn of_html(bytes: &[u8]) -> Result<Self, FileError> {
        let page = crate::extract(&decode_text(bytes)?, crate::Format::Html);
        let page = page.map_err(|bound| FileError::TooLarge(bound.to_string()))?;
        let mut text = String::new();
        for section in page.sections {
            if let Some(heading) = section.headings.last() {
                text.extend([&*"#".repeat(section.headings.len()), " ", heading, "\n\n"]);
            }
            text.extend([section.text.trim_end(), "\n\n"]);
        }
        Ok(Self { title: page.title, text, ..Self::default() })
    }

    /// The text without invisible characters and surrounding lines, cut at a character.
    fn cleaned(self, max_bytes: usize) -> Result<Self, FileError> {
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
        Ok(Self { text, truncated, ..self })
    }
}
