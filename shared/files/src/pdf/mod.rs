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

use self::glyphs::GlyphReader;
use crate::document::{PAGE_SEPARATOR, single_line};
use crate::file_text::MAX_TEXT_BYTES;
use crate::{FileError, FileText};

/// Reads the text of a PDF in the order of its pages' content. A document that opens without a password is decrypted.
pub(crate) fn read(bytes: Vec<u8>) -> Result<FileText, FileError> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(_) => FileError::Encrypted,
        LoadPdfError::Invalid => FileError::damaged("it is not a readable PDF"),
    })?;
    let cache = InterpreterCache::new();
    let (mut read, mut known, mut unknown) = (FileText::default(), 0_usize, 0_usize);
    for (index, page) in pdf.pages().iter().enumerate() {
        let settings = InterpreterSettings::default();
        let mut context = Context::new(Affine::IDENTITY, Rect::new(0.0, 0.0, 1.0, 1.0), &cache, pdf.xref(), settings);
        let mut reader = GlyphReader::new(MAX_TEXT_BYTES.saturating_sub(read.text.len()));
        interpret_page(page, &mut context, &mut reader);
        (known, unknown) = (known + reader.known, unknown + reader.unknown);
        if index > 0 {
            read.text.push(PAGE_SEPARATOR);
        }
        read.text.push_str(&lines::join(&reader.lines));
        read.truncated = reader.is_full();
        if read.truncated {
            break;
        }
    }
    if unknown > known {
        return Err(FileError::UnknownCharacters);
    }
    let pages = u32::try_from(pdf.pages().len()).ok();
    Ok(FileText { title: title(pdf.metadata().title.as_deref()), pages, ..read })
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
            assert!(matches!(read(bytes.to_vec()), Err(FileError::Damaged(_))));
        }
    }
}
