//! Text of DOCX documents, as Markdown.
//!
//! The format is ECMA-376, Part 1: a ZIP archive whose `word/document.xml` has paragraphs (`w:p`) of texts (`w:t`), and
//! whose `word/styles.xml` names the styles of headings.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;

#[cfg(test)]
pub(crate) use self::tests::zip;

const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

const MAX_FILES: usize = 10_000;

/// What an entry of the directory begins with.
///
/// Source: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>, 4.3.12, as of November 2026.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";

/// Converts a document to Markdown: headings, paragraphs and table rows, each on a line of its own; `None` if it is not a
/// DOCX file, or unpacks to more than 64 MiB.
pub fn docx_to_markdown(bytes: &[u8]) -> Option<String> {
    let mut archive = Archive::open(bytes)?;
    let styles = archive.read("word/styles.xml");
    let levels = styles.and_then(|styles| heading_levels(&styles)).unwrap_or_default();
    markdown(&archive.read("word/document.xml")?, &levels)
}

/// Calls `handle` with each event of an XML text, an empty tag as a start and an end; `None` if the text is damaged.
fn for_each_event<'a>(xml: &'a str, mut handle: impl FnMut(Event<'a>)) -> Option<()> {
    let mut reader = Reader::from_str(xml);
    let config = reader.config_mut();
    (config.expand_empty_elements, config.allow_dangling_amp) = (true, true);
    loop {
        match reader.read_event().ok()? {
            Event::Eof => return Some(()),
            event => handle(event),
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes();
    // A check for duplicates would take time quadratic in their number.
    let found = attributes.with_checks(false).flatten().find(|attribute| attribute.key.as_ref() == name.as_bytes());
    Some(found?.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned())
}

/// The levels of headings by the ids of their styles. Only the names of styles are the same in all languages.
fn heading_levels(styles: &str) -> Option<HashMap<String, usize>> {
    let (mut levels, mut style) = (HashMap::new(), None);
    for_each_event(styles, |event| match event {
        Event::Start(tag) if tag.name().as_ref() == b"w:style" => style = attribute(&tag, "w:styleId"),
        Event::Start(tag) if tag.name().as_ref() == b"w:name" => {
            let level = attribute(&tag, "w:val").as_deref().and_then(heading_level);
            levels.extend(style.take().zip(level));
        }
        _ => {}
    })?;
    Some(levels)
}

fn heading_level(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("heading ") {
        Some(level) => level.parse().ok().filter(|level| (1..=6).contains(level)),
        None => (name == "title").then_some(1),
    }
}

fn markdown(document: &str, levels: &HashMap<String, usize>) -> Option<String> {
    let (mut text, mut paragraph, mut level, mut is_text) = (String::new(), String::new(), None, false);
    for_each_event(document, |event| match event {
        Event::Text(part) if is_text => paragraph.push_str(&part.decode().unwrap_or_default()),
        Event::GeneralRef(reference) if is_text => push_character(&mut paragraph, &reference),
        Event::Start(tag) => {
            is_text = tag.name().as_ref() == b"w:t";
            match tag.name().as_ref() {
                b"w:pStyle" => level = attribute(&tag, "w:val").and_then(|id| levels.get(&id)),
                b"w:tab" => paragraph.push(' '),
                b"w:br" | b"w:cr" => paragraph.push('\n'),
                _ => {}
            }
        }
        Event::End(tag) => {
            is_text = false;
            if tag.name().as_ref() == b"w:p" {
                push_paragraph(&mut text, &paragraph, level.take().copied());
                paragraph.clear();
            }
        }
        _ => {}
    })?;
    Some(text)
}

/// Appends the character that a reference names; an unknown reference stays as it is.
fn push_character(text: &mut String, reference: &BytesRef<'_>) {
    let name = reference.decode().unwrap_or_default();
    match (reference.resolve_char_ref(), resolve_xml_entity(&name)) {
        (Ok(Some(character)), _) => text.push(character),
        (_, Some(character)) => text.push_str(character),
        _ => text.extend(["&", &*name, ";"]),
    }
}

fn push_paragraph(text: &mut String, paragraph: &str, level: Option<usize>) {
    let heading = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match level {
        Some(level) if !heading.is_empty() => text.extend([&*"#".repeat(level), " ", &heading]),
        _ => text.push_str(paragraph.trim()),
    }
    text.push_str("\n\n");
}

struct Archive<'a>(ZipArchive<Cursor<&'a [u8]>>);

impl<'a> Archive<'a> {
    /// Reads the directory; `None` if there is none, or if it may have too many entries.
    fn open(bytes: &'a [u8]) -> Option<Self> {
        let entries = bytes.windows(ENTRY_SIGNATURE.len()).filter(|window| *window == ENTRY_SIGNATURE);
        // Counted first, because the directory is read into memory whole.
        if entries.count() > MAX_FILES {
            return None;
        }
        ZipArchive::new(Cursor::new(bytes)).ok().map(Self)
    }

    /// The text of a file, stored or deflated; `None` if it is absent, too long or damaged.
    fn read(&mut self, name: &str) -> Option<String> {
        let mut unpacked = Vec::new();
        self.0.by_name(name).ok()?.take(MAX_FILE_BYTES + 1).read_to_end(&mut unpacked).ok()?;
        String::from_utf8(unpacked).ok().filter(|text| text.len() as u64 <= MAX_FILE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::CompressionMethod;
    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    const STYLES: &str = r#"<w:styles><w:style w:type="paragraph" w:styleId="1"><w:name w:val="heading 1"/></w:style>
        <w:style w:styleId="a3"><w:basedOn w:val="a"/><w:name w:val="Heading 2"/></w:style>
        <w:style w:styleId="a4"><w:name w:val="Normal"/></w:style></w:styles>"#;

    const DOCUMENT: &str = r#"<?xml version="1.0"?><w:document><w:body>
        <w:p><w:pPr><w:pStyle w:val="1"/></w:pPr><w:r><w:t>退款</w:t></w:r><w:r><w:t xml:space="preserve"> policy</w:t></w:r></w:p>
        <w:p><w:r><w:t>Within &lt;7&gt; days.</w:t><w:br/><w:t/><w:delText>gone</w:delText></w:r></w:p>
        <w:p><w:pPr><w:pStyle w:val="a3"/></w:pPr><w:r><w:t>Details</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:body></w:document>"#;

    #[test]
    fn document_becomes_markdown() {
        let bytes = zip(&[("word/styles.xml", STYLES, true), ("word/document.xml", DOCUMENT, true)]);
        let expected = "# 退款 policy\n\nWithin <7> days.\n\n## Details\n\ncell\n\n";
        assert_eq!(docx_to_markdown(&bytes).as_deref(), Some(expected));
    }

    #[test]
    fn known_references_are_decoded_others_kept() {
        let read = |text: &str| markdown(&format!("<w:p><w:t>{text}</w:t></w:p>"), &HashMap::new());
        assert_eq!(read("a &amp; b&#33; &#x8336;&lt;x&gt;").as_deref(), Some("a & b! 茶<x>\n\n"));
        let odd = "&; &unknown; &amp &#xD800; &#99999999999; & &&amp";
        assert_eq!(read(odd), Some(format!("{odd}\n\n")));
        assert_eq!(read("a<w:t b=\"c"), None, "damaged");
    }

    #[test]
    fn other_files_are_refused() {
        let other = zip(&[("xl/workbook.xml", "<a/>", false)]);
        for bytes in [&b""[..], b"PK", b"%PDF-1.7", &other, &[0; 100]] {
            assert_eq!(docx_to_markdown(bytes), None);
        }
    }

    /// An archive of these files; the last field chooses deflation.
    pub(crate) fn zip(files: &[(&str, &str, bool)]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, text, is_deflated) in files {
            let method = if *is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
            archive.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn stored_and_deflated_files_are_read() {
        let bytes = zip(&[("a", "one", false), ("b", &"é".repeat(1000), true)]);
        let mut archive = Archive::open(&bytes).unwrap();
        assert_eq!([archive.read("a"), archive.read("c")], [Some("one".to_owned()), None]);
        assert_eq!(archive.read("b"), Some("é".repeat(1000)));
    }

    #[test]
    fn damaged_archives_are_refused() {
        let bytes = zip(&[("a", &"one ".repeat(50), true), ("b", "two", false)]);
        // The last two bytes are the length of the comment, which is not read.
        for length in 0..bytes.len() - 2 {
            let read = Archive::open(&bytes[..length]).and_then(|mut archive| archive.read("b"));
            assert_eq!(read, None, "{length}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0xFF;
            let _any = Archive::open(&changed).map(|mut archive| (archive.read("a"), archive.read("b")));
        }
    }

    #[test]
    fn large_files_and_directories_are_refused() {
        let long = "a".repeat(usize::try_from(MAX_FILE_BYTES).unwrap());
        let bytes = zip(&[("fits", &long, true), ("long", &format!("{long}a"), true)]);
        let mut archive = Archive::open(&bytes).unwrap();
        assert_eq!(archive.read("fits").map(|text| text.len()), Some(long.len()));
        assert_eq!(archive.read("long"), None);
        let names: Vec<String> = (0..=MAX_FILES).map(|number| number.to_string()).collect();
        let files: Vec<(&str, &str, bool)> = names.iter().map(|name| (name.as_str(), "", false)).collect();
        assert!(Archive::open(&zip(&files[1..])).is_some() && Archive::open(&zip(&files)).is_none());
    }
}
