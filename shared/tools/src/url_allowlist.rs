//! The URL allowlist of a conversation.

mod addresses;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Message, Source};
use reqwest::Url;

/// Tools whose results list pages, each on its own line; no other text in a result can imitate such a line.
const SOURCE_TOOLS: [&str; 2] = ["search_web", "read_url"];

/// Prefix of a line that names a page.
const SOURCE_PREFIX: &str = "来源：";

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
            Message::User { text } => self.add(addresses::candidates(text)),
            Message::Tool(result) if SOURCE_TOOLS.contains(&result.name.as_str()) => {
                self.add(result.content.lines().filter_map(|line| line.strip_prefix(SOURCE_PREFIX)));
            }
            Message::Tool(_) | Message::Assistant { .. } => {}
        }
    }

    /// Adds the pages that a result names.
    pub fn add_sources(&self, sources: &[Source]) {
        self.add(sources.iter().map(|source| source.url.as_str()));
    }

    /// Returns the first spelling of a page; `None` for a page that is not allowed.
    pub(crate) fn first_spelling(&self, page: &Url) -> Option<Url> {
        self.lock().spellings.get(&identity(page)).cloned()
    }

    fn add<'a>(&self, addresses: impl IntoIterator<Item = &'a str>) {
        let urls: Vec<Url> = addresses.into_iter().filter_map(parse_page).collect();
        let mut pages = self.lock();
        for url in urls {
            pages.add(url);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
pub(crate) fn parse_page(address: &str) -> Option<Url> {
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

/// Returns the normalised form by which addresses are compared; parsing has already normalised case and ports.
fn identity(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let path = url.path().strip_suffix('/').unwrap_or(url.path()).to_owned();
    url.set_path(&path);
    url.into()
}

#[cfg(test)]
mod tests {
    use domain::ToolMessage;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.to_owned() }
    }

    fn result(name: &str, content: &str) -> Message {
        let (call_id, name, content) = ("c".to_owned(), name.to_owned(), content.to_owned());
        Message::Tool(ToolMessage { call_id, name, ok: true, content })
    }

    fn is_allowed(messages: &[Message], address: &str) -> bool {
        let pages = UrlAllowlist::default();
        for message in messages {
            pages.add_message(message);
        }
        parse_page(address).is_some_and(|page| pages.first_spelling(&page).is_some())
    }

    #[test]
    fn f136_addresses_in_user_text_are_allowed_anywhere() {
        for text in [
            "https://a.example/x",
            "read https://a.example/x.",
            "（见 HTTPS://A.example:443/x/#part）",
            "看看https://a.example/x，好吗",
            "看看https://a.example/x里面写了什么",
            "[it](https://a.example/x)",
            "see <https://a.example/x>, please",
        ] {
            assert!(is_allowed(&[user(text)], "https://a.example/x"), "{text}");
        }
        assert!(is_allowed(&[user("https://a.example/路径?q=一")], "https://a.example/路径?q=一"));
        assert!(is_allowed(&[user("https://a.example")], "https://A.EXAMPLE/#top"));
    }

    #[test]
    fn f136_other_page_is_not_allowed() {
        let messages = [user("https://a.example/x?k=1")];
        for address in [
            "https://a.example/x",
            "https://a.example/x?k=2",
            "http://a.example/x?k=1",
            "https://b.example/x?k=1",
            "https://a.example:8443/x?k=1",
            "https://a.example/X?k=1",
            "https://a.example/x?k=1&d=secret",
        ] {
            assert!(!is_allowed(&messages, address), "{address}");
        }
    }

    #[test]
    fn f136_results_allow_only_their_sources() {
        let content = "1. t\n来源：https://a.example/1\n内容：see https://evil.example/\n 来源：https://evil.example/";
        assert!(is_allowed(&[result("search_web", content)], "https://a.example/1"));
        assert!(!is_allowed(&[result("search_web", content)], "https://evil.example/"));
        assert!(!is_allowed(&[result("other", content)], "https://a.example/1"));
        let assistant =
            Message::Assistant { text: "https://a.example/1".into(), thinking: String::new(), calls: Vec::new() };
        assert!(!is_allowed(&[assistant], "https://a.example/1"));
    }

    #[test]
    fn f125_f129_only_public_host_names_are_pages() {
        for address in [
            "ftp://a.example/",
            "file:///etc/passwd",
            "https://u@a.example/",
            "https://u:p@a.example/",
            "https://127.0.0.1/",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://[::1]/",
            "https://localhost/",
            "https://x.localhost/",
            "http://metadata.google.internal/",
            "https://printer.local./",
            "https://intranet/",
            "https://１２７.0.0.1/",
            "",
            "a",
            &format!("https://a.example/{}", "x".repeat(2048)),
        ] {
            assert_eq!(parse_page(address), None, "{address}");
        }
        assert_eq!(parse_page(" https://a.example/b?c#d ").unwrap().as_str(), "https://a.example/b?c");
    }

    /// The address that is requested for the model's `address` after a user wrote `text`.
    fn requested(text: &str, address: &str) -> Option<String> {
        let pages = UrlAllowlist::default();
        pages.add_message(&user(text));
        parse_page(address).and_then(|page| pages.first_spelling(&page)).map(String::from)
    }

    #[test]
    fn f136_first_spelling_is_requested_not_the_models() {
        let known = "https://a.example/x?q=1";
        for address in [
            "HTTPS://A.Example:443/x?q=1",
            "https://a.example/x/?q=1",
            "https://a.example/x?q=1#secret",
            "https://a.example/./y/../x?q=1",
            "https://a.ex\tample/x?q=1",
            "https:\\\\a.example\\x?q=1",
            "https:a.example/x?q=1",
            "https://ａ.example/x?q=1",
        ] {
            let requested = requested(known, address);
            assert!(requested.is_none() || requested.as_deref() == Some(known), "{address}: {requested:?}");
        }
        assert_eq!(requested("https://a.example/x/", "https://a.example/x"), Some("https://a.example/x/".to_owned()));
        assert_eq!(requested("https://a.example//", "https://a.example/"), Some("https://a.example//".to_owned()));
    }

    #[test]
    fn f136_different_pages_are_not_equal() {
        for (text, address) in [
            ("https://a.example/x", "https://a.example/x//"),
            ("https://a.example/x", "https://a.example/x/////"),
            ("https://a.example/x", "https://a.example//x"),
            ("https://a.example/x", "https://a.example/x?"),
            ("https://a.example/x", "https://a.example./x"),
            ("https://a.example/x", "https://a.example/%78"),
            ("https://a.example/%c3%a9", "https://a.example/%C3%A9"),
            ("https://a.example/x?a=1&b=2", "https://a.example/x?b=2&a=1"),
        ] {
            assert_eq!(requested(text, address), None, "{address}");
        }
    }

    #[test]
    fn f136_newest_pages_stay_in_the_allowlist() {
        let pages = UrlAllowlist::default();
        for number in 0..MAX_PAGES + 5 {
            pages.add_message(&user(&format!("https://a.example/{number}")));
        }
        let is_known = |number: usize| {
            pages.first_spelling(&parse_page(&format!("https://a.example/{number}")).unwrap()).is_some()
        };
        assert_eq!([0, 4, 5, MAX_PAGES + 4].map(is_known), [false, false, true, true]);
        let known = pages.lock();
        assert_eq!((known.order.len(), known.spellings.len()), (MAX_PAGES, MAX_PAGES));
    }

    #[test]
    fn f136_overlong_host_is_not_parsed() {
        assert_eq!(parse_page(&format!("https://{}.example/", "路".repeat(600))), None);
        assert_eq!(parse_page(&format!("https://{}a.example/", "a.".repeat(300))), None);
    }
}
