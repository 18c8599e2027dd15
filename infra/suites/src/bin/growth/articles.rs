//! Articles over HTTP: pages and Markdown whose reading could take more than linear time or memory.

use serde_json::json;

use crate::catalog::pattern;
use crate::patterns::repeat_to_json_size;
use crate::probe::{Kind, Pattern, Probe};

/// Bytes of a body: slightly less than the largest one.
const LARGEST: usize = 1024 * 1024 - 4096;

/// All kinds of articles.
pub(crate) fn kinds() -> Vec<Kind> {
    let kind = |name, patterns| Kind { name, largest: LARGEST, patterns };
    vec![kind("article, HTML", pages()), kind("article, Markdown", texts())]
}

/// Adds an article; its text ends with the number of the request, because an unchanged article is not read.
fn article(field: &str, text: &str) -> Probe {
    Probe::post("/api/admin/articles", json!({ "title": "growth", field: format!("{text} {{{{id}}}}") }).to_string())
}

/// A text that begins in one way and continues with a unit.
fn of(field: &'static str, name: &'static str, begin: impl Into<String>, unit: impl Into<String>) -> Pattern {
    let (begin, unit) = (begin.into(), unit.into());
    pattern(name, move |size| {
        article(field, &format!("{begin}{}", repeat_to_json_size(&unit, size.saturating_sub(begin.len()))))
    })
}

fn numbered(count: usize, element: impl Fn(usize) -> String) -> String {
    (0..count).map(element).collect()
}

fn pages() -> Vec<Pattern> {
    let html = |name, begin: &str, unit: &str| of("html", name, begin, unit);
    let hidden = format!("{}</body><!--{}-->", "<div>".repeat(700), "x".repeat(580));
    let bold = format!("<p>{}", numbered(900, |at| format!("<b a{at}>")));
    let bold_within = format!("<p>{}", numbered(400, |at| format!("<b a{at}>")));
    let wide = format!("<p><b{}>", numbered(200, |at| format!(" a{at}")));
    let attributes = |size: usize| article("html", &format!("<a{}>", numbered(size / 8, |at| format!(" a{at}"))));
    vec![
        html("nested", "", "<div>"),
        html("hidden nesting", "", &hidden),
        html("reopened", &bold, "<p>x"),
        html("reopened, fewer", &bold_within, "<p>x"),
        html("reopened, wide", &wide.repeat(3), "<p>x"),
        pattern("attributes", attributes),
        html("many attributes", "", &format!("<a{}>", numbered(250, |at| format!(" a{at}")))),
        html("open attribute", "<a b=\"", "c d "),
        html("comments", "", "<!--x-->"),
        html("open comment", "<!--", "<b c "),
        html("paragraphs", "", "<p>x"),
        html("unmatched ends", &"<span>".repeat(900), "</x>"),
        html("misnested", "", "<b><i><p></b></i>"),
        html("tables", "", "<table><tr><td>x"),
        html("rows", "<table>", "<tr><td>x<td>y"),
        html("headings", "", "<h6>x</h6>"),
        html("breaks after spaces", &format!("<pre>{}", " ".repeat(100_000)), "<br>"),
        html("articles", "", "<article>"),
        html("forms", "", "<form><div></form>"),
        html("titles of pictures", "<svg>", "<title></title>"),
        html("entities", "", "&amp;&#"),
        html("script", "<script>", "a<b c "),
    ]
}

fn texts() -> Vec<Pattern> {
    let markdown = |name, begin: &str, unit: &str| of("markdown", name, begin, unit);
    let long = "y".repeat(199);
    let headings = format!("# {long}\n## {long}\n### {long}\n#### {long}\n##### {long}\n");
    vec![
        markdown("](", "", "]("),
        markdown("](x)", "", "](x)"),
        markdown("[", "", "["),
        markdown("[a](", "", "[a]("),
        markdown("[a](b)", "", "[a](b)"),
        markdown("headings", "", "# a\n"),
        markdown("deep headings", &headings, "###### a\n"),
        markdown("underlined", "", "a\n===\n"),
        markdown("one sentence", "", "a"),
        markdown("quotes", "", "”"),
        markdown("fences", "", "```\n~~~\n"),
        markdown("front matter", "---\n", "title: a\n"),
        markdown("cells", "", "| a "),
    ]
}
