use domain::{Language, Source, one_line};
use prompts::SearchTexts;
use tools::markdown::{link, single_line};

use crate::outcome::SearchNotice;
use crate::results::{MAX_SUMMARY, SearchHit, SearchResults, ellipsize};

/// Longest excerpt of a page, in characters.
const MAX_EXCERPT: usize = 300;

/// Renders results for a user: the summary, then the first pages with their links, numbered as the `sources`. Empty
/// without pages.
pub(super) fn render_for_user(
    results: &SearchResults,
    sources: &[Source],
    notice: Option<SearchNotice>,
    language: Language,
) -> String {
    let entries = sources.iter().zip(&results.pages).map(|(source, page)| format_entry(source.index, page));
    let entries = entries.collect::<Vec<_>>().join("\n");
    if entries.is_empty() {
        return entries;
    }
    let summary = results.answer.as_deref().map(|answer| ellipsize(&single_line(answer), MAX_SUMMARY));
    let stale_note = (notice == Some(SearchNotice::Stale)).then(|| SearchTexts::of(language).stale_for_user.to_owned());
    summary.into_iter().chain([entries]).chain(stale_note).collect::<Vec<_>>().join("\n\n")
}

fn format_entry(index: usize, page: &SearchHit) -> String {
    // Shortened first: the content may be much longer than the excerpt.
    let excerpt = single_line(&one_line(&page.content, MAX_EXCERPT));
    format!("{index}. {}\n   {excerpt}", link(&page.title, &page.url))
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

    fn render(results: &SearchResults, numbers: &[usize], notice: Option<SearchNotice>) -> String {
        let sources: Vec<_> = results.pages.iter().zip(numbers).map(|(page, index)| page.source(*index)).collect();
        render_for_user(results, &sources, notice, Language::Zh)
    }

    #[test]
    fn user_text_has_summary_and_numbered_links() {
        let expected = "晴。\n\n4. [T1](https://example.com/1)\n   一 二\n9. [T2](https://example.com/2)\n   三";
        assert_eq!(
            render(&results(Some("晴。"), &["一\n# 二", "三", "四"]), &[4, 9], None).replace("# ", ""),
            expected
        );
    }

    #[test]
    fn excerpts_are_short_and_stale_results_have_note() {
        let text = render(&results(None, &[&"长".repeat(1000)]), &[1], Some(SearchNotice::Stale));
        assert_eq!(text.matches('长').count(), MAX_EXCERPT - 1);
        assert!(text.ends_with("…\n\n（较早的结果，可能已经过时。）"), "{text}");
    }

    #[test]
    fn user_text_without_results_is_empty() {
        assert_eq!(render(&results(Some("a summary of nothing"), &[]), &[], Some(SearchNotice::Stale)), "");
    }
}
