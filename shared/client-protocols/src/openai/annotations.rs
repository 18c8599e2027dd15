use domain::{AnswerPart, CitationScanner, Source};
use serde::Serialize;

/// A URL citation: a page and the text span that cites it.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Annotation<'a> {
    r#type: &'static str,
    url_citation: Citation<'a>,
}

#[derive(Debug, PartialEq, Serialize)]
struct Citation<'a> {
    /// In Unicode scalar values, as Python counts.
    start_index: usize,
    end_index: usize,
    title: &'a str,
    url: &'a str,
}

/// Returns a citation for each mark such as `[1]` or `[1, 2]`, in text order. Then each page without a
/// mark follows, with an empty span at the end of the text.
pub(super) fn annotate<'a>(text: &str, sources: &'a [Source]) -> Vec<Annotation<'a>> {
    let marks = find_marks(text);
    let length = text.chars().count();
    let cited = marks.iter().flat_map(|mark| {
        let named = mark.numbers.iter().filter_map(|number| sources.iter().find(|source| source.index == *number));
        named.map(|source| Annotation::new(source, mark.start, mark.end))
    });
    let uncited = sources.iter().filter(|source| marks.iter().all(|mark| !mark.numbers.contains(&source.index)));
    cited.chain(uncited.map(|source| Annotation::new(source, length, length))).collect()
}

impl<'a> Annotation<'a> {
    fn new(source: &'a Source, start_index: usize, end_index: usize) -> Self {
        let url_citation = Citation { start_index, end_index, title: &source.title, url: &source.url };
        Self { r#type: "url_citation", url_citation }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(text: &str) -> Vec<(usize, usize, &'static str)> {
        let source = |index, url: &str| Source { index, title: String::new(), url: url.into(), excerpt: String::new() };
        let sources = [source(1, "a"), source(2, "b")];
        let all = annotate(text, &sources);
        let url = |url: &str| if url == "a" { "a" } else { "b" };
        all.iter().map(|one| &one.url_citation).map(|one| (one.start_index, one.end_index, url(one.url))).collect()
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
