//! Text of DOCX documents, as Markdown.
//!
//! The format is ECMA-376, Part 1: a ZIP archive whose `word/document.xml` has paragraphs (`w:p`) of texts (`w:t`), and
//! whose `word/styles.xml` names the styles of headings.

mod archive;
mod xml;

use std::collections::HashMap;

use self::archive::Archive;
use self::xml::{Tag, tags};

#[cfg(test)]
pub(crate) use self::archive::tests::zip;

/// Converts a document to Markdown: headings, paragraphs and table rows, each on a line of its own; `None` if it is not a
/// DOCX file, or unpacks to more than 64 MiB.
pub fn docx_to_markdown(bytes: &[u8]) -> Option<String> {
    let archive = Archive::open(bytes)?;
    let levels = archive.read("word/styles.xml").map(|styles| heading_levels(&styles)).unwrap_or_default();
    Some(markdown(&archive.read("word/document.xml")?, &levels))
}

/// The levels of headings by the ids of their styles. Only the names of styles are the same in all languages.
fn heading_levels(styles: &str) -> HashMap<String, usize> {
    let (mut levels, mut style) = (HashMap::new(), None);
    for (_, tag) in tags(styles) {
        match tag.name {
            "w:style" => style = tag.attribute("w:styleId"),
            "w:name" => {
                let level = tag.attribute("w:val").as_deref().and_then(heading_level);
                levels.extend(style.take().zip(level));
            }
            _ => {}
        }
    }
    levels
}

/// The level of a heading style of this name.
fn heading_level(name: &str) -> Option<usize> {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("heading ") {
        Some(level) => level.parse().ok().filter(|level| (1..=6).contains(level)),
        None => (name == "title").then_some(1),
    }
}

fn markdown(document: &str, levels: &HashMap<String, usize>) -> String {
    let (mut text, mut paragraph, mut level, mut is_text) = (String::new(), String::new(), None, false);
    for (before, tag) in tags(document) {
        if is_text {
            paragraph.push_str(&before);
        }
        is_text = tag.name == "w:t" && !tag.is_end;
        match tag {
            Tag { name: "w:pStyle", .. } => level = tag.attribute("w:val").and_then(|id| levels.get(&id)),
            Tag { name: "w:tab", .. } => paragraph.push(' '),
            Tag { name: "w:br" | "w:cr", .. } => paragraph.push('\n'),
            Tag { name: "w:p", is_end: true, .. } => {
                push_paragraph(&mut text, &paragraph, level.take().copied());
                paragraph.clear();
            }
            _ => {}
        }
    }
    text
}

fn push_paragraph(text: &mut String, paragraph: &str, level: Option<usize>) {
    let heading = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    match level {
        Some(level) if !heading.is_empty() => {
            text.push_str(&"#".repeat(level));
            text.push(' ');
            text.push_str(&heading);
        }
        _ => text.push_str(paragraph.trim()),
    }
    text.push_str("\n\n");
}

#[cfg(test)]
mod tests {
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
        let bytes = archive::tests::zip(&[("word/styles.xml", STYLES, true), ("word/document.xml", DOCUMENT, true)]);
        let expected = "# 退款 policy\n\nWithin <7> days.\n\n## Details\n\ncell\n\n";
        assert_eq!(docx_to_markdown(&bytes).as_deref(), Some(expected));
    }

    #[test]
    fn other_files_are_refused() {
        let other = archive::tests::zip(&[("xl/workbook.xml", "<a/>", false)]);
        for bytes in [&b""[..], b"PK", b"%PDF-1.7", &other, &[0; 100]] {
            assert_eq!(docx_to_markdown(bytes), None);
        }
    }
}
