//! The text of HTML pages, as a browser's parser reads them.

mod content;
mod parser;
mod text;

use super::{Document, ExtractError, single_line};

/// Extracts the text of the part of a page that has its article.
///
/// Headings begin sections; list items, table rows and lines of code are on lines of their own.
pub(super) fn extract(html: &str) -> Result<Document, ExtractError> {
    let page = parser::parse(html)?;
    let mut document = text::read(content::main_element(&page))?;
    let title = content::title(&page).map(|title| single_line(&title)).filter(|title| !title.is_empty());
    document.title = title.or(document.title);
    Ok(document)
}

#[cfg(test)]
mod tests;
