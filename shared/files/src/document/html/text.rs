use ego_tree::NodeRef;
use ego_tree::iter::Edge;
use scraper::Node;
use scraper::node::Element;

use super::super::{Document, ExtractError, Outline};
use super::content::article_edges;

/// Elements that begin and end a line of text, in addition to two of longer names.
const BLOCKS: [&str; 26] = [
    "p", "div", "section", "article", "main", "header", "br", "hr", "li", "ul", "ol", "dl", "dt", "dd", "table",
    "caption", "tr", "pre", "figure", "details", "summary", "address", "fieldset", "legend", "form", "center",
];

/// Between the cells of a table row.
const CELL_SEPARATOR: &str = " | ";

/// Signs that link a heading to itself.
const ANCHOR_SIGNS: [char; 4] = ['¶', '§', '🔗', '#'];

pub(super) fn read(root: NodeRef<'_, Node>) -> Result<Document, ExtractError> {
    let mut reader = Reader::default();
    for edge in article_edges(root) {
        let (Edge::Open(node) | Edge::Close(node)) = edge;
        match (edge, node.value()) {
            (Edge::Open(_), Node::Element(element)) => reader.begin(element, node),
            (Edge::Open(_), Node::Text(text)) => reader.push(text),
            (Edge::Close(_), Node::Element(element)) => reader.end(element.name()),
            _ => {}
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    outline: Outline,
    line: String,
    /// The length of the marker at the start of the open line, which alone is no line.
    marker: usize,
    /// The level and the text of the open heading.
    heading: Option<(usize, String)>,
    /// For each open list the number of the next item, if items have numbers.
    lists: Vec<Option<u32>>,
    /// For each open table whether its rows are lines. Tables for the layout of a page have headings or tables in cells.
    tables: Vec<bool>,
    /// The number of open `<pre>` elements: their white space is kept.
    preformatted: usize,
}

impl Reader {
    fn begin(&mut self, element: &Element, node: NodeRef<'_, Node>) {
        let name = element.name();
        self.boundary(name);
        match name {
            "ul" => self.lists.push(None),
            "ol" => self.lists.push(element.attr("start").and_then(|start| start.trim().parse().ok()).or(Some(1))),
            "li" => self.begin_item(),
            "table" => self.tables.push(has_data(node)),
            "td" | "th" => self.begin_cell(),
            "pre" => self.preformatted += 1,
            _ => {}
        }
        if let Some(level) = heading_level(name) {
            self.end_heading();
            self.break_line();
            self.heading = Some((level, String::new()));
        }
    }

    fn end(&mut self, name: &str) {
        self.boundary(name);
        match name {
            "ul" | "ol" => {
                self.lists.pop();
            }
            "table" => {
                self.tables.pop();
            }
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            _ if heading_level(name).is_some() => self.end_heading(),
            _ => {}
        }
    }

    /// Ends the line at a block. In a row of data only the row and the table do.
    fn boundary(&mut self, name: &str) {
        if !BLOCKS.contains(&name) && !matches!(name, "blockquote" | "figcaption") {
            return;
        }
        if self.heading.is_some() || (self.is_in_data() && !matches!(name, "tr" | "table" | "caption")) {
            self.push(" ");
        } else {
            self.break_line();
        }
    }

    fn begin_item(&mut self) {
        if self.is_in_data() || self.heading.is_some() {
            return;
        }
        self.break_line();
        match self.lists.last_mut() {
            Some(Some(number)) => {
                self.line = format!("{number}. ");
                *number = number.saturating_add(1);
            }
            _ => "- ".clone_into(&mut self.line),
        }
        self.marker = self.line.len();
    }

    fn begin_cell(&mut self) {
        if !self.is_in_data() {
            self.break_line();
        } else if !self.line.trim().is_empty() {
            self.line.truncate(self.line.trim_end().len());
            self.line.push_str(CELL_SEPARATOR);
        }
    }

    fn is_in_data(&self) -> bool {
        self.tables.last() == Some(&true)
    }

    fn push(&mut self, text: &str) {
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(text);
        } else if self.preformatted > 0 && !self.is_in_data() {
            for part in text.split_inclusive('\n') {
                self.line.push_str(part.trim_end_matches('\n'));
                if part.ends_with('\n') {
                    self.push_line();
                }
            }
        } else {
            for character in text.chars() {
                match character.is_whitespace() {
                    true if self.line.is_empty() || self.line.ends_with(' ') => {}
                    true => self.line.push(' '),
                    false => self.line.push(character),
                }
            }
        }
    }

    /// Ends the open line unless it is empty.
    fn break_line(&mut self) {
        if self.line.trim_end().len() > self.marker.saturating_sub(1) {
            self.push_line();
        } else {
            // White space alone is no line; kept, each further block would read it again.
            self.line.truncate(self.marker);
        }
    }

    fn push_line(&mut self) {
        self.outline.push_text(self.line.trim_end());
        self.outline.push_text("\n");
        self.line.clear();
        self.marker = 0;
    }

    fn end_heading(&mut self) {
        if let Some((level, heading)) = self.heading.take() {
            self.outline.push_heading(level, without_anchor(heading.trim()));
        }
    }

    fn finish(mut self) -> Result<Document, ExtractError> {
        self.end_heading();
        self.break_line();
        self.outline.finish()
    }
}

/// A heading without the sign that links to it; `C#` stays.
fn without_anchor(heading: &str) -> &str {
    match heading.strip_suffix(ANCHOR_SIGNS) {
        Some(rest) if !heading.ends_with('#') || rest.is_empty() || rest.ends_with(char::is_whitespace) => {
            rest.trim_end()
        }
        _ => heading,
    }
}

fn has_data(table: NodeRef<'_, Node>) -> bool {
    let is_layout = |element: &Element| element.name() == "table" || heading_level(element.name()).is_some();
    !table.descendants().skip(1).any(|node| node.value().as_element().is_some_and(is_layout))
}

fn heading_level(name: &str) -> Option<usize> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(usize::from(level - b'0')),
        _ => None,
    }
}
