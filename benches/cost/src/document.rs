//! Inserts the tables into the document.

use crate::tables::Table;

/// Replaces the tables between their marks: `<!-- NAME -->` and `<!-- end of NAME -->`.
///
/// # Panics
/// If the text has no marks for a table.
pub fn fill_tables(text: &str, tables: &[Table]) -> String {
    tables.iter().fold(text.to_owned(), |text, (name, table)| {
        let (start, end) = (format!("<!-- {name} -->\n"), format!("\n<!-- end of {name} -->"));
        let parts = text.split_once(&start).and_then(|(before, rest)| Some((before, rest.split_once(&end)?.1)));
        let (before, after) = parts.unwrap_or_else(|| panic!("the document has no place for the table {name}"));
        format!("{before}{start}\n{table}{end}{after}")
    })
}
