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
    let office = cfg!(feature = "office");
    let readers = [
        (FileType::Html, cfg!(feature = "html")),
        (FileType::Pdf, cfg!(feature = "pdf")),
        (FileType::Docx, office),
        (FileType::Pptx, office),
        (FileType::Xlsx, office),
    ];
    readers.iter().find(|(of, _)| *of == file_type).is_none_or(|(_, is_built)| *is_built)
}

/// Reads a file in this process.
#[cfg_attr(not(feature = "pdf"), expect(clippy::needless_pass_by_value, reason = "the reader of PDF owns the file"))]
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
        let title = self.title.map(|title| strip_invisible(&title));
        Ok(Self { title, text, truncated, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file_type: FileType, bytes: &[u8]) -> Result<FileText, FileError> {
        text_of(file_type, bytes.to_vec(), 20)
    }

    fn text(bytes: &[u8]) -> Result<String, FileError> {
        read(FileType::PlainText, bytes).map(|read| read.text)
    }

    #[test]
    fn texts_of_common_encodings_are_decoded() {
        let utf16 =
            |unit: fn(u16) -> [u8; 2]| "\u{FEFF}退款 😀".encode_utf16().flat_map(unit).chain([0]).collect::<Vec<u8>>();
        for bytes in [
            &b"\xEF\xBB\xBF\xE9\x80\x80\xE6\xAC\xBE \xF0\x9F\x98\x80\r\n"[..],
            &utf16(u16::to_le_bytes),
            &utf16(u16::to_be_bytes),
        ] {
            assert_eq!(text(bytes).as_deref(), Ok("退款 😀"));
        }
        assert_eq!(text(b"a\r\n\xE2\x80\x8Bb\x07\n\xF0\x9F").as_deref(), Ok("a\nb"));
    }

    #[cfg(feature = "encodings")]
    #[test]
    fn other_encodings_are_guessed() {
        for encoding in [encoding_rs::GB18030, encoding_rs::BIG5] {
            let bytes = encoding.encode("退款在七天").0;
            assert_eq!(text(&bytes).as_deref(), Ok("退款在七天"), "{}", encoding.name());
        }
        let bytes = encoding_rs::SHIFT_JIS.encode("四半期の予算は").0;
        assert_eq!(
            text_of(FileType::Csv, bytes.into_owned(), 100).map(|read| read.text).as_deref(),
            Ok("四半期の予算は")
        );
    }

    #[test]
    fn long_texts_are_cut_at_a_character() {
        let cut = read(FileType::Csv, "茶".repeat(10).as_bytes()).unwrap();
        assert_eq!((cut.text.as_str(), cut.truncated), ("茶茶茶茶茶茶", true));
        let whole = read(FileType::Json, &[b'a'; 20]).unwrap();
        assert_eq!((whole.text.len(), whole.truncated), (20, false));
    }

    #[test]
    fn files_without_text_are_refused() {
        for bytes in [&b""[..], b" \n\t", b"\xE2\x80\x8B"] {
            assert_eq!(read(FileType::Markdown, bytes), Err(FileError::NoText));
        }
    }

    #[cfg(feature = "html")]
    #[test]
    fn pages_lose_their_tags() {
        let page = "<title>T</title><nav>n</nav><h1>A</h1><p>b &lt; c<script>x</script><h2>D</h2>e";
        let read = text_of(FileType::Html, page.into(), 100).unwrap();
        assert_eq!((read.title.as_deref(), read.text.as_str()), (Some("T"), "# A\n\nb < c\n\n## D\n\ne"));
        let deep = "<div>".repeat(2_000);
        assert!(matches!(text_of(FileType::Html, deep.into(), 100), Err(FileError::TooLarge(_))));
    }

    #[tokio::test]
    async fn svg_is_text_and_pictures_are_none() {
        let reader = Reader::for_attachments();
        let read = read_text(FileType::Svg, b"<svg/>".to_vec(), &reader).await;
        assert_eq!(read.map(|read| read.text).as_deref(), Ok("<svg/>"));
        assert_eq!(read_text(FileType::Png, Vec::new(), &reader).await, Err(FileError::Unsupported));
    }
}
