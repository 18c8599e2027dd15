//! Text of DOCX documents. ECMA-376 Part 1, 11.3.10 and 17: paragraphs (`w:p`) of texts (`w:t`), with styles by their ids.

use std::collections::HashMap;

use quick_xml::events::Event;

use super::archive::Archive;
use super::body;
use super::xml::{attribute, for_each_event};
use crate::FileError;

/// Reads a document as Markdown, with its footnotes and endnotes at the end.
pub(super) fn read(archive: &mut Archive<'_>) -> Result<String, FileError> {
    let damaged = || FileError::damaged("it is not a readable DOCX document");
    let styles = archive.read("word/styles.xml")?;
    let levels = styles.and_then(|styles| heading_levels(&styles)).unwrap_or_default();
    let document = match archive.read("word/document.xml")? {
        Some(document) => document,
        None => archive.read("word/document2.xml")?.ok_or_else(damaged)?,
    };
    let mut text = body::read(&document, &levels).ok_or_else(damaged)?;
    for part in ["word/footnotes.xml", "word/endnotes.xml"] {
        let notes = archive.read(part)?.and_then(|notes| body::read(&notes, &HashMap::new()));
        text.push_str(&notes.unwrap_or_default());
    }
    Ok(text)
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
