//! Parser of tool results in the model's messages, such as `<search_results>` and `<search_error>` blocks.

use regex::{Captures, Regex};
use serde::Deserialize;

#[derive(Debug, PartialEq)]
pub(super) enum Findings {
    SearchResults {
        pages: Vec<Page>,
    },
    /// Lines of documents, each after its place, such as `notes/plan.md:12`.
    DocumentLines {
        lines: Vec<(String, String)>,
    },
    /// The lines of `current_time`: zone, date, time, timestamp.
    Time {
        text: String,
    },
    DivisionByZero,
    /// Output of another tool: a result, or the title of a page with its number, and its lines.
    ToolOutput {
        title: String,
        lines: Vec<String>,
    },
    /// No result, for this reason; it may be empty.
    Failed {
        reason: String,
    },
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Page {
    /// The number by which answers cite it.
    pub(super) number: String,
    pub(super) title: String,
    pub(super) url: String,
    pub(super) content: String,
}

/// The beginning of search results, in Chinese or in English: the line of the query, the summary, and the heading of the entries.
const HEAD: &str =
    r"^[ \n]*(?:(?:搜索词：|Query: ).*\n)?(?:(?:AI 摘要：|AI summary: )(?s:.*?))?(?:搜索结果：\n|Search results:\n)";

/// The first lines of an entry: its number, title and address.
const ENTRY: &str = r"(?m)^(?P<number>[0-9]+)\. (?P<title>.*)\n(?:来源：|Source: )(?P<url>.*)$";

const END: &str = r"\n(?:（结果已截断|\(Results truncated|（说明：|\(Note: )";

const CONTENT: [&str; 2] = ["内容：", "Content: "];
const PAGE_NUMBER: [&str; 2] = ["编号：", "Number: "];
const PAGE_TITLE: [&str; 2] = ["标题：", "Title: "];
const FAILURE: [&str; 2] = ["搜索失败:", "Search failed:"];

/// What the calculator's failure has in each language.
const DIVISION_BY_ZERO: [&str; 2] = ["除数为零", "division by zero"];

const SEARCH_RESULTS: (&str, &str) = ("<search_results>", "</search_results>");
const PAGE: (&str, &str) = ("<page>", "</page>");

/// Tags around the result of other tools, when the model is prompted for calls.
const TOOL_RESULT: (&str, &str) = ("<tool_result name=", "</tool_result>");
const SEARCH_ERROR: (&str, &str) = ("<search_error>", "</search_error>");

#[derive(Deserialize)]
struct Sum {
    expression: String,
    result: String,
    exact: bool,
}

/// Result of `grep_search`: for each file its lines, such as `12:text`.
#[derive(Deserialize)]
struct DocumentMatches {
    matches: Vec<FileMatches>,
}

#[derive(Deserialize)]
struct FileMatches {
    file: String,
    lines: Vec<String>,
}

impl Findings {
    pub(super) fn are_in(text: &str) -> bool {
        text.contains(SEARCH_RESULTS.0) || text.contains(SEARCH_ERROR.0) || text.contains(TOOL_RESULT.0)
    }

    /// The pages of all searches in a text.
    pub(super) fn pages(text: &str) -> Vec<Page> {
        inside(text, SEARCH_RESULTS).flat_map(pages).collect()
    }

    /// Parses the results of a call; unknown content is a failure.
    pub(super) fn read(text: &str) -> Self {
        if !text.contains(SEARCH_RESULTS.0) {
            let result = tool_result(text);
            if let Ok(DocumentMatches { matches }) = serde_json::from_str(result) {
                return Self::DocumentLines { lines: matches.into_iter().flat_map(FileMatches::into_lines).collect() };
            }
            if let Some((title, lines)) = tool_output(result) {
                return Self::ToolOutput { title, lines };
            }
            if result.contains("\nISO 8601") {
                return Self::Time { text: result.to_owned() };
            }
            if DIVISION_BY_ZERO.iter().any(|part| result.contains(part)) {
                return Self::DivisionByZero;
            }
            let reason = inside(text, SEARCH_ERROR).next().unwrap_or_default();
            return Self::Failed { reason: strip_any(reason, FAILURE).unwrap_or(reason).trim().to_owned() };
        }
        Self::SearchResults { pages: Self::pages(text) }
    }
}

impl FileMatches {
    fn into_lines(self) -> impl Iterator<Item = (String, String)> {
        let Self { file, lines } = self;
        lines.into_iter().filter_map(move |line| {
            let (number, text) = line.split_once(':')?;
            Some((format!("{file}:{number}"), text.to_owned()))
        })
    }
}

/// Returns the result of another tool without the tags around it.
fn tool_result(text: &str) -> &str {
    let framed = text.split_once(TOOL_RESULT.0).and_then(|(_, rest)| rest.split_once('>')?.1.split_once(TOOL_RESULT.1));
    framed.map_or(text, |(result, _)| result).trim()
}

/// Returns the title and the lines of another tool's result; `None` for its failures.
fn tool_output(result: &str) -> Option<(String, Vec<String>)> {
    if let Some(page) = inside(result, PAGE).next() {
        let field = |names| page.lines().find_map(|line| strip_any(line, names));
        let title = format!("{} [{}]", field(PAGE_TITLE)?, field(PAGE_NUMBER)?);
        let start = CONTENT.iter().find_map(|name| Some(page.find(name)? + name.len()))?;
        // The heading repeats the title.
        let lines = page[start..].lines().filter(|line| !line.trim().is_empty() && !line.starts_with("# "));
        return Some((title, lines.map(str::to_owned).collect()));
    }
    let Sum { expression, result, exact } = serde_json::from_str(result).ok()?;
    // An asterisk is markup in an answer.
    let expression = expression.replace("**", "^").replace('*', "×");
    let factors: Vec<&str> = expression.split('×').map(str::trim).collect();
    let sign = if exact { '=' } else { '≈' };
    Some((format!("{} {sign} {result}", factors.join(" × ")), Vec::new()))
}

fn inside<'a>(text: &'a str, (open, close): (&'a str, &'a str)) -> impl Iterator<Item = &'a str> {
    text.split(open).skip(1).filter_map(move |rest| Some(rest.split_once(close)?.0))
}

fn strip_any<'a>(text: &'a str, prefixes: [&str; 2]) -> Option<&'a str> {
    prefixes.into_iter().find_map(|prefix| text.strip_prefix(prefix))
}

fn matches<'a>(pattern: &str, text: &'a str) -> Vec<Captures<'a>> {
    Regex::new(pattern).map(|pattern| pattern.captures_iter(text).collect()).unwrap_or_default()
}

/// Parses the numbered entries; any other line continues the content above it.
fn pages(block: &str) -> Vec<Page> {
    let text = matches(HEAD, block).first().map_or(block, |head| &block[head.get_match().end()..]);
    let text = matches(END, text).first().map_or(text, |end| &text[..end.get_match().start()]);
    let entries = matches(ENTRY, text);
    let ends = entries.iter().skip(1).map(|next| next.get_match().start()).chain([text.len()]);
    let page = |(entry, end): (&Captures<'_>, usize)| {
        let content = text.get(entry.get_match().end()..end).unwrap_or_default().trim();
        let lines = strip_any(content, CONTENT).unwrap_or(content).lines().filter(|line| !line.is_empty());
        let content = lines.collect::<Vec<_>>().join("\n");
        let field = |name: &str| entry[name].to_owned();
        Page { number: field("number"), title: field("title"), url: field("url"), content }
    };
    entries.iter().zip(ends).map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: &str, title: &str, url: &str, content: &str) -> Page {
        Page { number: number.into(), title: title.into(), url: url.into(), content: content.into() }
    }

    #[test]
    fn search_results_are_parsed_into_parts() {
        let text = "以下是搜索结果：\n\n<search_results>\nAI 摘要：晴，\n微风。\n\n搜索结果：\n\n\
            1. 天气\n来源：https://a.example/1\n内容：今天\n2. 不是标题\n晴。\n\n\
            2. 新闻\n来源：https://a.example/2\n内容：一。\n\n\n（结果已截断，共 9 条结果）\n</search_results>\n请回答。";
        let pages = vec![
            page("1", "天气", "https://a.example/1", "今天\n2. 不是标题\n晴。"),
            page("2", "新闻", "https://a.example/2", "一。"),
        ];
        assert!(Findings::are_in(text));
        assert_eq!(Findings::read(text), Findings::SearchResults { pages });
    }

    #[test]
    fn english_results_with_later_numbers_are_parsed() {
        let text = "<search_results>\nQuery: weather\nAI summary: Sunny.\n\nSearch results:\n\n\
            11. Weather\nSource: https://a.example/1\nContent: dry\n\n\
            3. News\nSource: https://a.example/2\nContent: none\n\n\n(Results truncated; 9 results in total.)\n\
            \n(Note: these results are old.)\n</search_results>";
        let pages =
            vec![page("11", "Weather", "https://a.example/1", "dry"), page("3", "News", "https://a.example/2", "none")];
        assert_eq!(Findings::read(text), Findings::SearchResults { pages });
        let chinese = "<search_results>\n搜索词：天气\nAI 摘要：晴。\n\n搜索结果：\n\n12. t\n来源：https://a.example/\n内容：c\n\n\
            \n（说明：旧。）\n</search_results>";
        let pages = vec![page("12", "t", "https://a.example/", "c")];
        assert_eq!(Findings::read(chinese), Findings::SearchResults { pages });
        let failure = "<search_error>Search failed: the search timed out</search_error>\nThere is no result.";
        assert_eq!(Findings::read(failure), Findings::Failed { reason: "the search timed out".into() });
        let nothing = "<search_results>\nQuery: x\nSearch results:\n\nNothing was found.\n</search_results>";
        assert_eq!(Findings::read(nothing), Findings::SearchResults { pages: Vec::new() });
    }

    #[test]
    fn results_of_several_calls_are_merged() {
        let block = "<search_results>\n搜索结果：\n\n1. t\n来源：https://a.example/\n内容：c\n\n</search_results>";
        let pages = vec![page("1", "t", "https://a.example/", "c"), page("1", "t", "https://a.example/", "c")];
        assert_eq!(Findings::read(&format!("{block}\n{block}")), Findings::SearchResults { pages });
    }

    #[test]
    fn other_tools_output_parses_with_and_without_tags() {
        let output = |title: &str, lines: &[&str]| Findings::ToolOutput {
            title: title.to_owned(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        let sum = r#"{"expression":"1+1","result":"2","exact":true}"#;
        let framed = |text: &str| format!("结果：\n\n<tool_result name=\"x\">\n{text}\n</tool_result>\n\n请回答。");
        let page = "<page>\n编号：3\n标题：t\n来源：https://a.example/\n内容：# t\n\nc\nd\n</page>";
        let third = r#"{"expression":"2*(1/3)**2","result":"0.2222222222","exact":false}"#;
        for (text, expected) in [
            (sum, output("1+1 = 2", &[])),
            (third, output("2 × (1/3)^2 ≈ 0.2222222222", &[])),
            (page, output("t [3]", &["c", "d"])),
        ] {
            assert_eq!(Findings::read(text), expected);
            assert_eq!(Findings::read(&framed(text)), expected);
            assert!(Findings::are_in(&framed(text)));
        }
        let found = r#"{"matches":[{"file":"a/b.md","lines":["3:x: y","7:z"]}],"count":2,"files":1,"truncated":false}"#;
        let lines = [("a/b.md:3", "x: y"), ("a/b.md:7", "z")].map(|(position, text)| (position.into(), text.into()));
        for text in [found, &framed(found)] {
            assert_eq!(Findings::read(text), Findings::DocumentLines { lines: lines.to_vec() });
        }
        assert_eq!(Findings::read(&framed("计算失败：数字太大。")), Findings::Failed { reason: String::new() });
    }

    #[test]
    fn failure_keeps_reason_and_unknown_text_has_none() {
        let failed = |reason: &str| Findings::Failed { reason: reason.into() };
        assert_eq!(Findings::read("<search_error>搜索失败: 搜索超时</search_error>"), failed("搜索超时"));
        assert_eq!(Findings::read("Tool 'x' not found."), failed(""));
        let nothing = "<search_results>\n搜索结果：\n\n没有找到相关结果。\n</search_results>";
        assert_eq!(Findings::read(nothing), Findings::SearchResults { pages: Vec::new() });
    }
}
