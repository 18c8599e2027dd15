use super::{Document, Outline, single_line};
use crate::entities::decode;

/// Elements whose content is no text of the article.
const SKIPPED: [&str; 13] = [
    "script", "style", "noscript", "template", "svg", "nav", "footer", "aside", "form", "iframe", "button", "select",
    "title",
];

/// Elements that end a line of text.
const BLOCKS: [&str; 22] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "br",
    "hr",
    "li",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "table",
    "tr",
    "blockquote",
    "pre",
    "figure",
    "figcaption",
    "details",
    "summary",
];

/// Elements that contain the article, if a page has one.
const CONTENT: [&str; 2] = ["article", "main"];

/// Extracts the text of HTML in one pass.
///
/// Only the text in `<article>` or `<main>` is kept, if there is such an element. Scripts, navigation and forms are
/// skipped up to their end tag; one that is missing ends at the end of the text.
pub(super) fn extract(html: &str) -> Document {
    let content = CONTENT.into_iter().find_map(|name| element(html, name));
    let mut reader = Reader::default();
    reader.read(content.unwrap_or(html));
    let title = element(html, "title").map(|title| single_line(&decode(title))).filter(|title| !title.is_empty());
    let mut document = reader.finish();
    document.title = title.or(document.title);
    document
}

/// The content of the first element of this name, up to its last end tag.
fn element<'a>(html: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = html;
    let start = loop {
        let (_, tag, after) = next_tag(rest)?;
        if tag.name.eq_ignore_ascii_case(name) && !tag.is_end {
            break after;
        }
        rest = after;
    };
    Some(start.get(..last_end_tag(start, name)?).unwrap_or_default())
}

/// Where the last end tag of this name starts.
fn last_end_tag(html: &str, name: &str) -> Option<usize> {
    html.rmatch_indices("</").map(|(at, _)| at).find(|at| {
        let tag = html.get(at + 2..at + 2 + name.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name))
    })
}

/// A start tag or an end tag.
struct Tag<'a> {
    name: &'a str,
    is_end: bool,
}

/// The text before the next tag, the tag, and the text after it. Comments are tags without a name.
fn next_tag(html: &str) -> Option<(&str, Tag<'_>, &str)> {
    let mut from = 0;
    loop {
        let at = from + html.get(from..)?.find('<')?;
        let (text, rest) = (html.get(..at)?, html.get(at + 1..)?);
        if let Some(comment) = rest.strip_prefix("!--") {
            let after = comment.find("-->").and_then(|end| comment.get(end + 3..)).unwrap_or_default();
            return Some((text, Tag { name: "", is_end: false }, after));
        }
        let is_end = rest.starts_with('/');
        let named = rest.strip_prefix('/').unwrap_or(rest);
        if named.starts_with(|first: char| first.is_ascii_alphabetic() || first == '!' || first == '?') {
            let end = tag_end(named);
            let name_end = named.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(named.len());
            let tag = Tag { name: named.get(..name_end)?, is_end };
            return Some((text, tag, named.get(end..).unwrap_or_default()));
        }
        // A plain `<` is text.
        from = at + 1;
    }
}

/// The length of a tag with its `>`, which may also be in a quoted attribute.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    for (at, byte) in tag.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return at + 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    tag.len()
}

#[derive(Default)]
struct Reader {
    outline: Outline,
    /// The level and the text of the open heading.
    heading: Option<(usize, String)>,
    /// The number of open `<pre>` elements: their white space is kept.
    preformatted: usize,
}

impl Reader {
    fn read(&mut self, html: &str) {
        let mut rest = html;
        while let Some((text, tag, after)) = next_tag(rest) {
            self.text(text);
            rest = after;
            let name = tag.name.to_ascii_lowercase();
            if !tag.is_end && SKIPPED.contains(&name.as_str()) {
                rest = skip_element(after, &name);
            } else {
                self.tag(&name, tag.is_end);
            }
        }
        self.text(rest);
    }

    fn text(&mut self, text: &str) {
        let text = decode(text);
        if let Some((_, heading)) = &mut self.heading {
            heading.push_str(&text);
        } else if self.preformatted > 0 {
            self.outline.push_text(&text);
        } else if !text.is_empty() {
            self.outline.push_text(&collapse(&text));
        }
    }

    fn tag(&mut self, name: &str, is_end: bool) {
        if name == "pre" {
            self.preformatted = if is_end { self.preformatted.saturating_sub(1) } else { self.preformatted + 1 };
        }
        if let Some(level) = heading_level(name) {
            self.end_heading();
            self.heading = (!is_end).then(|| (level, String::new()));
        } else if BLOCKS.contains(&name) {
            self.line_end();
        } else if name == "td" || name == "th" {
            self.text(" ");
        }
    }

    fn line_end(&mut self) {
        match &mut self.heading {
            Some((_, heading)) => heading.push(' '),
            None => self.outline.push_text("\n"),
        }
    }

    fn end_heading(&mut self) {
        if let Some((level, heading)) = self.heading.take() {
            self.outline.push_heading(level, &heading);
        }
    }

    fn finish(mut self) -> Document {
        self.end_heading();
        self.outline.finish()
    }
}

/// The text after the end tag of a skipped element.
fn skip_element<'a>(html: &'a str, name: &str) -> &'a str {
    let mut from = 0;
    while let Some(at) = html.get(from..).and_then(|rest| rest.find("</")).map(|at| from + at) {
        let tag = html.get(at + 2..).unwrap_or_default();
        if tag.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name)) {
            return tag.find('>').and_then(|end| tag.get(end + 1..)).unwrap_or_default();
        }
        from = at + 2;
    }
    ""
}

fn heading_level(name: &str) -> Option<usize> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(usize::from(level - b'0')),
        _ => None,
    }
}

/// Replaces each run of white space by a space.
fn collapse(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for character in text.chars() {
        match character.is_whitespace() {
            true if collapsed.ends_with(' ') => {}
            true => collapsed.push(' '),
            false => collapsed.push(character),
        }
    }
    collapsed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(html: &str) -> (Option<String>, Vec<(String, String)>) {
        let document = extract(html);
        let lines =
            |text: &str| text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("|");
        let sections = document.sections.iter().map(|section| (section.headings.join(" > "), lines(&section.text)));
        (document.title.clone(), sections.collect())
    }

    #[test]
    fn page_has_title_headings_and_lines() {
        let html = "<!doctype html><html><head><title> Tea &amp;\n leaves</title><style>p{}</style></head><body>\
            <nav><a>Home</a></nav><h1 class='a>b'>Tea</h1><p>One\n  two<br>three</p><ul><li>a<li>b</ul>\
            <h2>Green <em>tea</em></h2><pre>x\n  y</pre><script>if (a < b) { '</p>' }</script><p>4 &lt; 5 < 6</p>";
        let expected = [("Tea", "One two|three|a|b"), ("Tea > Green tea", "x|y|4 < 5 < 6")];
        let (title, mut sections) = read(html);
        sections.retain(|(path, text)| !path.is_empty() || !text.is_empty());
        let sections: Vec<(&str, &str)> = sections.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        assert_eq!((title.as_deref(), sections), (Some("Tea & leaves"), expected.to_vec()));
    }

    #[test]
    fn only_the_article_of_a_page_is_kept() {
        let html = "<body><header>Shop</header><main>x<article><h1>A</h1>text</article></main><footer>c</footer>";
        assert_eq!(read(html), (Some("A".to_owned()), vec![("A".to_owned(), "text".to_owned())]));
    }

    #[test]
    fn broken_markup_is_read_to_its_end() {
        for html in ["<", "<p", "<p class=\"", "</", "<!--", "a<!-- b", "<script>x", "<h1>t", "<title>", "茶<茶"] {
            let _read = extract(html);
        }
        assert_eq!(read("a<!-- <p>b --> c").1, [(String::new(), "a c".to_owned())]);
        assert_eq!(read("<h1>t").0.as_deref(), Some("t"));
    }
}
