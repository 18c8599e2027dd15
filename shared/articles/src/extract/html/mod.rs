//! The text of HTML pages, as a browser's parser reads them.

mod content;
mod parser;
mod text;

use super::{Document, single_line};

/// Extracts the text of the part of a page that has its article.
///
/// Headings begin sections; list items, table rows and lines of code are on lines of their own. A page whose elements are
/// nested deeper than [`parser::MAX_DEPTH`] gives no text.
pub(super) fn extract(html: &str) -> Document {
    let Some(page) = parser::parse(html) else { return Document::default() };
    let mut document = text::read(content::main_element(&page));
    let title = content::title(&page).map(|title| single_line(&title)).filter(|title| !title.is_empty());
    document.title = title.or(document.title);
    document
}

#[cfg(test)]
mod tests;
