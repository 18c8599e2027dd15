use super::{Document, ExtractError, Outline};

/// Extracts the text of Markdown. Headings of both forms are read; code blocks stay as they are; of links and pictures
/// the text stays.
pub(super) fn extract(text: &str) -> Result<Document, ExtractError> {
    let mut outline = Outline::default();
    let (title, text) = split_front_matter(text);
    outline.document.title = title;
    let mut fence: Option<&str> = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(mark) = fence_mark(line) {
            match fence {
                None => fence = Some(mark),
                Some(open) if mark.starts_with(open) => fence = None,
                Some(_) => {}
            }
        } else if fence.is_some() {
            outline.push_text(line);
        } else if let Some((level, heading)) = heading(line) {
            outline.push_heading(level, &without_links(heading));
        } else if let Some(level) = lines.peek().and_then(|next| underline_level(line, next)) {
            outline.push_heading(level, &without_links(line));
            lines.next();
        } else {
            outline.push_text(&without_links(line));
        }
        outline.push_text("\n");
    }
    outline.finish()
}

/// Splits off metadata between lines of `---` at the start, with the title in it.
fn split_front_matter(text: &str) -> (Option<String>, &str) {
    let end = text.strip_prefix("---\n").and_then(|rest| Some((rest, rest.find("\n---\n")?)));
    let Some((rest, end)) = end else { return (None, text) };
    let (matter, body) = rest.split_at(end);
    let title = matter.lines().find_map(|line| line.strip_prefix("title:"));
    let title = title.map(|title| super::single_line(title.trim().trim_matches(['"', '\''])));
    (title.filter(|title| !title.is_empty()), body.trim_start_matches("\n---\n"))
}

/// The backticks or tildes that open or close a code block.
fn fence_mark(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))?;
    let length = line.len() - line.trim_start_matches(&mark[..1]).len();
    line.get(..length)
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let is_heading = (1..=6).contains(&level) && text.starts_with([' ', '\t']);
    is_heading.then(|| (level, text.trim().trim_end_matches('#').trim_end()))
}

/// The level of a heading that is underlined by `next`.
fn underline_level(line: &str, next: &str) -> Option<usize> {
    let mark = next.trim_end();
    let is_text = !line.trim().is_empty() && !line.starts_with(['-', '*', '>', '|', '#', ' ']);
    let is_line_of = |mark: &str, of: char| mark.len() >= 3 && mark.chars().all(|one| one == of);
    match mark {
        _ if !is_text => None,
        _ if is_line_of(mark, '=') => Some(1),
        _ if is_line_of(mark, '-') => Some(2),
        _ => None,
    }
}

/// Replaces `[text](url)` and `![text](url)` by the text, in one pass.
fn without_links(line: &str) -> String {
    let part = |from: usize, to: usize| line.get(from..to).unwrap_or_default();
    let (mut kept, mut rest, mut open) = (String::with_capacity(line.len()), 0, None);
    for (at, bracket) in line.match_indices(['[', ']']) {
        if at < rest {
            // In the address of a link.
        } else if bracket == "[" {
            open = Some(at);
        } else if let (Some(begin), Some(address)) = (open, part(at + 1, line.len()).strip_prefix('(')) {
            let Some(end) = address.find(')') else { break };
            let before = part(rest, begin);
            kept.push_str(before.strip_suffix('!').unwrap_or(before));
            kept.push_str(part(begin + 1, at));
            (rest, open) = (at + "](".len() + end + 1, None);
        }
    }
    kept + part(rest, line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Section;

    fn extract(text: &str) -> Document {
        super::extract(text).unwrap()
    }

    fn sections(text: &str) -> Vec<(String, String)> {
        let joined = |Section { headings, text }| (headings.join(" > "), text.trim().to_owned());
        extract(text).sections.into_iter().map(joined).collect()
    }

    fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn text_is_below_its_headings() {
        let text = "before\n# A\none\n### B ###\ntwo\n## C\nthree\n# D\n#no heading\n####### nor this";
        let expected = pairs(&[
            ("", "before"),
            ("A", "one"),
            ("A > B", "two"),
            ("A > C", "three"),
            ("D", "#no heading\n####### nor this"),
        ]);
        assert_eq!(sections(text), expected);
        assert_eq!(extract(text).title.as_deref(), Some("A"));
    }

    #[test]
    fn underlined_headings_are_found() {
        assert_eq!(sections("A\n===\none\nB\n---\ntwo\n\n---\n"), pairs(&[("A", "one"), ("A > B", "two\n\n---")]));
    }

    #[test]
    fn code_blocks_have_no_headings() {
        let text = "# A\n```sh\n# comment\n[a](b)\n```\n~~~~\n# x\n~~~\n# y\n~~~~\n## B\nend";
        let expected = pairs(&[("A", "# comment\n[a](b)\n\n\n# x\n\n# y"), ("A > B", "end")]);
        assert_eq!(sections(text), expected);
    }

    #[test]
    fn links_and_pictures_keep_their_text() {
        assert_eq!(without_links("a [b](c) ![d](e) [f] (g) [h](i"), "a b d [f] (g) [h](i");
        assert_eq!(without_links("](x) [茶](y)"), "](x) 茶");
        assert_eq!(without_links("[f] x](y) [a](b[c](d)] [e](f)"), "f] x a] e");
        assert_eq!(without_links("[a]()[](b)![](c)"), "a");
    }

    #[test]
    fn front_matter_has_the_title() {
        let document = extract("---\ntitle: \"茶 and coffee\"\ntags: x\n---\n# A\ntext");
        assert_eq!((document.title.as_deref(), document.sections.len()), (Some("茶 and coffee"), 1));
        assert_eq!(extract("---\nno end").sections.len(), 1);
    }
}
