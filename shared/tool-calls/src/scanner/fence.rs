use crate::markers::{Match, OPENERS};

/// The backticks with which a code fence begins and ends.
pub(super) const TICKS: &str = "```";

/// The info strings of fences in which models put calls.
const LANGUAGES: [&str; 9] = ["", "json", "jsonc", "json5", "tool_call", "tool_calls", "tool_code", "xml", "text"];
/// Maximum length of a fence's opening, in bytes.
const MAX_OPENING_BYTES: usize = 128;

/// Matches an opening fence directly before `{` or `[`; the length ends there.
pub(super) fn match_payload_fence(text: &str) -> Match<()> {
    let is_payload = |length: usize| text[length..].starts_with(['{', '[']);
    match_opening(text).and_then(|_, length| if is_payload(length) { Match::Full((), length) } else { Match::None })
}

/// Matches an opening fence directly before JSON or a wrapper. Returns the number of backticks.
pub(super) fn match_reply_fence(text: &str) -> Match<usize> {
    match_opening(text).and_then(|ticks, length| match OPENERS.match_prefix(&text[length..]) {
        Match::None if !text[length..].starts_with(['{', '[']) => Match::None,
        Match::Partial if !text[length..].starts_with('[') => Match::Partial,
        _ => Match::Full(ticks, length),
    })
}

/// Matches an opening fence with its language, its line break and the white space after it.
fn match_opening(text: &str) -> Match<usize> {
    let ticks = count_ticks(text);
    if ticks == text.len() {
        return if ticks < MAX_OPENING_BYTES { Match::Partial } else { Match::None };
    }
    if ticks < TICKS.len() {
        return Match::None;
    }
    let Some(end) = text[ticks..].find('\n') else {
        let info = text[ticks..].trim();
        let known = LANGUAGES.iter().any(|language| language.starts_with(info));
        return if known && text.len() < MAX_OPENING_BYTES { Match::Partial } else { Match::None };
    };
    let inside = ticks + end + super::attributes::space_len(&text[ticks + end..]);
    if inside > MAX_OPENING_BYTES || !LANGUAGES.contains(&text[ticks..ticks + end].trim()) {
        return Match::None;
    }
    if inside == text.len() { Match::Partial } else { Match::Full(ticks, inside) }
}

fn count_ticks(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'`').count()
}

/// Matches a closing fence of at least this many backticks; the length ends at the line break.
pub(super) fn match_closing(text: &str, ticks: usize) -> Match<()> {
    let found = count_ticks(text);
    if found == text.len() {
        return if found < MAX_OPENING_BYTES { Match::Partial } else { Match::None };
    }
    let end = found + text[found..].len() - text[found..].trim_start_matches([' ', '\t', '\r']).len();
    match text[end..].chars().next() {
        _ if found < ticks => Match::None,
        None => Match::Partial,
        Some('\n') => Match::Full((), end),
        Some(_) => Match::None,
    }
}

#[cfg(test)]
mod tests {
    use super::{match_closing, match_payload_fence, match_reply_fence};
    use crate::markers::Match;

    #[test]
    fn fence_before_json_or_wrapper_matches() {
        assert_eq!(match_reply_fence("```json\n{\"a\""), Match::Full(3, 8));
        assert_eq!(match_reply_fence("````\n  <tool_call>"), Match::Full(4, 7));
        for text in ["`", "```", "```js", "```json", "```json\n", "```\n<tool_"] {
            assert_eq!(match_reply_fence(text), Match::Partial, "{text}");
        }
        for text in ["`a", "``\n{", "```python", "```js\n{", "```json\nx", "```\n<b>"] {
            assert_eq!(match_reply_fence(text), Match::None, "{text}");
        }
        assert_eq!(match_payload_fence("```\n<tool_call>"), Match::None);
    }

    #[test]
    fn fence_closes_at_matching_backticks_alone_on_line() {
        assert_eq!(match_closing("``` \nx", 3), Match::Full((), 4));
        assert_eq!(match_closing("```", 3), Match::Partial);
        assert_eq!(match_closing("``\n", 3), Match::None);
        assert_eq!(match_closing("```json\n", 3), Match::None);
    }
}
