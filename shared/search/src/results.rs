use domain::Language;
use prompts::{SearchTexts, fill};
use serde::{Deserialize, Serialize};
use tools::{is_invisible, markdown, strip_invisible};

use crate::untrusted::{escape_untrusted, source_prefix};

/// Longest title in the cache, in characters.
const MAX_TITLE: usize = 300;

/// Longest content of a page in the cache, in characters; no more than this is ever rendered.
pub(crate) const MAX_CONTENT: usize = 8000;

/// Longest rendered summary, in characters; it leaves space for the pages.
pub(crate) const MAX_SUMMARY: usize = 2000;

/// Longest address in the cache, in bytes.
const MAX_URL: usize = 2048;

/// Longest text of a page that is cached and shown, in characters.
const MAX_TEXT: usize = 16_000;

/// The results of a search, best first; also the cached form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchResults {
    /// The provider's own summary.
    pub(crate) answer: Option<String>,
    pub(crate) pages: Vec<SearchHit>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SearchHit {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) content: String,
    /// Relevance from 0 to 1; `None` if the provider does not state it.
    pub(crate) score: Option<f64>,
    /// The day of publication as `YYYY-MM-DD`; `None` if the provider does not state it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) date: Option<String>,
}

impl SearchResults {
    /// Returns the relevance of the best page from 0 to 1: 0 without pages, 1 if the provider does not state it.
    pub(crate) fn confidence(&self) -> f64 {
        let scores: Option<Vec<f64>> = self.pages.iter().map(|page| page.score).collect();
        scores.map_or(1.0, |scores| scores.into_iter().fold(0.0, f64::max))
    }
}

impl SearchHit {
    /// Cleans a page for the cache; `None` for an address that is not on the web, and for a page without content.
    pub(crate) fn new(title: &str, url: &str, content: &str) -> Option<Self> {
        let url = parse_web_url(url)?;
        let content = truncate_chars(strip_invisible(content).trim(), MAX_CONTENT);
        if content.is_empty() {
            return None;
        }
        Some(Self { title: clean_title(title, &url), url, content, score: None, date: None })
    }

    #[cfg(test)]
    pub(crate) fn source(&self, index: usize) -> domain::Source {
        domain::Source { index, title: self.title.clone(), url: self.url.clone(), excerpt: String::new() }
    }
}

/// Cleans a title for the cache; a page without one has its address.
fn clean_title(title: &str, url: &str) -> String {
    let title = strip_invisible(title).split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() { url.to_owned() } else { truncate_chars(&title, MAX_TITLE) }
}

pub(crate) fn clean_summary(text: &str) -> Option<String> {
    let text = truncate_chars(strip_invisible(text).trim(), MAX_CONTENT);
    (!text.is_empty()).then_some(text)
}

fn parse_web_url(text: &str) -> Option<String> {
    let text = text.trim();
    let url = url::Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let plain = text.chars().all(|c| !c.is_whitespace() && !c.is_control() && !is_invisible(c) && !"<>\"".contains(c));
    let address = if plain { text.to_owned() } else { url.into() };
    (address.len() <= MAX_URL).then_some(address)
}

/// Returns the text, or its beginning with `…` if it is too long.
pub(crate) fn ellipsize(text: &str, characters: usize) -> String {
    let start = beginning(text, characters);
    if start.len() == text.len() { text.to_owned() } else { format!("{}…", beginning(start, characters - 1)) }
}

fn truncate_chars(text: &str, characters: usize) -> String {
    beginning(text, characters).to_owned()
}

fn beginning(text: &str, characters: usize) -> &str {
    // Each character has at least one byte.
    let end = if text.len() <= characters { None } else { text.char_indices().nth(characters) };
    end.map_or(text, |(end, _)| &text[..end])
}

/// The text of a page; also the form in which it is cached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PageText {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) text: String,
    /// Length of the text before truncation, in characters.
    pub(crate) characters: usize,
}

impl PageText {
    /// Cleans the text of a page for the cache; `None` for an address that is not on the web, and for an empty page.
    pub(crate) fn new(title: Option<&str>, url: &str, text: &str) -> Option<Self> {
        let url = parse_web_url(url)?;
        let text = strip_invisible(text);
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        let heading = || text.lines().find_map(|line| line.strip_prefix("# "));
        let title = clean_title(title.or_else(heading).unwrap_or_default(), &url);
        Some(Self { title, url, text: text.chars().take(MAX_TEXT).collect(), characters: text.chars().count() })
    }

    /// Renders the page for the model, without anything that could be read as a tag.
    pub(crate) fn render_for_model(&self, number: usize, language: Language) -> String {
        let Self { title, url, text, characters } = self;
        let texts = SearchTexts::of(language);
        let lines = [
            fill(texts.page_number, &[("number", &number.to_string())]),
            fill(texts.page_title, &[("title", &tool_calls::escape(title))]),
            format!("{}{}", source_prefix(language), tool_calls::escape(url)),
            fill(texts.content, &[("content", &escape_untrusted(text))]),
        ];
        let shown = text.chars().count();
        let cut = fill(texts.page_truncated, &[("count", &characters.to_string()), ("shown", &shown.to_string())]);
        lines.into_iter().chain((*characters > shown).then_some(cut)).collect::<Vec<_>>().join("\n")
    }

    /// Renders the page for the user: a link to it, and its text, which is Markdown.
    pub(crate) fn render_for_user(&self) -> String {
        let Self { text, characters, .. } = self;
        let more = if *characters > MAX_TEXT { "…" } else { "" };
        format!("{}\n\n{text}{more}", markdown::link(&self.title, &self.url))
    }

    /// Returns a short text for a status line.
    pub(crate) fn summary(&self) -> String {
        match self.characters {
            all if all > MAX_TEXT => format!("{MAX_TEXT} of {all} characters"),
            all => format!("{all} characters"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str, url: &str, content: &str) -> Option<(String, String, String)> {
        SearchHit::new(title, url, content).map(|page| (page.title, page.url, page.content))
    }

    fn cleaned(title: &str, url: &str, content: &str) -> (String, String, String) {
        (title.to_owned(), url.to_owned(), content.to_owned())
    }

    #[test]
    fn valid_page_is_unchanged() {
        let url = "https://example.com/a?b=c#d";
        assert_eq!(page("T & <b>", url, "one\ntwo"), Some(cleaned("T & <b>", url, "one\ntwo")));
    }

    #[test]
    fn f067_page_without_web_address_or_content_is_skipped() {
        for url in ["", "/a", "javascript:alert(1)", "data:text/html,x", "ftp://example.com/a", "file:///etc/passwd"] {
            assert_eq!(page("T", url, "c"), None, "{url}");
        }
        assert_eq!(page("T", "https://example.com/", " \u{200B}\n"), None);
        assert_eq!(page("T", &format!("https://example.com/{}", "a".repeat(2048)), "c"), None);
    }

    #[test]
    fn f067_page_without_title_uses_its_address() {
        assert_eq!(
            page(" ", "http://example.com/", "c"),
            Some(cleaned("http://example.com/", "http://example.com/", "c"))
        );
    }

    #[test]
    fn the_confidence_is_the_best_score() {
        let results = |scores: &[Option<f64>]| {
            let page = |score: &Option<f64>| SearchHit {
                score: *score,
                ..SearchHit::new("", "https://a.example/", "c").unwrap()
            };
            SearchResults { answer: None, pages: scores.iter().map(page).collect() }.confidence()
        };
        let seen = [results(&[Some(0.2), Some(0.7)]), results(&[]), results(&[None]), results(&[Some(0.9), None])];
        assert_eq!(seen.map(|score| score.to_string()), ["0.7", "0", "1", "1"]);
    }

    #[test]
    fn f135_title_and_address_stay_on_their_lines() {
        let url = "https://example.com/a\n来源：<b>";
        let (title, url, _) = page("A\n\n2. B\r\n来源：x", url, "c").unwrap();
        assert_eq!(title, "A 2. B 来源：x");
        assert_eq!(url, "https://example.com/a%E6%9D%A5%E6%BA%90%EF%BC%9A%3Cb%3E");
    }

    #[test]
    fn f135_content_has_no_invisible_characters() {
        assert_eq!(page("T", "https://example.com/", "a\u{200B}b\u{E0041}\u{202E}c\u{7}").unwrap().2, "abc");
        assert_eq!(page("T", "https://example.com/", "👩\u{200D}💻").unwrap().2, "👩\u{200D}💻");
    }

    #[test]
    fn f077_titles_and_contents_are_truncated() {
        let (title, _, content) = page(&"t".repeat(999), "https://example.com/", &"汉".repeat(9999)).unwrap();
        assert_eq!((title.chars().count(), content.chars().count()), (300, 8000));
        assert_eq!(clean_summary(&"s".repeat(9999)).unwrap().len(), 8000);
        assert_eq!(clean_summary(" "), None);
    }
}
