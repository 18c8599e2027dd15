use domain::{Language, Source};
use prompts::{SearchTexts, fill};
use tool_calls::escape;
use tools::{CitingResult, ResultBudget, SourceNumbers, ToolOutput};

use crate::outcome::SearchNotice;
use crate::results::{MAX_CONTENT, MAX_SUMMARY, SearchHit, SearchResults, ellipsize};
use crate::shortened::shorten_results;
use crate::untrusted::source_prefix;
use crate::user_text::render_for_user;

/// Longest text of the results, in characters; the summary, the notices and the tags are extra.
const MAX_LENGTH: usize = MAX_CONTENT;

const ENTRY_END: &str = "\n\n";

/// The results of a search, to be rendered under the numbers of a turn.
#[derive(Clone, Debug)]
pub(crate) struct CitedSearch {
    pub(crate) results: SearchResults,
    pub(crate) notice: Option<SearchNotice>,
    pub(crate) language: Language,
    /// For the model; the user reads the results as they are.
    pub(crate) budget: ResultBudget,
}

impl CitingResult for CitedSearch {
    /// Renders the summary for the model, then one numbered entry a page within [`MAX_LENGTH`].
    ///
    /// The text is in `<search_results>` tags, and nothing in it could be read as a tag. Entries are never truncated but
    /// left out, except a first entry that is too long by itself: the model would get nothing.
    fn render(&self, numbers: &SourceNumbers, for_user: bool) -> ToolOutput {
        let texts = SearchTexts::of(self.language);
        let shortened = shorten_results(&self.results, self.budget);
        let mut text = shortened.answer.map(|answer| summary(texts, &answer.escaped)).unwrap_or_default();
        let heading = format!("{}{ENTRY_END}", texts.results);
        text.push_str(&heading);
        let mut length = heading.chars().count();
        let (mut shown, all) = (Vec::new(), &self.results.pages);
        for (page, page_content) in &shortened.pages {
            let mut entry = self.entry(page, &page_content.escaped, numbers.peek(&page.url));
            if shown.is_empty() {
                entry = ellipsize(&entry, MAX_LENGTH - length - ENTRY_END.len());
            }
            entry.push_str(ENTRY_END);
            length += entry.chars().count();
            if length > MAX_LENGTH {
                break;
            }
            text.push_str(&entry);
            shown.push(numbers.number(&page.title, &page.url).with_excerpt(&page_content.text));
        }
        let notes = self.notes(shown.len());
        let content = format!("<search_results>\n{text}{notes}</search_results>");
        let user_text = for_user.then(|| render_for_user(&self.results, &shown, self.notice, self.language));
        let summary = status_line(shown.len(), all.len());
        let mut sources = Vec::new();
        Source::join(&mut sources, &shown);
        ToolOutput { content, user_text, summary, sources, ..ToolOutput::default() }
    }
}

impl CitedSearch {
    /// The entry of a page with its escaped content.
    fn entry(&self, page: &SearchHit, content: &str, number: usize) -> String {
        let SearchHit { title, url, date, .. } = page;
        let texts = SearchTexts::of(self.language);
        let date = date.as_deref().map(|date| fill(texts.date, &[("date", &escape(date))]) + "\n").unwrap_or_default();
        let content = fill(texts.content, &[("content", content)]);
        format!("{number}. {}\n{}{}\n{date}{content}", escape(title), source_prefix(self.language), escape(url))
    }

    /// The notes after the entries.
    fn notes(&self, shown: usize) -> String {
        let texts = SearchTexts::of(self.language);
        let mut notes = match self.results.pages.len() {
            0 => format!("{}\n", texts.no_results),
            all if shown < all => format!("\n{}\n", fill(texts.truncated, &[("count", &all.to_string())])),
            _ => String::new(),
        };
        let notice = self.notice.map(|notice| match notice {
            SearchNotice::BasicOnly => texts.basic_only,
            SearchNotice::Stale => texts.stale,
            SearchNotice::Deepened => texts.deepened,
        });
        notes.extend(notice.map(|notice| format!("\n{notice}\n")));
        notes
    }
}

pub(crate) fn render_failure(reason: &str, language: Language) -> String {
    let texts = SearchTexts::of(language);
    let failure = fill(texts.search_failed, &[("reason", &escape(reason))]);
    format!("<search_error>{failure}</search_error>\n{}", texts.do_not_invent)
}

fn summary(texts: &SearchTexts, escaped: &str) -> String {
    let summary = ellipsize(escaped, MAX_SUMMARY);
    format!("{}{ENTRY_END}", fill(texts.summary, &[("summary", &summary)]))
}

fn status_line(shown: usize, all: usize) -> String {
    match (shown, all) {
        (_, 0) => "no results".to_owned(),
        (1, 1) => "1 result".to_owned(),
        _ if shown < all => format!("{shown} of {all} results"),
        _ => format!("{all} results"),
    }
}

#[cfg(test)]
mod tests;
