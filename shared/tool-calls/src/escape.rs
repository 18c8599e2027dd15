use crate::scanner::ACTION_INPUT;
use crate::scanner::name::is_name;
use crate::scanner::prose::{ACTION, RECIPIENT};

/// The bracketed control tokens without an underscore; those with one need no list.
const BARE_TOKENS: [&str; 6] = ["ARGS", "INST", "THINK", "IMG", "BEGIN FINAL RESPONSE", "END FINAL RESPONSE"];

/// The control tokens of `OpenPangu`, which continue with a number.
const UNUSED: &[u8] = b"unused";

/// The text with which some models open a list of calls, up to its bracket.
const FUNCTOOLS: &str = "functools";

/// The characters that end or open what begins a call.
const ENTITIES: [(char, &str); 4] = [(':', "&#58;"), ('>', "&gt;"), ('[', "&#91;"), ('{', "&#123;")];

/// The beginning of a fence that holds calls, such as `tool_call` or `tool_code`.
const FENCE: &str = "```tool";
const ESCAPED_FENCE: &str = "``&#96;tool";

/// Escapes untrusted text (a tool's result, a page) so that it cannot forge a marker (R14).
///
/// Every `<` becomes `&lt;`, because nearly all elements and control tokens begin with it. Brackets become `&#91;` only
/// if they open a control token (`[TOOL_CALLS]`, `[/INST]`) or a list of calls (`functools[`, `[f(a=1)]`), and a brace
/// becomes `&#123;` after `functools`; links, lists
/// and JSON stay as they are. The colon of `Action:` at the beginning of a line and of `Action Input:` becomes `&#58;`, and
/// the last `>` of `>>>` before a name `&gt;`. A fence named after tool calls has its last backtick replaced by `&#96;`. `&` is kept:
/// models read the result, not an XML parser.
///
/// JSON without a marker is not changed, because it cannot be distinguished from data. If a model ends a line of
/// its reply with the JSON of a declared tool's call, that is a call, regardless of the text's source.
pub fn escape(text: &str) -> String {
    let text = text.replace('<', "&lt;").replace(FENCE, ESCAPED_FENCE);
    let entities = text.match_indices(ENTITIES.map(|(character, _)| character));
    let mut found = entities.filter(|(at, _)| begins_call(&text, *at) || opens_marker(&text, *at)).peekable();
    if found.peek().is_none() {
        return text;
    }
    let (mut safe, mut from) = (String::with_capacity(text.len() + 16), 0);
    for (at, character) in found {
        let entity = ENTITIES.into_iter().find(|(known, _)| character.starts_with(*known));
        safe.push_str(&text[from..at]);
        safe.push_str(entity.map_or(character, |(_, entity)| entity));
        from = at + 1;
    }
    safe + &text[from..]
}

/// Whether the colon or bracket at `at` ends what begins a call. Text in a JSON string begins a line after `\n`, and in it.
fn begins_call(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at + 1);
    if before.ends_with(RECIPIENT) {
        return after.starts_with(is_name);
    }
    let Some(line) = before.strip_suffix(ACTION) else { return before.ends_with(ACTION_INPUT) };
    let start = line.trim_end_matches([' ', '\t', '\r']);
    start.is_empty() || ["\n", "\\n", "\\t", "\""].into_iter().any(|end| start.ends_with(end))
}

fn opens_marker(text: &str, at: usize) -> bool {
    let (before, rest) = text.split_at(at);
    let is_list = || rest.starts_with('[') && (is_control_token(text, at) || opens_calls(&rest[1..]));
    rest.starts_with(['[', '{']) && (before.ends_with(FUNCTOOLS) || is_list())
}

/// Whether the bracket at `at` opens a control token: capitals and underscores up to the closing bracket.
fn is_control_token(text: &str, at: usize) -> bool {
    /// Maximum length of a token, above that of all known tokens, in bytes.
    const MAX_TOKEN_BYTES: usize = 40;
    let rest = &text.as_bytes()[at + 1..];
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    if let Some(number) = rest.strip_prefix(UNUSED) {
        return number.first().is_some_and(u8::is_ascii_digit);
    }
    let length =
        rest.iter().take(MAX_TOKEN_BYTES).take_while(|byte| byte.is_ascii_uppercase() || b"_ ".contains(byte)).count();
    let (name, end) = rest.split_at(length);
    end.first() == Some(&b']') && (name.contains(&b'_') || BARE_TOKENS.iter().any(|token| token.as_bytes() == name))
}

/// Maximum length of a name, and of white space, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Whether the text after a bracket begins with a call: a name, a parenthesis, and a named argument or none.
fn opens_calls(text: &str) -> bool {
    let Some(arguments) = skip_name(text).and_then(|rest| rest.strip_prefix('(')) else { return false };
    let arguments = skip_space(arguments);
    arguments.starts_with(')') || skip_name(arguments).is_some_and(|rest| rest.starts_with('='))
}

/// Skips a name and the white space around it.
fn skip_name(text: &str) -> Option<&str> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let text = skip_space(text);
    let length = text.bytes().take(MAX_NAME_BYTES).take_while(is_part).count();
    (length > 0).then(|| skip_space(text.get(length..).unwrap_or_default()))
}

fn skip_space(text: &str) -> &str {
    let length = text.bytes().take(MAX_NAME_BYTES).take_while(u8::is_ascii_whitespace).count();
    text.get(length..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::escape;
    use crate::formats;
    use crate::scanner::ACTION_INPUT;
    use crate::scanner::prose::{ACTION, FUNCTOOLS, RECIPIENT, SECTION};

    #[test]
    fn f058_result_cannot_open_a_marker() {
        assert_eq!(escape("a <tool_call>{}</tool_call> b"), "a &lt;tool_call>{}&lt;/tool_call> b");
        assert_eq!(escape("2 > 1 && 天气｜上海"), "2 > 1 && 天气｜上海");
    }

    #[test]
    fn f135_every_marker_of_every_format_is_broken() {
        for (marker, _) in formats::markers() {
            assert!(!escape(&format!("x {marker} y")).contains(&marker), "{marker}");
        }
        let recipient = format!("{RECIPIENT}f");
        for marker in FUNCTOOLS.into_iter().chain([SECTION, ACTION, ACTION_INPUT, &recipient]) {
            for before in ["", "x\n", "x\n \t", "{\"text\": \"", "{\"text\": \"x\\n"] {
                assert!(!escape(&format!("{before}{marker} y")).contains(marker), "{before}{marker}");
            }
        }
        assert_eq!(escape("functools[{}] functools{} {}"), "functools&#91;{}] functools&#123;} {}");
        assert_eq!(escape("[BEGIN FINAL RESPONSE] [A B]"), "&#91;BEGIN FINAL RESPONSE] [A B]");
        assert_eq!(escape("[/INST][TOOL_CALLS][ARGS]"), "&#91;/INST]&#91;TOOL_CALLS]&#91;ARGS]");
    }

    #[test]
    fn f135_lists_of_calls_and_their_fences_are_broken() {
        for list in ["[f(a=1)]", "[ f ( a = 1 ), g()]", "[\nmod.f(a='x')]", "[f()]"] {
            assert!(escape(list).starts_with("&#91;"), "{list}");
        }
        assert_eq!(escape("```tool_call\n{}\n```"), "``&#96;tool_call\n{}\n```");
        let long = format!("[{}(a=1)]", "f".repeat(10_000)).repeat(20);
        assert_eq!(escape(&long), long, "no tool has such a name");
    }

    #[test]
    fn f135_brackets_of_ordinary_text_stay() {
        for text in [
            "[1]",
            "[printf(3)](https://a.example)",
            "[f(x) for x in y]",
            "```python\nx[f(1)]\n```",
            "[PDF] Report",
            "[a](https://a.example)",
            "[x] done",
            "[[1,2],[3]]",
            "a[i]",
            "[TODO]",
            "[",
            "[]",
            "[A_",
            "Call to Action: buy",
            "Action",
            "Reaction: x",
            ">>> print(1)",
            ">>",
            "a >>>> b",
            "> > >f",
        ] {
            assert_eq!(escape(text), text);
        }
    }
}
