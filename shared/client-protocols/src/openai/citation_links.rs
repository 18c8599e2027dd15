use std::fmt::Write;

use domain::TurnAccumulator;

use super::annotations::find_marks;

/// The link definitions of the pages that an answer cites, as Markdown to append to its text; empty for none, and for an
/// answer that is JSON.
pub(super) fn definitions(turn: &TurnAccumulator) -> String {
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
        definitions(&TurnAccumulator { content: content.into(), sources, ..TurnAccumulator::default() })
    }

    #[test]
    fn only_cited_pages_are_defined() {
        let (a, b) = (r#"[1]: <https://a.example/x_(y)> "A \"b\" \\c""#, "[2]: <https://b.example/a%20b%3E> \"\"");
        assert_eq!(of("晴 [2][1]。"), format!("\n\n{a}\n{b}"));
        assert_eq!(of("晴 [1, 2]，`[12]`。"), format!("\n\n{a}\n{b}"));
        assert_eq!((of("晴。"), of("晴 [3]。"), of("{\"a\": \"晴 [1]\"}")), Default::default());
    }
}
