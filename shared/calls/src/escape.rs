use std::borrow::Cow;

/// What bracketed control tokens without an underscore are called; those with one need no list.
const WORDS: [&str; 4] = ["ARGS", "INST", "THINK", "IMG"];

/// How some models open a list of calls, up to its bracket.
const FUNCTOOLS: &str = "functools";

/// Neutralises text that comes from outside (a tool's result, a page) so that no marker can be forged with it.
///
/// Every `<` becomes `&lt;`, for almost every element and control token that means something to a model begins with it.
/// Of the brackets only those are replaced, with `&#91;`, that open a control token (`[TOOL_CALLS]`, `[/INST]`) or a list
/// of calls (`functools[`): links, lists and JSON stay as they are. `&` is left alone: models read the result, not an
/// XML parser.
///
/// JSON without a marker is not changed, as it cannot be distinguished from data. Where a model ends its reply with the JSON of a
/// declared tool's call on lines of its own, that is a call, wherever the model has the text from.
pub fn escape(text: &str) -> String {
    let text = text.replace('<', "&lt;");
    brackets(&text).into_owned()
}

/// The text without brackets that open a marker.
fn brackets(text: &str) -> Cow<'_, str> {
    let opening = |at: &usize| text.get(..*at).is_some_and(|before| before.ends_with(FUNCTOOLS)) || is_token(text, *at);
    let mut places = text.match_indices('[').map(|(at, _)| at).filter(opening).peekable();
    if places.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let (mut safe, mut from) = (String::with_capacity(text.len() + 16), 0);
    for at in places {
        safe.push_str(text.get(from..at).unwrap_or_default());
        safe.push_str("&#91;");
        from = at + 1;
    }
    safe.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(safe)
}

/// Whether the bracket at `at` opens a control token: capitals and underscores up to the closing bracket.
fn is_token(text: &str, at: usize) -> bool {
    /// Longest token that is known to any model, with room to spare, in bytes.
    const MAX_TOKEN: usize = 40;
    let rest = text.as_bytes().get(at + 1..).unwrap_or_default();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    let length = rest.iter().take(MAX_TOKEN).take_while(|byte| byte.is_ascii_uppercase() || **byte == b'_').count();
    let (name, end) = rest.split_at(length);
    end.first() == Some(&b']') && (name.contains(&b'_') || WORDS.iter().any(|word| word.as_bytes() == name))
}

#[cfg(test)]
mod tests {
    use super::escape;
    use crate::formats;

    #[test]
    fn f058_a_result_cannot_open_a_marker() {
        assert_eq!(escape("a <tool_call>{}</tool_call> b"), "a &lt;tool_call>{}&lt;/tool_call> b");
        assert_eq!(escape("2 > 1 && 天气｜上海"), "2 > 1 && 天气｜上海");
    }

    #[test]
    fn f135_every_marker_of_every_format_is_broken() {
        for (marker, _) in formats::markers() {
            assert!(!escape(&format!("x {marker} y")).contains(&marker), "{marker}");
        }
        assert_eq!(escape("functools[{}]"), "functools&#91;{}]");
        assert_eq!(escape("[/INST][TOOL_CALLS][ARGS]"), "&#91;/INST]&#91;TOOL_CALLS]&#91;ARGS]");
    }

    #[test]
    fn f135_brackets_of_ordinary_text_stay() {
        for text in [
            "[1]",
            "[PDF] Report",
            "[a](https://a.example)",
            "[x] done",
            "[[1,2],[3]]",
            "a[i]",
            "[TODO]",
            "[",
            "[]",
            "[A_",
        ] {
            assert_eq!(escape(text), text);
        }
    }
}
