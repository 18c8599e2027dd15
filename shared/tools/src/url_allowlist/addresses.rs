//! Finds web addresses in the text of a message, in time linear in the text.

use super::MAX_URL;

/// Maximum number of positions in one message that are searched for an address.
const MAX_STARTS: usize = 256;

/// Maximum size of all candidates, as a multiple of the text's bytes; only nested addresses overlap.
const MAX_OVERLAP: usize = 4;

/// Longest accepted scheme, in bytes: `https`.
const MAX_SCHEME: usize = 5;

/// Returns the candidates for addresses in a text, each at most [`MAX_URL`] bytes long.
///
/// The end of an address inside a sentence is a guess, so each start yields up to four candidates. The total size of
/// the candidates is bounded by a multiple of the text's length, for any text.
pub(super) fn candidates(text: &str) -> Vec<&str> {
    let mut budget = text.len().saturating_mul(MAX_OVERLAP);
    let mut found = Vec::new();
    for address in text.match_indices("://").filter_map(|(at, _)| beginning_before(text, at)).take(MAX_STARTS) {
        let window = window(address);
        let Some(rest) = budget.checked_sub(window.len()) else { break };
        budget = rest;
        found.extend(ends(window));
    }
    found
}

/// Returns the text from the scheme whose `://` is at `at`; `None` unless the whole scheme is `http` or `https`.
fn beginning_before(text: &str, at: usize) -> Option<&str> {
    let letters = text.as_bytes().get(..at)?.iter().rev().take(MAX_SCHEME + 1);
    let length = letters.take_while(|byte| byte.is_ascii_alphabetic()).count();
    let scheme = text.get(at - length..at)?;
    let is_web = ["http", "https"].iter().any(|web| scheme.eq_ignore_ascii_case(web));
    is_web.then(|| text.get(at - length..)).flatten()
}

/// Returns the part of a text that is searched for the end of an address: one character more than the maximum length.
fn window(text: &str) -> &str {
    text.get(..text.ceil_char_boundary(text.len().min(MAX_URL + 1))).unwrap_or(text)
}

/// Returns the possible addresses at the start of a text: up to white space or a character that no address contains,
/// and up to the first letter of another script; each with and without trailing punctuation.
fn ends(text: &str) -> Vec<&str> {
    let whole = text
        .split(|c: char| c.is_whitespace() || "<>\"'`，。；：！？、）】》」”’".contains(c))
        .next()
        .unwrap_or_default();
    let ascii = whole.split(|c: char| !c.is_ascii()).next().unwrap_or_default();
    let complete = [whole, ascii].into_iter().filter(|address| address.len() <= MAX_URL);
    let mut ends: Vec<&str> = complete.flat_map(|address| [address, trim_punctuation(address)]).collect();
    ends.dedup();
    ends
}

fn trim_punctuation(address: &str) -> &str {
    address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '}', '*'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> usize {
        candidates(text).into_iter().map(str::len).sum()
    }

    #[test]
    fn f136_candidates_are_linear_in_the_text() {
        for unit in
            ["a://", "://", "http://a", "https://", "https://a.example/", "http://路", "https://a.example/ ", "h"]
        {
            for length in [1 << 10, 1 << 14, 1 << 18, 1 << 20] {
                let text = unit.repeat(length / unit.len());
                assert!(bytes(&text) <= 4 * MAX_OVERLAP * text.len(), "{unit} {length}: {}", bytes(&text));
                assert!(candidates(&text).len() <= 4 * MAX_STARTS, "{unit} {length}");
                assert!(candidates(&text).iter().all(|address| address.len() <= MAX_URL), "{unit} {length}");
            }
        }
    }

    #[test]
    fn f136_long_run_of_letters_is_no_scheme() {
        assert_eq!(candidates(&format!("{}://a.example", "h".repeat(1 << 20))), Vec::<&str>::new());
        assert_eq!(candidates("xhttps://a.example shttp://a.example"), Vec::<&str>::new());
    }

    #[test]
    fn f136_overlong_address_yields_no_candidate() {
        let long = format!("https://a.example/{}", "x".repeat(MAX_URL));
        assert_eq!(candidates(&long), Vec::<&str>::new());
        let dots = format!("https://a.example/{}", ".".repeat(MAX_URL));
        assert_eq!(candidates(&dots), Vec::<&str>::new());
        let longest = format!("https://a.example/{}", "x".repeat(MAX_URL - 18));
        assert_eq!(candidates(&format!("{longest}路")), [longest.as_str()]);
    }

    #[test]
    fn f136_nested_address_is_a_candidate() {
        let text = "[a](https://a.example/https://b.example/x)";
        assert!(candidates(text).contains(&"https://b.example/x"), "{:?}", candidates(text));
    }
}
