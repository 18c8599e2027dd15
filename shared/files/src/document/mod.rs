//! The text of documents, as sections below headings.

#[cfg(feature = "html")]
mod html;
mod markdown;

use std::sync::Arc;

/// Between two pages.
pub(crate) const PAGE_SEPARATOR: char = '\u{c}';

/// The maximum number of sections: one is in front of the first heading.
const MAX_SECTIONS: usize = MAX_HEADINGS + 1;

/// The maximum length of a title in characters.
const MAX_TITLE_CHARS: usize = 200;

/// The maximum number of elements, texts and attributes of a page.
const MAX_NODES: usize = 200_000;

/// The maximum number of elements that are open at the same time.
const MAX_DEPTH: usize = 1_000;

/// The maximum number of attributes of a tag.
const MAX_ATTRIBUTES: usize = 256;

/// The maximum number of headings of a document.
const MAX_HEADINGS: usize = 20_000;

/// The format of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    #[cfg(feature = "html")]
    Html,
    /// Plain text of pages with a form feed between two of them.
    Pages,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
/// The text of a document.
pub struct Document {
    /// Its `<title>`, or its first heading of the first level.
    pub title: Option<String>,
    /// Its text in order.
    pub sections: Vec<Section>,
}

/// Text below a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The headings that it is below, the highest first.
    pub headings: Vec<Arc<str>>,
    /// Paragraphs, list items and so on, each on its own lines.
    pub text: String,
}

impl Format {
    /// The format of a response with this `Content-Type`; `None` for another format.
    pub fn of_content_type(value: &str) -> Option<Self> {
        match value.split(';').next()?.trim().to_ascii_lowercase().as_str() {
            "text/plain" => Some(Self::Text),
            "text/markdown" | "text/x-markdown" => Some(Self::Markdown),
            #[cfg(feature = "html")]
            "text/html" | "application/xhtml+xml" => Some(Self::Html),
            _ => None,
        }
    }
}

/// Extracts the text of a document in time and memory linear in its length. Text without any markup is a section too.
pub fn extract(text: &str, format: Format) -> Result<Document, ExtractError> {
    let visible = || domain::strip_invisible(text);
    match format {
        Format::Text => Ok(Document { title: None, sections: vec![Section { headings: Vec::new(), text: visible() }] }),
        Format::Markdown => markdown::extract(&visible()),
        #[cfg(feature = "html")]
        Format::Html => html::extract(&visible()),
        Format::Pages => Ok(pages(text)),
    }
}

/// A section for each page that has text, below its number.
fn pages(text: &str) -> Document {
    let pages = (1..).zip(text.split(PAGE_SEPARATOR)).filter(|(_, text)| !text.trim().is_empty());
    let section = |(number, text): (u32, &str)| Section {
        headings: vec![format!("p. {number}").into()],
        text: domain::strip_invisible(text),
    };
    Document { title: None, sections: pages.map(section).collect() }
}

/// Builds the sections of a document from its headings and lines.
#[derive(Default)]
struct Outline {
    document: Document,
    /// The open headings with their levels.
    open: Vec<(usize, Arc<str>)>,
}

impl Outline {
    /// Begins a section below a heading of this level, from 1.
    fn push_heading(&mut self, level: usize, heading: &str) {
        let heading = single_line(heading);
        if heading.is_empty() {
            return;
        }
        // The last one that is kept makes the document too long.
        if self.document.sections.len() > MAX_SECTIONS {
            return;
        }
        if level == 1 && self.document.title.is_none() {
            self.document.title = Some(heading.clone());
        }
        self.open.retain(|(open, _)| *open < level);
        self.open.push((level, heading.into()));
        let headings = self.open.iter().map(|(_, heading)| Arc::clone(heading)).collect();
        self.document.sections.push(Section { headings, text: String::new() });
    }

    fn push_text(&mut self, text: &str) {
        if self.document.sections.is_empty() {
            self.document.sections.push(Section::default());
        }
        if let Some(section) = self.document.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    fn finish(self) -> Result<Document, ExtractError> {
        if self.document.sections.len() > MAX_SECTIONS { Err(ExtractError::TooManyHeadings) } else { Ok(self.document) }
    }
}

/// Text on one line, shortened to a title's length.
pub fn single_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(MAX_TITLE_CHARS).collect()
}

/// Why a document is not read: the bound that it exceeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    /// Too many elements, texts and attributes.
    #[error("it has more than {MAX_NODES} elements, texts and attributes")]
    TooManyNodes,
    /// Too many elements are open at the same time.
    #[error("its elements are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    /// Too many tags are inside many others.
    #[error("too many of its tags are deeply nested")]
    TooNested,
    /// A tag has too many attributes.
    #[error("one of its tags has more than {MAX_ATTRIBUTES} attributes")]
    TooManyAttributes,
    /// Too many headings.
    #[error("it has more than {MAX_HEADINGS} headings")]
    TooManyHeadings,
}
