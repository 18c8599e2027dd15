//! The type of a file, by its content.

use crate::FileType::{self, Csv, Docx, Gif, Html, Jpeg, Json, Markdown, Pdf, PlainText, Png, Pptx, Svg, WebP, Xlsx};
use crate::{FileError, text};

/// How an encrypted or an older office file begins.
///
/// Source: MS-CFB 2.2, "Compound File Header", as of November 2026.
const COMPOUND_FILE: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// How an entry of a ZIP file's directory begins, and the record at the end of the file.
///
/// Source: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.12 and 4.3.16, as of November 2026.
pub(crate) const ZIP_ENTRY: &[u8] = b"PK\x01\x02";
const ZIP_END: &[u8] = b"PK\x05\x06";

/// The longest record at the end, with its comment.
const MAX_ZIP_END_BYTES: usize = 22 + 65_535;

/// The part that each office format has, by ECMA-376 (2021): Part 1, 11.3.10, 13.3.6, 12.3.23. Office on the web numbers the
/// first one.
const OFFICE_PARTS: [(&[u8], FileType); 3] =
    [(b"word/document.xml", Docx), (b"ppt/presentation.xml", Pptx), (b"xl/workbook.xml", Xlsx)];

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
}

/// The format of an office file, by the names in its directory.
fn office_type(bytes: &[u8]) -> Option<FileType> {
    let short = |at: usize| Some(usize::from(u16::from_le_bytes([*bytes.get(at)?, *bytes.get(at + 1)?])));
    let last = bytes.len().saturating_sub(MAX_ZIP_END_BYTES);
    let end = last + bytes.get(last..)?.windows(ZIP_END.len()).rposition(|window| window == ZIP_END)?;
    let mut at = short(end + 16)? | short(end + 18)? << 16;
    while bytes.get(at..)?.starts_with(ZIP_ENTRY) {
        let (name_length, name_at) = (short(at + 28)?, at + 46);
        let name = bytes.get(name_at..)?.get(..name_length)?;
        let is_part = |part: &[u8]| part == name || part == b"word/document.xml" && name == b"word/document2.xml";
        if let Some((_, file_type)) = OFFICE_PARTS.iter().find(|(part, _)| is_part(part)) {
            return Some(*file_type);
        }
        at = name_at + name_length + short(at + 30)? + short(at + 32)?;
    }
    None
}

/// Why an OLE file is not read: it contains an encrypted office file (MS-OFFCRYPTO 2.3.4.4), or is of an older format. The
/// entries of its directory, which begin with their names, are at multiples of 128 bytes (MS-CFB 2.6.1).
fn compound_fault(bytes: &[u8]) -> FileError {
    let stream: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let is_encrypted = bytes.chunks(128).any(|entry| entry.starts_with(&stream));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_recognised_by_their_content() {
        let utf16: Vec<u8> = [0xFEFF].into_iter().chain("<html>".encode_utf16()).flat_map(u16::to_le_bytes).collect();
        for (bytes, name, expected) in [
            (&b"\x89PNG\r\n\x1A\n"[..], "a.jpg", Png),
            (b"\xFF\xD8\xFF\xE0", "a.png", Jpeg),
            (b"RIFF\0\0\0\0WEBPVP8 ", "a.pdf", WebP),
            (b"GIF87a", "a.html", Gif),
            (b"GIF89a<script>", "a.html", Gif),
            (b"\xEF\xBB\xBF\n%PDF-1.7", "a.txt", Pdf),
            (b"text with %PDF- in it", "a.pdf", PlainText),
            (b"<!DOCTYPE HTML><p>a", "a.png", Html),
            (b"\n <html lang=en>", "a.md", Html),
            (b"<p>part of a page", "a.HTM", Html),
            (b"<svg onload=x>", "a.png", Svg),
            (b"<?xml version='1.0'?><svg/>", "a.svg", Svg),
            (b"# A", "a.md", Markdown),
            (b"a,b", "a.csv", Csv),
            (b"a\tb", "a.b.TSV", Csv),
            (b"{}", "a.json", Json),
            (b"fn main() {}", "main.rs", PlainText),
            (b"\x1B[1mlog\x1B[0m\x0C", "log", PlainText),
            (b"\xB1\xBE\xBC\xBE", "gbk.txt", PlainText),
            (b"", "empty.png", PlainText),
            (&utf16, "a.txt", PlainText),
        ] {
            assert_eq!(FileType::recognise(bytes, name), Ok(expected), "{name} {bytes:?}");
        }
    }

    #[test]
    fn binary_files_of_other_types_are_refused() {
        let long = [&b"a".repeat(10_000)[..], b"\0"].concat();
        for bytes in [
            &b"\x7FELF\x02"[..],
            b"MZ\x90\0",
            b"PK\x03\x04",
            b"PK\x05\x06\0\0",
            b"BM\x01\x02",
            b"RIFF\0\0\0\0WAVE",
            b"\x1F\x8B\x08",
            COMPOUND_FILE,
            &long,
        ] {
            for name in ["a.txt", "a.png", "a.docx", "a"] {
                assert_eq!(FileType::recognise(bytes, name), Err(FileError::Unsupported), "{bytes:?}");
            }
        }
    }

    #[cfg(feature = "office")]
    #[test]
    fn office_files_are_recognised_by_their_parts() {
        use crate::office::tests::{document, presentation, workbook, zip};
        for (bytes, expected) in [
            (document(true), Ok(Docx)),
            (presentation(), Ok(Pptx)),
            (workbook(""), Ok(Xlsx)),
            (zip(&[("xl/workbook.bin", "word/document.xml", false)]), Err(FileError::Unsupported)),
        ] {
            assert_eq!(FileType::recognise(&bytes, "a.zip"), expected);
        }
    }

    #[test]
    fn office_files_with_a_password_are_encrypted() {
        let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let bytes = [COMPOUND_FILE, &[0; 1528], &name].concat();
        assert_eq!(FileType::recognise(&bytes, "a.docx"), Err(FileError::Encrypted));
    }
}
