//! Text of PDF documents, page by page.
//!
//! The format is ISO 32000-2. A hostile file can take any amount of time and memory and can make the reader panic: callers
//! read it in a process with limits.

mod glyphs;
mod lines;

use encoding_rs::Encoding;
use encoding_rs::mem::decode_latin1;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, Rect};
use hayro_interpret::{Context, InterpreterCache, InterpreterSettings, interpret_page};
use serde::{Deserialize, Serialize};

use self::glyphs::GlyphReader;
use crate::extract::{PAGE_SEPARATOR, single_line};

const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;

/// The text of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdfText {
    /// The title in the document's properties.
    pub title: Option<String>,
    /// The text in the format [`Pages`](crate::Format::Pages).
    pub text: String,
}

/// Why a document has no text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum PdfError {
    /// It can be opened with a password only, or its encryption is unknown.
    #[error("the PDF is encrypted: store it without a password")]
    Encrypted,
    /// It is no PDF, or is damaged.
    #[error("the file is not a readable PDF")]
    Invalid,
    /// Its pages have no characters, as after a scan.
    #[error("the PDF has no text: recognise the text of scanned pages first (OCR)")]
    NoText,
    /// Its fonts do not state which characters their glyphs are.
    #[error("the characters of the PDF are unknown, because its fonts do not name them: export it again, or use OCR")]
    UnknownCharacters,
    /// It has too long a text.
    #[error("the PDF has more than {} MiB of text", MAX_TEXT_BYTES / 1024 / 1024)]
    TooLong,
}

impl From<LoadPdfError> for PdfError {
    fn from(error: LoadPdfError) -> Self {
        match error {
            LoadPdfError::Decryption(_) => Self::Encrypted,
            LoadPdfError::Invalid => Self::Invalid,
        }
    }
}

/// Reads the text of a PDF in the order of its pages' content. A document that opens without a password is decrypted.
pub fn pdf_to_text(bytes: Vec<u8>) -> Result<PdfText, PdfError> {
    let pdf = Pdf::new(bytes)?;
    let cache = InterpreterCache::new();
    let (mut text, mut known, mut unknown) = (String::new(), 0_usize, 0_usize);
    for (index, page) in pdf.pages().iter().enumerate() {
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, Rect::new(0.0, 0.0, 1.0, 1.0), &cache, pdf.xref(), settings);
        let mut reader = GlyphReader::new(MAX_TEXT_BYTES.saturating_sub(text.len()));
        interpret_page(page, &mut context, &mut reader);
        if reader.is_full() {
            return Err(PdfError::TooLong);
        }
        (known, unknown) = (known + reader.known, unknown + reader.unknown);
        if index > 0 {
            text.push(PAGE_SEPARATOR);
        }
        text.push_str(&lines::join(&reader.lines));
    }
    if unknown > known {
        return Err(PdfError::UnknownCharacters);
    }
    if text.trim().is_empty() {
        return Err(PdfError::NoText);
    }
    Ok(PdfText { title: title(pdf.metadata().title.as_deref()), text })
}

/// Decodes a text string of the properties; `None` if it names nothing.
fn title(bytes: Option<&[u8]>) -> Option<String> {
    let bytes = bytes?;
    let title = match Encoding::for_bom(bytes) {
        Some((encoding, _)) => encoding.decode(bytes).0,
        // PDFDocEncoding, whose printable characters are mostly those of Latin-1.
        None => decode_latin1(bytes),
    };
    let title = single_line(&title);
    let is_placeholder = ["", "untitled", "(anonymous)"].contains(&title.to_ascii_lowercase().as_str());
    (!is_placeholder).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_both_encodings_are_decoded() {
        let utf16 = [0xFE, 0xFF, 0x90, 0x00, 0x6B, 0x3E, 0x00, b'!'];
        assert_eq!(title(Some(&utf16)).as_deref(), Some("退款!"));
        assert_eq!(title(Some("\u{FEFF}退款".as_bytes())).as_deref(), Some("退款"));
        assert_eq!(title(Some(b"Caf\xE9  rules\n")).as_deref(), Some("Café rules"));
        assert_eq!([title(None), title(Some(b" ")), title(Some(b"Untitled"))], [None, None, None]);
    }

    #[test]
    fn other_files_are_refused() {
        for bytes in [&b""[..], b"%PDF-1.7", b"PK\x03\x04", &[0; 100]] {
            assert_eq!(pdf_to_text(bytes.to_vec()), Err(PdfError::Invalid));
        }
    }
}
