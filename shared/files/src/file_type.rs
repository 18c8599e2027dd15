//! The type of a file, by its content.

use serde::{Deserialize, Serialize};

use crate::{FileError, text};

/// How an encrypted or an older office file begins.
///
/// Source: MS-CFB 2.2, "Compound File Header", as of November 2026.
const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// How an entry of a ZIP file's directory begins, and where the length of its name and the name are in it.
///
/// Source: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.12, as of November 2026.
pub(crate) const ZIP_ENTRY: &[u8] = b"PK\x01\x02";
const NAME_LENGTH_AT: usize = 28;
const NAME_AT: usize = 46;

/// The part that each office format has, by ECMA-376 (2021): Part 1, 11.3.10, 13.3.6, 12.3.23. All programs use these names.
const OFFICE_PARTS: [(&[u8], FileType); 3] = [
    (b"word/document.xml", FileType::Docx),
    (b"ppt/presentation.xml", FileType::Pptx),
    (b"xl/workbook.xml", FileType::Xlsx),
];

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FileType {
    /// A PNG picture.
    Png,
    /// A JPEG picture.
    Jpeg,
    /// A WebP picture.
    WebP,
    /// A GIF picture.
    Gif,
    /// A PDF document.
    Pdf,
    /// A Word document.
    Docx,
    /// A PowerPoint presentation.
    Pptx,
    /// An Excel workbook.
    Xlsx,
    /// An HTML page.
    Html,
    /// Markdown.
    Markdown,
    /// Comma-separated or tab-separated values.
    Csv,
    /// JSON, or lines of JSON.
    Json,
    /// An SVG drawing: text, never a picture.
    Svg,
    /// Any other text, such as source code.
    PlainText,
}

use FileType::{Csv, Docx, Gif, Html, Jpeg, Json, Markdown, Pdf, PlainText, Png, Pptx, Svg, WebP, Xlsx};

impl FileType {
    /// Recognises a file by its content. The name only distinguishes kinds of text.
    ///
    /// # Errors
    /// `Unsupported` for binary data of another type, `Encrypted` for an office file with a password.
    pub fn recognise(bytes: &[u8], name: &str) -> Result<Self, FileError> {
        let start = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
        Ok(match bytes {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Png,
            [0xFF, 0xD8, 0xFF, ..] => Jpeg,
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => WebP,
            _ if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") => Gif,
            _ if start.starts_with(b"%PDF-") => Pdf,
            _ if bytes.starts_with(b"PK\x03\x04") => office_type(bytes).ok_or(FileError::Unsupported)?,
            _ if bytes.starts_with(COMPOUND_FILE) => return Err(compound_fault(bytes)),
            _ if text::is_text(bytes) => kind_of_text(start, name),
            _ => return Err(FileError::Unsupported),
        })
    }

    /// The type for `content-type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Png => "image/png",
            Jpeg => "image/jpeg",
            WebP => "image/webp",
            Gif => "image/gif",
            Pdf => "application/pdf",
            Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Html => "text/html",
            Markdown => "text/markdown",
            Csv => "text/csv",
            Json => "application/json",
            Svg => "image/svg+xml",
            PlainText => "text/plain",
        }
    }

    /// Whether models see it as a picture.
    pub fn is_image(self) -> bool {
        matches!(self, Png | Jpeg | WebP | Gif)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Png => "PNG",
            Jpeg => "JPEG",
            WebP => "WebP",
            Gif => "GIF",
            Pdf => "PDF",
            Docx => "DOCX",
            Pptx => "PPTX",
            Xlsx => "XLSX",
            Html => "HTML",
            Markdown => "Markdown",
            Csv => "CSV",
            Json => "JSON",
            Svg => "SVG",
            PlainText => "text",
        }
    }
}

/// The format of an office file, by the names in its directory.
fn office_type(bytes: &[u8]) -> Option<FileType> {
    let entries = bytes.windows(NAME_AT).enumerate().filter(|(_, window)| window.starts_with(ZIP_ENTRY));
    let mut names = entries.filter_map(|(at, entry)| {
        let length = u16::from_le_bytes([*entry.get(NAME_LENGTH_AT)?, *entry.get(NAME_LENGTH_AT + 1)?]);
        bytes.get(at + NAME_AT..)?.get(..usize::from(length))
    });
    names.find_map(|name| OFFICE_PARTS.iter().find(|(part, _)| *part == name).map(|(_, file_type)| *file_type))
}

/// Why an OLE file is not read: it contains an encrypted office file (MS-OFFCRYPTO 2.3.4.4), or is of an older format.
fn compound_fault(bytes: &[u8]) -> FileError {
    let stream: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let is_encrypted = bytes.windows(stream.len()).any(|window| window == stream);
    if is_encrypted { FileError::Encrypted } else { FileError::Unsupported }
}

fn kind_of_text(start: &[u8], name: &str) -> FileType {
    let begins = |tag: &str| start.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag.as_bytes()));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        _ if begins("<!doctype html") || begins("<html") => Html,
        _ if begins("<svg") => Svg,
        Some("html" | "htm" | "xhtml") => Html,
        Some("md" | "markdown" | "mdx") => Markdown,
        Some("csv" | "tsv") => Csv,
        Some("json" | "jsonl" | "ndjson") => Json,
        Some("svg") => Svg,
        _ => PlainText,
    }
}
