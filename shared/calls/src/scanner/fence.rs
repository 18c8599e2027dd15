use crate::markers::{Look, OPENERS};

/// The backticks with which a code fence begins and ends.
pub(super) const TICKS: &str = "```";

/// The info strings of fences in which models put calls.
const LANGUAGES: [&str; 9] = ["", "json", "jsonc", "json5", "tool_call", "tool_calls", "tool_code", "xml", "text"];
/// Maximum length of a fence's opening, in bytes.
const MAX_OPENING: usize = 128;

/// Matches an opening fence directly before `{` or `[`; the length ends there.
pub(super) fn payload_fence(text: &str) -> Look<()> {
    match opening(text) {
        Look::Is(_, length) if text[length..].starts_with(['{', '[']) => Look::Is((), length),
        Look::Short => Look::Short,
        _ => Look::No,
    }
}

/// Matches an opening fence directly before JSON or a wrapper. Returns the number of backticks.
pub(super) fn reply_fence(text: &str) -> Look<usize> {
    let Look::Is(ticks, length) = opening(text) else { return opening(text) };
    let inside = &text[length..];
    if inside.starts_with(['{', '[']) {
        return Look::Is(ticks, length);
    }
    match OPENERS.look(inside) {
        Look::Is(..) => Look::Is(ticks, length),
        Look::Short => Look::Short,
        Look::No => Look::No,
    }
}

/// Matches an opening fence with its language, its line break and the white space after it.
fn opening(text: &str) -> Look<usize> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    if ticks == text.len() {
        return if ticks < MAX_OPENING { Look::Short } else { Look::No };
    }
    if ticks < TICKS.len() {
        return Look::No;
    }
    let Some(end) = text[ticks..].find('\n') else {
        let known = LANGUAGES.iter().any(|language| language.starts_with(text[ticks..].trim()));
        return if known && text.len() < MAX_OPENING { Look::Short } else { Look::No };
    };
    let inside = ticks + end + super::attributes::space(&text[ticks + end..]);
    if inside > MAX_OPENING || !LANGUAGES.contains(&text[ticks..ticks + end].trim()) {
        return Look::No;
    }
    if inside == text.len() { Look::Short } else { Look::Is(ticks, inside) }
}

/// Matches a closing fence of at least this many backticks; the length ends at the line break.
pub(super) fn closing(text: &str, ticks: usize) -> Look<()> {
    let found = text.len() - text.trim_start_matches('`').len();
    if found == text.len() {
        return Look::Short;
    }
    let end = found + text[found..].len() - text[found..].trim_start_matches([' ', '\t', '\r']).len();
    match text[end..].chars().next() {
        _ if found < ticks => Look::No,
        None => Look::Short,
        Some('\n') => Look::Is((), end),
        Some(_) => Look::No,
    }
}

#[cfg(test)]
mod tests {
    use super::{closing, payload_fence, reply_fence};
    use crate::markers::Look;

    #[test]
    fn fence_before_json_or_wrapper_matches() {
        assert_eq!(reply_fence("```json\n{\"a\""), Look::Is(3, 8));
        assert_eq!(reply_fence("````\n  <tool_call>"), Look::Is(4, 7));
        for text in ["`", "```", "```js", "```json", "```json\n", "```\n<tool_"] {
            assert_eq!(reply_fence(text), Look::Short, "{text}");
        }
        for text in ["`a", "``\n{", "```python", "```js\n{", "```json\nx", "```\n<b>"] {
            assert_eq!(reply_fence(text), Look::No, "{text}");
        }
        assert_eq!(payload_fence("```\n<tool_call>"), Look::No);
    }

    #[test]
    fn fence_closes_at_matching_backticks_alone_on_line() {
        assert_eq!(closing("``` \nx", 3), Look::Is((), 4));
        assert_eq!(closing("```", 3), Look::Short);
        assert_eq!(closing("``\n", 3), Look::No);
        assert_eq!(closing("```json\n", 3), Look::No);
    }
}
