//! The document with its tables.

use crate::tables::Table;

/// A text with the tables between their marks: `<!-- NAME -->` and `<!-- end of NAME -->`.
///
/// # Panics
/// When a table has no marks.
pub fn filled(text: &str, tables: &[Table]) -> String {
    tables.iter().fold(text.to_owned(), |text, (name, table)| {
        let (start, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- end of {name} -->"));
        let parts = text.split_once(&start).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
        let (before, after) = parts.unwrap_or_else(|| panic!("the document has no place for the table {name}"));
        format!("{before}{start}\n{table}{end}{after}")
    })
}
