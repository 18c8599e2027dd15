use super::Notice;
use super::results::{FoundPage, SearchResults};
use super::text::{MAX_SUMMARY, fitted};
use crate::markdown::{line, link};

/// Longest excerpt of a page, in characters.
const MAX_EXCERPT: usize = 300;

/// Note on stale results, in both languages.
const OLD: &str = "（较早的结果，可能已经过时 / These results may be out of date.）";

/// Renders results for a user: the summary, then at most `max_pages` numbered pages with their links. Empty without
/// pages.
pub(super) fn shown(results: &SearchResults, most: usize, notice: Option<Notice>) -> String {
    let entries = (1..).zip(results.pages.iter().take(most)).map(|(index, page)| entry(index, page));
    let entries = entries.collect::<Vec<_>>().join("\n");
    if entries.is_empty() {
        return entries;
    }
    let summary = results.answer.as_deref().map(|answer| fitted(&line(answer), MAX_SUMMARY));
    let old = (notice == Some(Notice::Old)).then(|| OLD.to_owned());
    summary.into_iter().chain([entries]).chain(old).collect::<Vec<_>>().join("\n\n")
}

fn entry(index: usize, page: &FoundPage) -> String {
    format!("{index}. {}\n   {}", link(&page.title, &page.url), fitted(&line(&page.content), MAX_EXCERPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(answer: Option<&str>, contents: &[&str]) -> SearchResults {
        let page = |(number, content): (usize, &&str)| {
            FoundPage::new(&format!("T{number}"), &format!("https://example.com/{number}"), content).unwrap()
        };
        SearchResults { answer: answer.map(str::to_owned), pages: (1..).zip(contents).map(page).collect() }
    }

    #[test]
    fn user_text_has_summary_and_numbered_links() {
        let expected = "晴。\n\n1. [T1](https://example.com/1)\n   一 二\n2. [T2](https://example.com/2)\n   三";
        assert_eq!(shown(&results(Some("晴。"), &["一\n# 二", "三", "四"]), 2, None).replace("# ", ""), expected);
    }

    #[test]
    fn excerpts_are_short_and_stale_results_have_note() {
        let told = shown(&results(None, &[&"长".repeat(1000)]), 10, Some(Notice::Old));
        assert_eq!(told.matches('长').count(), MAX_EXCERPT - 1);
        assert!(told.ends_with(&format!("…\n\n{OLD}")), "{told}");
    }

    #[test]
    fn user_text_without_results_is_empty() {
        assert_eq!(shown(&results(Some("a summary of nothing"), &[]), 0, Some(Notice::Old)), "");
    }
}
