//! The text of one page.

use domain::Language;
use prompts::{SearchTexts, fill};
use serde::{Deserialize, Serialize};
use tools::{markdown, strip_invisible};

use crate::results::{clean_title, parse_web_url};
use crate::untrusted::{escape_untrusted, source_prefix};

/// Longest text of a page that is cached and shown, in characters.
const MAX_TEXT: usize = 16_000;

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
