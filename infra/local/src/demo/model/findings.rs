//! Parser of tool results in the model's messages, such as `<search_results>` and `<search_error>` blocks.

use serde::Deserialize;

/// Parsed results of a call.
#[derive(Debug, PartialEq)]
pub(super) enum Findings {
    /// Pages and summaries of a search.
    SearchResults { summaries: Vec<String>, pages: Vec<Page> },
    /// Output of another tool, line by line.
    ToolOutput { lines: Vec<String> },
    /// No result, for this reason; it may be empty.
    Failed { reason: String },
}

/// One entry of a search result.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Page {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) content: String,
}

impl Page {
    fn add(&mut self, line: &str) {
        let line = if self.content.is_empty() { strip_any(line, CONTENT).unwrap_or(line) } else { line };
        if !self.content.is_empty() && !line.is_empty() {
            self.content.push(' ');
        }
        self.content.push_str(line);
    }
}

/// Texts of search results in Chinese and in English.
const CONTENT: [&str; 2] = ["内容：", "Content: "];
const SOURCE: [&str; 2] = ["来源：", "Source: "];
const QUERY: [&str; 2] = ["搜索词：", "Query: "];
const SUMMARY: [&str; 2] = ["AI 摘要：", "AI summary: "];
const RESULTS: [&str; 2] = ["搜索结果：\n", "Search results:\n"];
const TRUNCATED: [&str; 2] = ["\n（结果已截断", "\n(Results truncated"];
const NOTE: [&str; 2] = ["\n（说明：", "\n(Note: "];
const FAILURE: [&str; 2] = ["搜索失败:", "Search failed:"];
const TIME: [&str; 2] = ["时区：", "Time zone: "];

const SEARCH_RESULTS: (&str, &str) = ("<search_results>", "</search_results>");
const PAGE: (&str, &str) = ("<page>", "</page>");

/// Tags around the result of other tools, when the model is prompted for calls.
const TOOL_RESULT: (&str, &str) = ("<tool_result name=", "</tool_result>");
const SEARCH_ERROR: (&str, &str) = ("<search_error>", "</search_error>");

/// Output of the calculator.
#[derive(Deserialize)]
struct Sum {
    expression: String,
    result: String,
}

impl Findings {
    /// Whether `text` contains tool results.
    pub(super) fn are_in(text: &str) -> bool {
        text.contains(SEARCH_RESULTS.0) || text.contains(SEARCH_ERROR.0) || text.contains(TOOL_RESULT.0)
    }

    /// Parses the results of a call; unknown content is a failure.
    pub(super) fn read(text: &str) -> Self {
        let blocks: Vec<&str> = inside(text, SEARCH_RESULTS).collect();
        if blocks.is_empty() {
            if let Some(lines) = tool_output_lines(text) {
                return Self::ToolOutput { lines };
            }
            let reason = inside(text, SEARCH_ERROR).next().unwrap_or_default();
            return Self::Failed { reason: strip_any(reason, FAILURE).unwrap_or(reason).trim().to_owned() };
        }
        let summaries = blocks.iter().filter_map(|block| summary(block)).collect();
        Self::SearchResults { summaries, pages: blocks.into_iter().flat_map(pages).collect() }
    }
}

/// Returns the lines of another tool's result; `None` for its failures.
fn tool_output_lines(text: &str) -> Option<Vec<String>> {
    let result = match text.split_once(TOOL_RESULT.0) {
        Some((_, rest)) => rest.split_once('>')?.1.split_once(TOOL_RESULT.1)?.0,
        None => text,
    };
    let result = result.trim();
    if let Some(page) = inside(result, PAGE).next() {
        return Some(page.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect());
    }
    if let Ok(sum) = serde_json::from_str::<Sum>(result) {
        return Some(vec![format!("{} = {}", sum.expression, sum.result)]);
    }
    strip_any(result, TIME).is_some().then(|| result.lines().map(str::to_owned).collect())
}

fn inside<'a>(text: &'a str, (open, close): (&'a str, &'a str)) -> impl Iterator<Item = &'a str> {
    text.split(open).skip(1).filter_map(move |rest| Some(rest.split_once(close)?.0))
}

fn strip_any<'a>(text: &'a str, prefixes: [&str; 2]) -> Option<&'a str> {
    prefixes.into_iter().find_map(|prefix| text.strip_prefix(prefix))
}

/// Splits a text at the delimiter of its language.
fn split_any<'a>(text: &'a str, delimiters: [&str; 2]) -> Option<(&'a str, &'a str)> {
    let found = delimiters.into_iter().filter_map(|delimiter| Some((text.find(delimiter)?, delimiter)));
    let (at, delimiter) = found.min()?;
    Some((&text[..at], &text[at + delimiter.len()..]))
}

fn summary(block: &str) -> Option<String> {
    let block = block.trim_start();
    let block = if strip_any(block, QUERY).is_some() { block.split_once('\n')?.1 } else { block };
    let (summary, _) = split_any(strip_any(block, SUMMARY)?, RESULTS)?;
    Some(summary.trim().to_owned())
}

/// Parses the numbered entries; any other line continues the content above it.
fn pages(block: &str) -> Vec<Page> {
    let mut pages: Vec<Page> = Vec::new();
    let entries = split_any(block, RESULTS).map_or(block, |(_, entries)| entries);
    let entries = [TRUNCATED, NOTE]
        .into_iter()
        .fold(entries, |entries, end| split_any(entries, end).map_or(entries, |(before, _)| before));
    let mut lines = entries.lines().peekable();
    while let Some(line) = lines.next() {
        let url = lines.peek().and_then(|next| strip_any(next, SOURCE));
        match (numbered_title(line), url) {
            (Some(title), Some(url)) => {
                pages.push(Page { title: title.to_owned(), url: url.to_owned(), content: String::new() });
                lines.next();
            }
            _ => {
                if let Some(page) = pages.last_mut() {
                    page.add(line);
                }
            }
        }
    }
    pages
}

/// The title in a line such as `12. Title`.
fn numbered_title(line: &str) -> Option<&str> {
    let (number, title) = line.split_once(". ")?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(title).filter(|_| !number.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, url: &str, content: &str) -> Page {
        Page { title: title.into(), url: url.into(), content: content.into() }
    }

    #[test]
    fn search_results_are_parsed_into_parts() {
        let text = "以下是搜索结果：\n\n<search_results>\nAI 摘要：晴，\n微风。\n\n搜索结果：\n\n\
            1. 天气\n来源：https://a.example/1\n内容：今天\n2. 不是标题\n晴。\n\n\
            2. 新闻\n来源：https://a.example/2\n内容：一。\n\n\n（结果已截断，共 9 条结果）\n</search_results>\n请回答。";
        let pages = vec![
            page("天气", "https://a.example/1", "今天 2. 不是标题 晴。"),
            page("新闻", "https://a.example/2", "一。"),
        ];
        assert!(Findings::are_in(text));
        assert_eq!(Findings::read(text), Findings::SearchResults { summaries: vec!["晴，\n微风。".into()], pages });
    }

    #[test]
    fn english_results_with_later_numbers_are_parsed() {
        let text = "<search_results>\nQuery: weather\nAI summary: Sunny.\n\nSearch results:\n\n\
            11. Weather\nSource: https://a.example/1\nContent: dry\n\n\
            3. News\nSource: https://a.example/2\nContent: none\n\n\n(Results truncated; 9 results in total.)\n\
            \n(Note: these results are old.)\n</search_results>";
        let pages = vec![page("Weather", "https://a.example/1", "dry"), page("News", "https://a.example/2", "none")];
        assert_eq!(Findings::read(text), Findings::SearchResults { summaries: vec!["Sunny.".into()], pages });
        let chinese = "<search_results>\n搜索词：天气\nAI 摘要：晴。\n\n搜索结果：\n\n12. t\n来源：https://a.example/\n内容：c\n\n\
            \n（说明：旧。）\n</search_results>";
        let pages = vec![page("t", "https://a.example/", "c")];
        assert_eq!(Findings::read(chinese), Findings::SearchResults { summaries: vec!["晴。".into()], pages });
        let failure = "<search_error>Search failed: the search timed out</search_error>\nThere is no result.";
        assert_eq!(Findings::read(failure), Findings::Failed { reason: "the search timed out".into() });
        let nothing = "<search_results>\nQuery: x\nSearch results:\n\nNothing was found.\n</search_results>";
        assert_eq!(Findings::read(nothing), Findings::SearchResults { summaries: Vec::new(), pages: Vec::new() });
    }

    #[test]
    fn results_of_several_calls_are_merged() {
        let block = "<search_results>\n搜索结果：\n\n1. t\n来源：https://a.example/\n内容：c\n\n</search_results>";
        let pages = vec![page("t", "https://a.example/", "c"), page("t", "https://a.example/", "c")];
        assert_eq!(
            Findings::read(&format!("{block}\n{block}")),
            Findings::SearchResults { summaries: Vec::new(), pages }
        );
    }

    #[test]
    fn other_tools_output_parses_with_and_without_tags() {
        let output =
            |lines: &[&str]| Findings::ToolOutput { lines: lines.iter().map(|line| (*line).to_owned()).collect() };
        let sum = r#"{"expression":"1+1","result":"2","exact":true}"#;
        let framed = |text: &str| format!("结果：\n\n<tool_result name=\"x\">\n{text}\n</tool_result>\n\n请回答。");
        let time = "时区：UTC（UTC+00:00）\n日期：2027-01-15（星期五）";
        for (text, lines) in [
            (sum, &["1+1 = 2"][..]),
            (time, &["时区：UTC（UTC+00:00）", "日期：2027-01-15（星期五）"]),
            ("Time zone: UTC (UTC+00:00)", &["Time zone: UTC (UTC+00:00)"]),
            ("<page>\n标题：t\n\n内容：c\n</page>", &["标题：t", "内容：c"]),
        ] {
            assert_eq!([Findings::read(text), Findings::read(&framed(text))], [output(lines), output(lines)], "{text}");
            assert!(Findings::are_in(&framed(text)));
        }
        assert_eq!(Findings::read(&framed("计算失败：除数为零。")), Findings::Failed { reason: String::new() });
    }

    #[test]
    fn failure_keeps_reason_and_unknown_text_has_none() {
        let failed = |reason: &str| Findings::Failed { reason: reason.into() };
        assert_eq!(Findings::read("<search_error>搜索失败: 搜索超时</search_error>"), failed("搜索超时"));
        assert_eq!(Findings::read("Tool 'x' not found."), failed(""));
        let nothing = "<search_results>\n搜索结果：\n\n没有找到相关结果。\n</search_results>";
        assert_eq!(Findings::read(nothing), Findings::SearchResults { summaries: Vec::new(), pages: Vec::new() });
    }
}
