//! The text of a file, read in this process.

use crate::{FileError, FileText, FileType, text};
#[cfg(feature = "html")]
use crate::{Format, decode_text, extract};

/// Whether this build can read files of a type.
pub(crate) fn is_in_this_build(file_type: FileType) -> bool {
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
        FileType::Html => page_text(&bytes)?,
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

#[cfg(feature = "html")]
fn page_text(bytes: &[u8]) -> Result<FileText, FileError> {
    let page = extract(&decode_text(bytes)?, Format::Html);
    let page = page.map_err(|bound| FileError::TooLarge(bound.to_string()))?;
    let mut text = String::new();
    for section in page.sections {
        if let Some(heading) = section.headings.last() {
            text.extend([&*"#".repeat(section.headings.len()), " ", heading, "\n\n"]);
        }
        text.extend([section.text.trim_end(), "\n\n"]);
    }
    Ok(FileText { title: page.title, text, ..FileText::default() })
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
}
