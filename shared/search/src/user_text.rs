use tools::markdown::{link, single_line};

use crate::model_text::{MAX_SUMMARY, ellipsize};
use crate::outcome::SearchNotice;
use crate::results::{SearchHit, SearchResults};

/// Longest excerpt of a page, in characters.
const MAX_EXCERPT: usize = 300;

/// Note on stale results, in both languages.
const STALE_NOTE: &str = "（较早的结果，可能已经过时 / These results may be out of date.）";

/// Renders results for a user: the summary, then at most `max_pages` numbered pages with their links. Empty without
/// pages.
pub(super) fn render_for_user(results: &SearchResults, max_pages: usize, notice: Option<SearchNotice>) -> String {
    let entries = (1..).zip(results.pages.iter().take(max_pages)).map(|(index, page)| format_entry(index, page));
    let entries = entries.collect::<Vec<_>>().join("\n");
    if entries.is_empty() {
        return entries;
    }
    let summary = results.answer.as_deref().map(|answer| ellipsize(&single_line(answer), MAX_SUMMARY));
    let stale_note = (notice == Some(SearchNotice::Stale)).then(|| STALE_NOTE.to_owned());
    summary.into_iter().chain([entries]).chain(stale_note).collect::<Vec<_>>().join("\n\n")
}

fn format_entry(index: usize, page: &SearchHit) -> String {
    format!("{index}. {}\n   {}", link(&page.title, &page.url), ellipsize(&single_line(&page.content), MAX_EXCERPT))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(answer: Option<&str>, contents: &[&str]) -> SearchResults {
        let page = |(number, content): (usize, &&str)| {
            SearchHit::new(&format!("T{number}"), &format!("https://example.com/{number}"), content).unwrap()
        };
        SearchResults { answer: answer.map(str::to_owned), pages: (1..).zip(contents).map(page).collect() }
    }

    #[test]
    fn user_text_has_summary_and_numbered_links() {
        let expected = "晴。\n\n1. [T1](https://example.com/1)\n   一 二\n2. [T2](https://example.com/2)\n   三";
        assert_eq!(
            render_for_user(&results(Some("晴。"), &["一\n# 二", "三", "四"]), 2, None).replace("# ", ""),
            expected
        );
    }

    #[test]
    fn excerpts_are_short_and_stale_results_have_note() {
        let text = render_for_user(&results(None, &[&"长".repeat(1000)]), 10, Some(SearchNotice::Stale));
        assert_eq!(text.matches('长').count(), MAX_EXCERPT - 1);
        assert!(text.ends_with(&format!("…\n\n{STALE_NOTE}")), "{text}");
    }

    #[test]
    fn user_text_without_results_is_empty() {
        assert_eq!(render_for_user(&results(Some("a summary of nothing"), &[]), 0, Some(SearchNotice::Stale)), "");
    }
}
