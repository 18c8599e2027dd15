//! Text of DOCX documents, as Markdown.
//!
//! The format is ECMA-376, Part 1: a ZIP archive whose `word/document.xml` has paragraphs (`w:p`) of texts (`w:t`), and
//! whose `word/styles.xml` names the styles of headings.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::archive::Archive;
use super::xml::{attribute, for_each_event, push_character};
use crate::{FileError, FileText};

/// Reads a document as Markdown: headings, paragraphs and table rows, each on a line of its own.
pub(super) fn read(archive: &mut Archive<'_>) -> Result<FileText, FileError> {
    let damaged = || FileError::damaged("it is not a readable DOCX document");
    let styles = archive.read("word/styles.xml")?;
    let levels = styles.and_then(|styles| heading_levels(&styles)).unwrap_or_default();
    let document = archive.read("word/document.xml")?.ok_or_else(damaged)?;
    let text = markdown(&document, &levels).ok_or_else(damaged)?;
    Ok(FileText { text, ..FileText::default() })
}

/// The levels of headings by the ids of their styles. Only the names of styles are the same in all languages.
fn heading_levels(styles: &str) -> Option<HashMap<String, usize>> {
    let (mut levels, mut style) = (HashMap::new(), None);
    for_each_event(styles, |event| match event {
        Event::Start(tag) if tag.name().as_ref() == "w:style" => style = attribute(&tag, "w:styleId"),
        Event::Start(tag) if tag.name().as_ref() == "w:name" => {
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
        Event::Text(part) if is_text => paragraph.push_str(&part),
        Event::GeneralRef(reference) if is_text => push_character(&mut paragraph, &reference),
        Event::Start(tag) => {
            is_text = tag.name().as_ref() == "w:t";
            match tag.name().as_ref() {
                "w:pStyle" => level = attribute(&tag, "w:val").and_then(|id| levels.get(&id)),
                "w:tab" => paragraph.push(' '),
                "w:br" | "w:cr" => paragraph.push('\n'),
                _ => {}
            }
        }
        Event::End(tag) => {
            is_text = false;
            if tag.name().as_ref() == "w:p" {
                push_paragraph(&mut text, &paragraph, level.take().copied());
                paragraph.clear();
            }
        }
        _ => {}
    })?;
    Some(text)
}

fn push_paragraph(text: &mut String, paragraph: &str, level: Option<usize>) {
    let heading = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match level {
        Some(level) if !heading.is_empty() => text.extend([&*"#".repeat(level), " ", &heading]),
        _ => text.push_str(paragraph.trim()),
    }
    text.push_str("\n\n");
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
}
