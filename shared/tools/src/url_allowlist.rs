//! The URL allowlist of a conversation.

mod addresses;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use domain::{Message, Source};
use url::Url;
use work::lock;

/// The name of the tool that searches the web.
pub const SEARCH_WEB: &str = "search_web";

/// The name of the tool that reads a page.
pub const READ_URL: &str = "read_url";

/// Prefixes of a line that names a page, in the results of [`SEARCH_WEB`] and [`READ_URL`] in Chinese and in English; no
/// other text in them can imitate such a line.
pub const SOURCE_PREFIXES: [&str; 2] = ["来源：", "Source: "];

/// The beginnings of English results; those before 0.3 begin with their query. Other results are Chinese: in older ones, pages
/// can imitate the English prefix.
pub const ENGLISH_BEGINNINGS: [&str; 4] = [
    "<search_results>\nSearch results:",
    "<search_results>\nAI summary: ",
    "<search_results>\nQuery: ",
    "<page>\nNumber: ",
];

/// Tools whose results list pages, each on its own line.
const SOURCE_TOOLS: [&str; 2] = [SEARCH_WEB, READ_URL];

/// Longest accepted address, in bytes.
const MAX_URL: usize = 2048;

/// Longest host with its port, in bytes: a domain name has 253 ASCII characters, and more bytes in other scripts.
const MAX_AUTHORITY: usize = 512;

/// Maximum number of pages in the allowlist; the oldest is removed first.
const MAX_PAGES: usize = 1000;

/// The web addresses that the model may read: those in the user's messages, and the sources of results.
///
/// No other page is read for a model, so that a prompt injection cannot send data away in an address. Clones share
/// their state. Addresses are compared without the case of scheme and host, the default port, one slash at the end, and
/// the fragment. Of equal addresses, the first one in the conversation is requested, never the model's own spelling.
#[derive(Clone, Debug, Default)]
pub struct UrlAllowlist(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    /// The first spelling of each page, by its identity.
    spellings: HashMap<String, Url>,
    /// The keys, oldest first.
    order: VecDeque<String>,
}

impl UrlAllowlist {
    /// Adds the pages that a message names, in time linear in its text.
    pub fn add_message(&self, message: &Message) {
        match message {
            Message::User { text, .. } => self.add(addresses::candidates(text)),
            Message::Tool(result) if SOURCE_TOOLS.contains(&result.name.as_str()) => {
                let [chinese, english] = SOURCE_PREFIXES;
                let is_english = ENGLISH_BEGINNINGS.iter().any(|beginning| result.content.starts_with(beginning));
                let prefix = if is_english { english } else { chinese };
                self.add(result.content.lines().filter_map(|line| line.strip_prefix(prefix)));
            }
            Message::Tool(_) | Message::Assistant { .. } => {}
        }
    }

    /// Adds a page that a user names as nothing but its address.
    pub fn add_address(&self, address: &str) {
        self.add([address]);
    }

    /// Adds the pages that a result names.
    pub fn add_sources(&self, sources: &[Source]) {
        self.add(sources.iter().map(|source| source.url.as_str()));
    }

    /// Returns the first spelling of a page; `None` for a page that is not allowed.
    pub fn first_spelling(&self, page: &Url) -> Option<Url> {
        lock(&self.0).spellings.get(&identity(page)).cloned()
    }

    fn add<'a>(&self, addresses: impl IntoIterator<Item = &'a str>) {
        let urls: Vec<Url> = addresses.into_iter().filter_map(parse_page).collect();
        let mut pages = lock(&self.0);
        for url in urls {
            pages.add(url);
        }
    }
}

impl Pages {
    fn add(&mut self, url: Url) {
        let key = identity(&url);
        if self.spellings.contains_key(&key) {
            return;
        }
        if self.order.len() >= MAX_PAGES
            && let Some(oldest) = self.order.pop_front()
        {
            self.spellings.remove(&oldest);
        }
        self.order.push_back(key.clone());
        self.spellings.insert(key, url);
    }
}

/// Parses an address as a page that may be requested, without its fragment; `None` when it is not on the public web.
///
/// IP addresses are rejected: pages for people have names, and IP addresses have many spellings.
pub fn parse_page(address: &str) -> Option<Url> {
    let address = Some(address.trim()).filter(|address| is_short(address))?;
    let mut url = Url::parse(address).ok()?;
    let host = url.domain()?.trim_end_matches('.');
    let private = ["localhost", "local", "internal", "lan", "home.arpa", "test", "invalid"];
    let is_private =
        private.iter().any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let is_public = host.contains('.') && !is_private;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    url.set_fragment(None);
    (is_public && is_plain).then_some(url)
}

/// Whether an address is short enough to be parsed: the cost of a host grows with its square.
fn is_short(address: &str) -> bool {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let end = host.find(['/', '?', '#', '\\']).unwrap_or(host.len());
    address.len() <= MAX_URL && end <= MAX_AUTHORITY
}

/// Returns the form by which the addresses of sources are compared; that of an address that cannot be parsed is itself.
pub(crate) fn page_identity(address: &str) -> String {
    let url = Some(address.trim()).filter(|address| is_short(address)).and_then(|address| Url::parse(address).ok());
    url.map_or_else(|| address.to_owned(), |url| identity(&url))
}

/// Returns the normalised form by which addresses are compared; parsing has already normalised case and ports.
fn identity(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let path = url.path().strip_suffix('/').unwrap_or(url.path()).to_owned();
    url.set_path(&path);
    url.into()
}
