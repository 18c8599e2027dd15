//! Paragraphs and tables of a part. The markup of documents and that of drawings have the same local names for them.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};

use super::xml::{attribute, for_each_event, push_character};

/// Between the cells of a table row.
const CELL_SEPARATOR: &str = " | ";

/// Elements without text of the document: a second form of a drawing, the number of a slide, the positions of tabs.
const SKIPPED: [&str; 4] = ["Fallback", "fld", "tabs", "tabLst"];

/// Reads a part as Markdown: headings, paragraphs, list items and table rows; `None` if it is damaged. `levels` are those
/// of the styles of headings.
pub(super) fn read(xml: &str, levels: &HashMap<String, usize>) -> Option<String> {
    let mut body = Body { levels: Some(levels), ..Body::default() };
    for_each_event(xml, |event| match event {
        Event::Start(tag) if body.skipped > 0 || SKIPPED.contains(&tag.local_name().as_ref()) => body.skipped += 1,
        Event::End(_) if body.skipped > 0 => body.skipped -= 1,
        _ if body.skipped > 0 => {}
        Event::Text(part) if body.is_text => body.paragraph.push_str(&part),
        Event::GeneralRef(reference) if body.is_text => push_character(&mut body.paragraph, &reference),
        Event::Start(tag) => body.begin(&tag),
        Event::End(tag) => body.end(tag.local_name().as_ref()),
        _ => {}
    })?;
    Some(body.text)
}

#[derive(Default)]
struct Body<'a> {
    levels: Option<&'a HashMap<String, usize>>,
    text: String,
    paragraph: String,
    is_text: bool,
    /// The level of the open paragraph, if it is a heading.
    level: Option<usize>,
    is_item: bool,
    /// The mark of the note that the next paragraph begins.
    note: Option<String>,
    /// How many table rows are open, and the cells of the outermost one.
    rows: usize,
    cells: Vec<String>,
    /// How many elements are open from a skipped one on.
    skipped: usize,
}

impl Body<'_> {
    fn begin(&mut self, tag: &BytesStart<'_>) {
        let name = tag.local_name();
        self.is_text = name.as_ref() == "t";
        match name.as_ref() {
            "pStyle" => self.level = attribute(tag, "w:val").and_then(|id| self.levels?.get(&id).copied()),
            // The title of a slide.
            "ph" if attribute(tag, "type").is_some_and(|kind| kind == "title" || kind == "ctrTitle") => {
                self.level = Some(1);
            }
            "numPr" => self.is_item = true,
            "tab" => self.paragraph.push('\t'),
            "br" | "cr" => self.paragraph.push('\n'),
            "footnoteReference" | "endnoteReference" => self.paragraph.push_str(&note_mark(tag)),
            "footnote" | "endnote" => self.note = Some(note_mark(tag)),
            "tr" => self.rows += 1,
            "tc" if self.rows == 1 => self.cells.push(String::new()),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        self.is_text = false;
        match name {
            "p" => self.end_paragraph(),
            "tr" => {
                self.rows = self.rows.saturating_sub(1);
                if self.rows == 0 {
                    self.text.extend([&*self.cells.join(CELL_SEPARATOR), "\n"]);
                    self.cells.clear();
                }
            }
            "tbl" if self.rows == 0 => self.text.push('\n'),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let (level, is_item) = (self.level.take(), std::mem::take(&mut self.is_item));
        let line = || paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(cell) = self.cells.last_mut().filter(|_| self.rows > 0) {
            cell.extend([if cell.is_empty() { "" } else { " " }, &line()]);
            return;
        }
        if paragraph.trim().is_empty() {
            return;
        }
        if let Some(note) = self.note.take() {
            self.text.extend([&*note, ": "]);
        }
        match level {
            Some(level) => self.text.extend([&*"#".repeat(level), " ", &line()]),
            None if is_item => self.text.extend(["- ", &line()]),
            None => self.text.push_str(paragraph.trim()),
        }
        self.text.push_str(if is_item { "\n" } else { "\n\n" });
    }
}

/// The mark of a footnote or an endnote, as in Markdown.
fn note_mark(tag: &BytesStart<'_>) -> String {
    let kind = if tag.local_name().as_ref().starts_with('e') { "e" } else { "" };
    format!("[^{kind}{}]", attribute(tag, "w:id").unwrap_or_default())
}
