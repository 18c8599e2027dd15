use std::fmt::Write;

use domain::{AnswerPart, CitationScanner, Source, TurnAccumulator};
use serde_json::{Value, json};

/// Returns a citation for each mark such as `[1]` or `[1, 2]`, in text order. Then each page without a
/// mark follows, with an empty span at the end of the text. Spans are in Unicode scalar values, as Python counts.
pub(super) fn annotate(text: &str, sources: &[Source]) -> Vec<Value> {
    let (cited, length) = (citations(text, sources), text.chars().count());
    let uncited = sources.iter().filter(|source| cited.iter().all(|(.., one)| one.index != source.index));
    let uncited: Vec<_> = uncited.map(|source| (length, length, source)).collect();
    cited.into_iter().chain(uncited).map(|(start, end, source)| annotation(source, start, end)).collect()
}

/// Returns the page of each mark in text order, with the span of the mark.
pub(super) fn citations<'a>(text: &str, sources: &'a [Source]) -> Vec<(usize, usize, &'a Source)> {
    let source = |number: &usize| sources.iter().find(|source| source.index == *number);
    let marks = find_marks(text);
    let cited =
        marks.iter().flat_map(|mark| mark.numbers.iter().filter_map(source).map(|one| (mark.start, mark.end, one)));
    cited.collect()
}

fn annotation(source: &Source, start_index: usize, end_index: usize) -> Value {
    let Source { title, url, .. } = source;
    let citation = json!({ "start_index": start_index, "end_index": end_index, "title": title, "url": url });
    json!({ "type": "url_citation", "url_citation": citation })
}

pub(super) struct Mark {
    start: usize,
    end: usize,
    pub(super) numbers: Vec<usize>,
}

/// Finds the citations of an answer, with their spans.
pub(super) fn find_marks(text: &str) -> Vec<Mark> {
    let (mut scanner, mut parts) = (CitationScanner::default(), Vec::new());
    scanner.push(text, &mut parts);
    scanner.finish(&mut parts);
    let (mut marks, mut start) = (Vec::new(), 0);
    for part in parts {
        let (AnswerPart::Text(raw) | AnswerPart::Citation { raw, .. }) = &part;
        let end = start + raw.chars().count();
        if let AnswerPart::Citation { numbers, .. } = part {
            marks.push(Mark { start, end, numbers });
        }
        start = end;
    }
    marks
}

/// The link definitions of the pages that an answer cites, as Markdown to append to its text; empty for none, and for an
/// answer that is JSON.
pub(super) fn link_definitions(turn: &TurnAccumulator) -> String {
    let mut definitions = String::new();
    if turn.content.trim_start().starts_with(['{', '[']) {
        return definitions;
    }
    let marks = find_marks(&turn.content);
    for source in &turn.sources {
        if marks.iter().any(|mark| mark.numbers.contains(&source.index)) {
            let start = if definitions.is_empty() { "\n\n" } else { "\n" };
            let url = source.url.replace('<', "%3C").replace('>', "%3E").replace(char::is_whitespace, "%20");
            let title = source.title.split_whitespace().collect::<Vec<_>>().join(" ");
            let title = title.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(definitions, "{start}[{}]: <{url}> \"{title}\"", source.index);
        }
    }
    definitions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(usize, usize, &'static str)> {
        let source = |index, url: &str| Source { index, title: String::new(), url: url.into(), excerpt: String::new() };
        let sources = [source(1, "a"), source(2, "b")];
        let all = annotate(text, &sources);
        let url = |url: &Value| if url == "a" { "a" } else { "b" };
        let index = |index: &Value| usize::try_from(index.as_u64().unwrap()).unwrap();
        let citations = all.iter().map(|one| &one["url_citation"]);
        citations.map(|one| (index(&one["start_index"]), index(&one["end_index"]), url(&one["url"]))).collect()
    }

    #[test]
    fn marks_become_citations_and_uncited_sources_follow() {
        assert_eq!(spans("晴[1]，雨[2][1]"), [(1, 4, "a"), (6, 9, "b"), (9, 12, "a")]);
        assert_eq!(spans("晴[1, 2]"), [(1, 7, "a"), (1, 7, "b")]);
        assert_eq!(spans("晴 [2]"), [(2, 5, "b"), (5, 5, "a")]);
        assert_eq!(spans("`x[1]` [3] [x] [[1]"), [(16, 19, "a"), (19, 19, "b")]);
        assert_eq!(spans(""), [(0, 0, "a"), (0, 0, "b")]);
    }
}

#[cfg(test)]
mod link_tests {
    use domain::Source;

    use super::*;

    fn of(content: &str) -> String {
        let source = |index: usize, title: &str, url: &str| Source {
            index,
            title: title.into(),
            url: url.into(),
            excerpt: String::new(),
        };
        let sources = vec![
            source(1, "A \"b\"\n\\c", "https://a.example/x_(y)"),
            source(2, "", "https://b.example/a b>"),
            source(12, "L", "https://l.example"),
        ];
        link_definitions(&TurnAccumulator { content: content.into(), sources, ..TurnAccumulator::default() })
    }

    #[test]
    fn only_cited_pages_are_defined() {
        let (a, b) = (r#"[1]: <https://a.example/x_(y)> "A \"b\" \\c""#, "[2]: <https://b.example/a%20b%3E> \"\"");
        assert_eq!(of("晴 [2][1]。"), format!("\n\n{a}\n{b}"));
        assert_eq!(of("晴 [1, 2]，`[12]`。"), format!("\n\n{a}\n{b}"));
        assert_eq!((of("晴。"), of("晴 [3]。"), of("{\"a\": \"晴 [1]\"}")), Default::default());
    }
}
