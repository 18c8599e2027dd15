//! Shortens results to the budget of a model with a small context window.

use std::borrow::Cow;

use tools::ResultBudget;

use crate::results::{PageText, SearchHit, SearchResults};
use crate::untrusted::escape_untrusted;

/// Results as far as they fit.
pub(crate) struct ShortenedResults<'a> {
    pub(crate) answer: Option<ShortenedText<'a>>,
    /// The best pages, and the content of each.
    pub(crate) pages: Vec<(&'a SearchHit, ShortenedText<'a>)>,
}

/// A text, or its beginning with `…`.
pub(crate) struct ShortenedText<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The text after its tags are escaped, which takes several times as long as copying it.
    pub(crate) escaped: String,
}

/// Space for the tags, the labels and the notes around results, in bytes.
const FRAME_BYTES: usize = 400;

/// Space for the number and the labels of a page, in bytes.
const ENTRY_BYTES: usize = 50;

/// Minimum space for the content of a page, in bytes.
const MIN_CONTENT_BYTES: usize = 60;

const ELLIPSIS: &str = "…";

/// Number of pages that share the space; a single page takes no more than its share.
const SHARES: usize = 3;

/// Returns the best pages as far as they fit, and of a long page or summary the beginning.
pub(crate) fn shorten_results(results: &SearchResults, budget: ResultBudget) -> ShortenedResults<'_> {
    let is_limited = budget != ResultBudget::default();
    let space = if is_limited { budget.max_bytes.saturating_sub(FRAME_BYTES) } else { usize::MAX };
    let answer = results.answer.as_deref().map(|answer| ShortenedText::new(answer, space / (SHARES + 1)));
    let mut rest = space.saturating_sub(answer.as_ref().map_or(0, |answer| answer.escaped.len()));
    let share = rest / results.pages.len().clamp(1, SHARES);
    let mut pages: Vec<(&SearchHit, ShortenedText<'_>)> = Vec::new();
    for page in results.pages.iter().take(budget.max_entries) {
        let frame = page.title.len() + page.url.len() + ENTRY_BYTES;
        let content = ShortenedText::new(&page.content, share.saturating_sub(frame).max(MIN_CONTENT_BYTES));
        let bytes = frame + content.escaped.len();
        if bytes > rest && !pages.is_empty() {
            break;
        }
        rest = rest.saturating_sub(bytes);
        pages.push((page, content));
    }
    ShortenedResults { answer, pages }
}

/// Returns the page with the beginning of its text, as far as it fits.
pub(crate) fn shorten_page_text(page: &PageText, budget: ResultBudget) -> Cow<'_, PageText> {
    let space = budget.max_bytes.saturating_sub(FRAME_BYTES + page.title.len() + page.url.len());
    let text = beginning(&page.text, escape_untrusted(&page.text).len(), space);
    let is_whole = text.len() == page.text.len();
    if is_whole { Cow::Borrowed(page) } else { Cow::Owned(PageText { text: text.to_owned(), ..page.clone() }) }
}

impl<'a> ShortenedText<'a> {
    /// The text, or its beginning that takes about this many bytes after its tags are escaped.
    fn new(text: &'a str, bytes: usize) -> Self {
        let escaped = escape_untrusted(text);
        if escaped.len() <= bytes {
            return Self { text: text.into(), escaped };
        }
        let text = format!("{}{ELLIPSIS}", beginning(text, escaped.len(), bytes.saturating_sub(ELLIPSIS.len())));
        Self { escaped: escape_untrusted(&text), text: text.into() }
    }
}

/// Returns the beginning of a text in proportion to `bytes` of its `escaped` length.
fn beginning(text: &str, escaped: usize, bytes: usize) -> &str {
    let end = bytes.min(escaped).saturating_mul(text.len()) / escaped.max(1);
    text.get(..text.floor_char_boundary(end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use domain::Language;
    use tools::{CitingResult, SourceNumbers, ToolOutput};

    use super::*;
    use crate::model_text::CitedSearch;
    use crate::page::CitedPage;

    const COMPACT: ResultBudget = ResultBudget { max_bytes: 6_000, max_entries: 3 };

    fn results(content: &str, pages: usize) -> SearchResults {
        let page = |number| SearchHit::new("标题", &format!("https://example.com/{number}"), content).unwrap();
        SearchResults { answer: Some(content.to_owned()), pages: (0..pages).map(page).collect() }
    }

    fn render(results: &SearchResults, budget: ResultBudget) -> ToolOutput {
        let (notice, language) = (None, Language::Zh);
        CitedSearch { results: results.clone(), notice, language, budget }.render(&SourceNumbers::default(), false)
    }

    #[test]
    fn three_pages_share_a_small_budget() {
        for content in ["内容".repeat(3_000), "words ".repeat(1_000), "<b>".repeat(2_000)] {
            let results = results(&content, 10);
            let rendered = render(&results, COMPACT);
            assert_eq!(rendered.sources.len(), 3);
            assert!(
                (4_500..=6_000).contains(&rendered.content.len()),
                "{}: {}",
                rendered.content.len(),
                rendered.content
            );
            assert_eq!(rendered.content.matches("…\n\n").count(), 4, "the summary and each page: {}", rendered.content);
        }
    }

    #[test]
    fn short_pages_stay_whole() {
        let results = results("短", 2);
        for budget in [COMPACT, ResultBudget::default()] {
            let shortened = shorten_results(&results, budget);
            let texts = shortened.pages.iter().map(|(_, content)| content).chain(&shortened.answer);
            let texts: Vec<_> = texts.map(|text| (&*text.text, &*text.escaped)).collect();
            assert_eq!(texts, [("短", "短"); 3]);
        }
    }

    #[test]
    fn medium_budget_leaves_out_last_pages() {
        let results = results(&"内容".repeat(250), 10);
        let budget = ResultBudget { max_bytes: 12_000, ..ResultBudget::default() };
        let shortened = shorten_results(&results, budget);
        let pages: Vec<&SearchHit> = shortened.pages.iter().map(|(page, _)| *page).collect();
        assert_eq!(pages, results.pages[..6].iter().collect::<Vec<_>>());
        assert!(shortened.pages.iter().all(|(page, content)| page.content == content.text));
        assert!(render(&results, budget).content.len() <= 12_000);
    }

    #[test]
    fn tiny_budget_keeps_one_page() {
        let results = results(&"内容".repeat(250), 10);
        let shortened = shorten_results(&results, ResultBudget { max_bytes: 1, max_entries: 3 });
        assert_eq!(
            (shortened.pages.len(), &*shortened.pages[0].1.text),
            (1, "内容内容内容内容内容内容内容内容内容内…")
        );
    }

    #[test]
    fn page_within_budget_states_what_is_missing() {
        let page = PageText::new(Some("t"), "https://a.example/", &"汉".repeat(5_000)).unwrap();
        let cited = CitedPage { page: page.clone(), language: Language::Zh, budget: COMPACT };
        let text = cited.render(&SourceNumbers::default(), false).content;
        assert!(text.ends_with("汉\n（内容过长，已截断：共 5000 个字符，以上是前 1860 个）"), "{text}");
        assert!(text.len() <= 6_000);
        assert!(matches!(shorten_page_text(&page, ResultBudget::default()), Cow::Borrowed(_)));
    }
}
