//! A demo model and a demo search that need no account: real HTTP endpoints that the unchanged clients call over loopback.
//!
//! They show how the product handles any question, and identify themselves as demos. The model is a script that searches
//! and repeats the results, or plays a prepared turn. The search has only some built-in pages about this product, which
//! the server itself shows to people, and which are the documents of a demo without a folder.

mod model;
mod pages;
mod search;

use std::collections::HashMap;
use std::sync::LazyLock;
use std::{fs, io};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::post;
use domain::Language;
use serde::Deserialize;
use tempfile::TempDir;

pub use pages::{page_routes, with_own_addresses};

/// The site of the built-in pages for search and model, which read no address of this machine. The name is reserved and
/// never resolves (RFC 2606, section 2); responses have the server's own address instead, below `demo`.
const SITE: &str = "https://lambda-chat.example/";

/// The page that a search finds if no other matches: how to search more than the pages.
const NO_MATCH: &str = "search";

/// More than a conversation with pictures has.
const MAX_PROMPT_BYTES: usize = 64 * 1024 * 1024;

/// Routes: `POST /demo/model/chat/completions` (OpenAI's API), `POST /demo/search/search` and
/// `POST /demo/search/extract` (Tavily's API).
pub fn router() -> Router {
    Router::new()
        .route("/demo/model/chat/completions", post(model::complete).layer(DefaultBodyLimit::max(MAX_PROMPT_BYTES)))
        .route("/demo/search/search", post(search::search))
        .route("/demo/search/extract", post(search::extract))
}

/// A text in each language; `{}` in it is for a value.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Texts<T = String> {
    pub(crate) zh: T,
    pub(crate) en: T,
}

impl<T> Texts<T> {
    pub(crate) fn of(&self, language: Language) -> &T {
        match language {
            Language::Zh => &self.zh,
            Language::En => &self.en,
        }
    }
}

impl Texts {
    pub(crate) fn with(&self, value: &str, language: Language) -> String {
        self.of(language).replacen("{}", value, 1)
    }
}

/// A page about this product: what it is and how to configure it.
#[derive(Debug, Deserialize)]
pub(crate) struct Page {
    /// Last segment of its URL.
    pub(crate) slug: String,
    /// Search keywords in lower case.
    pub(crate) keywords: Vec<String>,
    #[serde(flatten)]
    pub(crate) texts: Texts<PageText>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct PageText {
    pub(crate) title: String,
    /// Paragraphs.
    pub(crate) content: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SmallTalk {
    /// In lower case.
    pub(crate) phrases: Vec<String>,
    /// Its answer, or if a call of `current_time` gives that, what is written without that tool.
    pub(crate) answer: Texts,
    #[serde(default)]
    pub(crate) needs_clock: bool,
}

/// The phrases that the demo model understands, and what it writes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Conversation {
    /// In ascending order of priority for the answer; the first kind only accompanies others.
    pub(crate) small_talk: Vec<SmallTalk>,
    /// Beginnings of a request to continue an interrupted answer.
    pub(crate) continuation_prompts: Vec<String>,
    /// Terms that do not help a search of documents, in lower case.
    pub(crate) stop_terms: Vec<String>,
    /// Phrases of Chinese questions that do not help it.
    pub(crate) stop_phrases: Vec<String>,
    /// Patterns of phrases in a sum, and the notation that replaces each.
    pub(crate) sum_phrases: Vec<(String, String)>,
    /// Terms of numerals with their values.
    pub(crate) numerals: HashMap<String, u64>,
    /// Patterns of questions for the time in a zone, which they capture.
    pub(crate) zone_patterns: Vec<String>,
    /// Patterns of what the demo cannot do with files, and its name after “the demo can’t”.
    pub(crate) file_tasks: Vec<(String, Texts)>,
    pub(crate) texts: Wordings,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wordings {
    pub(crate) thinking: Texts,
    pub(crate) thinking_about_documents: Texts,
    pub(crate) no_tools: Texts,
    pub(crate) note: Texts,
    pub(crate) nothing_found: Texts,
    pub(crate) found: Texts,
    pub(crate) unrelated: Texts,
    pub(crate) lines_found: Texts,
    pub(crate) no_lines_found: Texts,
    pub(crate) file_lines: Texts,
    pub(crate) file_start: Texts,
    pub(crate) file_task: Texts,
    pub(crate) pictures: Texts,
    pub(crate) time: Texts,
    pub(crate) date: Texts,
    /// Names with spaces between them.
    pub(crate) months: Texts,
    pub(crate) weekdays: Texts,
    pub(crate) division_by_zero: Texts,
    pub(crate) search_failed: Texts,
    pub(crate) tool_failed: Texts,
}

impl PageText {
    /// The page as Markdown, with a paragraph on each line.
    fn markdown(&self) -> String {
        format!("# {}\n\n{}\n", self.title, self.content.join("\n"))
    }
}

/// The page at a path below [`SITE`], such as `en/limits`.
fn page_at(path: &str) -> Option<(Language, &'static PageText)> {
    let (folder, slug) = path.split_once('/')?;
    let page = PAGES.iter().find(|page| page.slug == slug)?;
    Language::from_code(folder).map(|language| (language, page.texts.of(language)))
}

/// Writes the pages into a new folder, as the documents of a demo; the folder is deleted with the result.
pub fn write_documents() -> io::Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("lambda-chat-demo-").tempdir()?;
    for language in [Language::Zh, Language::En] {
        let below = folder.path().join(language.code());
        fs::create_dir(&below)?;
        for page in &*PAGES {
            fs::write(below.join(format!("{}.md", page.slug)), page.texts.of(language).markdown())?;
        }
    }
    Ok(folder)
}

/// A text in lower case as terms, with a space on both sides of each; Chinese terms are together.
pub(crate) fn spaced(text: &str) -> String {
    let mut spaced = String::from(" ");
    for c in text.to_lowercase().chars() {
        let last = spaced.chars().next_back().unwrap_or(' ');
        if last != ' ' && (!c.is_alphanumeric() || last.is_ascii() != c.is_ascii()) {
            spaced.push(' ');
        }
        spaced.extend(Some(c).filter(|c| c.is_alphanumeric()));
    }
    spaced + " "
}

/// A spaced text without a phrase; `None` if it does not have the phrase. Chinese has no spaces between terms.
pub(crate) fn without_phrase(text: &str, phrase: &str) -> Option<String> {
    let phrase = spaced(phrase);
    let phrase = if phrase.is_ascii() { &phrase } else { phrase.trim() };
    text.contains(phrase).then(|| text.replace(phrase, "  "))
}

/// All pages.
pub(crate) static PAGES: LazyLock<Vec<Page>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../demo/pages.json")).unwrap_or_default());

pub(crate) static CONVERSATION: LazyLock<Conversation> =
    LazyLock::new(|| serde_json::from_str(include_str!("../demo/conversation.json")).unwrap_or_default());
