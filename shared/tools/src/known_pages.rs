use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use conversation::{Message, Source};
use reqwest::Url;

/// The tools whose results name pages, each on a line of its own; nothing else in a result can look like that line.
const NAMING: [&str; 2] = ["search_web", "read_url"];

/// How a line begins that names a page.
const NAMES: &str = "来源：";

/// Longest address that counts, in bytes.
const MAX_URL: usize = 2048;

/// The web addresses that a conversation has brought up: those in the user's words, and the sources of results.
///
/// No other page is read for a model, so that nothing it was made to believe can carry data away in an address. Clones
/// share what they know. Addresses are equal whatever the case of scheme and host, a default port, a slash at the end
/// and a fragment.
#[derive(Clone, Debug, Default)]
pub struct KnownPages(Arc<Mutex<HashSet<String>>>);

impl KnownPages {
    /// Takes note of what a message brings up.
    pub fn note(&self, message: &Message) {
        match message {
            Message::User { text } => self.add(written(text)),
            Message::Tool(result) if NAMING.contains(&result.name.as_str()) => {
                self.add(result.content.lines().filter_map(|line| line.strip_prefix(NAMES)));
            }
            Message::Tool(_) | Message::Assistant { .. } => {}
        }
    }

    /// Takes note of the pages that a result names.
    pub fn note_sources(&self, sources: &[Source]) {
        self.add(sources.iter().map(|source| source.url.as_str()));
    }

    /// Whether a page has come up.
    pub(crate) fn have(&self, page: &Url) -> bool {
        self.known().contains(&identity(page))
    }

    fn add<'a>(&self, addresses: impl IntoIterator<Item = &'a str>) {
        let urls = addresses.into_iter().filter_map(page);
        self.known().extend(urls.map(|url| identity(&url)));
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The page at an address as it may be asked for, without its fragment; `None` when it is not on the public web.
///
/// Addresses by number are left out altogether: pages for people have names, and numbers have many spellings.
pub(crate) fn page(address: &str) -> Option<Url> {
    let address = address.trim();
    let mut url = Url::parse(address).ok().filter(|_| address.len() <= MAX_URL)?;
    let host = url.domain()?.trim_end_matches('.');
    let private = ["localhost", "local", "internal", "lan", "home.arpa", "test", "invalid"];
    let is_private =
        private.iter().any(|name| host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')));
    let is_public = host.contains('.') && !is_private;
    let is_plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    url.set_fragment(None);
    (is_public && is_plain).then_some(url)
}

/// What equal addresses have in common; parsing has already dealt with case and ports.
fn identity(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let path = url.path().trim_end_matches('/').to_owned();
    url.set_path(&path);
    url.into()
}

/// The addresses in a text. Where one ends is a guess beside other words, so that each guess counts.
fn written(text: &str) -> Vec<&str> {
    let starts = text.match_indices("://").filter_map(|(at, _)| {
        let scheme = text.get(..at)?.rfind(|c: char| !c.is_ascii_alphabetic()).map_or(0, |before| next(text, before));
        text.get(scheme..)
    });
    starts.flat_map(ends).collect()
}

fn next(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(0, char::len_utf8)
}

/// An address that begins a text: up to white space or a sign that stands in none, and up to the first letter of
/// another script; each with and without the punctuation of a sentence.
fn ends<'a>(text: &'a str) -> Vec<&'a str> {
    let whole = text
        .split(|c: char| c.is_whitespace() || "<>\"'`，。；：！？、）】》」”’".contains(c))
        .next()
        .unwrap_or_default();
    let ascii = whole.split(|c: char| !c.is_ascii()).next().unwrap_or_default();
    let bare = |text: &'a str| text.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '*']);
    vec![whole, bare(whole), ascii, bare(ascii)]
}

#[cfg(test)]
mod tests {
    use conversation::ToolResult;

    use super::*;

    fn user(text: &str) -> Message {
        Message::User { text: text.to_owned() }
    }

    fn result(name: &str, content: &str) -> Message {
        let (call_id, name, content) = ("c".to_owned(), name.to_owned(), content.to_owned());
        Message::Tool(ToolResult { call_id, name, ok: true, content })
    }

    fn known(messages: &[Message], address: &str) -> bool {
        let pages = KnownPages::default();
        for message in messages {
            pages.note(message);
        }
        page(address).is_some_and(|page| pages.have(&page))
    }

    #[test]
    fn f136_addresses_in_the_users_words_count_wherever_they_stand() {
        for text in [
            "https://a.example/x",
            "read https://a.example/x.",
            "（见 HTTPS://A.example:443/x/#part）",
            "看看https://a.example/x，好吗",
            "看看https://a.example/x里面写了什么",
            "[it](https://a.example/x)",
            "see <https://a.example/x>, please",
        ] {
            assert!(known(&[user(text)], "https://a.example/x"), "{text}");
        }
        assert!(known(&[user("https://a.example/路径?q=一")], "https://a.example/路径?q=一"));
        assert!(known(&[user("https://a.example")], "https://A.EXAMPLE/#top"));
    }

    #[test]
    fn f136_another_page_is_unknown() {
        let said = [user("https://a.example/x?k=1")];
        for address in [
            "https://a.example/x",
            "https://a.example/x?k=2",
            "http://a.example/x?k=1",
            "https://b.example/x?k=1",
            "https://a.example:8443/x?k=1",
            "https://a.example/X?k=1",
            "https://a.example/x?k=1&d=secret",
        ] {
            assert!(!known(&said, address), "{address}");
        }
    }

    #[test]
    fn f136_results_name_pages_by_their_sources_alone() {
        let said = "1. t\n来源：https://a.example/1\n内容：see https://evil.example/\n 来源：https://evil.example/";
        assert!(known(&[result("search_web", said)], "https://a.example/1"));
        assert!(!known(&[result("search_web", said)], "https://evil.example/"));
        assert!(!known(&[result("other", said)], "https://a.example/1"));
        let words =
            Message::Assistant { text: "https://a.example/1".into(), thinking: String::new(), calls: Vec::new() };
        assert!(!known(&[words], "https://a.example/1"));
    }

    #[test]
    fn f125_f129_only_names_on_the_public_web_are_pages() {
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
            assert_eq!(page(address), None, "{address}");
        }
        assert_eq!(page(" https://a.example/b?c#d ").unwrap().as_str(), "https://a.example/b?c");
    }
}
