//! Remains of tool calls in shown text.
//!
//! This does not use the scanner that removes calls from text: its mistakes are what is to be found.

use serde_json::{Deserializer, Value};

/// Names of elements that calls and reasoning are written in, in lower case.
const ELEMENTS: [&str; 15] = [
    "tool_call",
    "tool_calls",
    "toolcall",
    "tool_use",
    "tool",
    "function_call",
    "function_calls",
    "function",
    "invoke",
    "parameter",
    "arg_key",
    "arg_value",
    "think",
    "thinking",
    "tool_result",
];

/// Markers in brackets.
const BRACKETS: [&str; 6] =
    ["[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_REQUEST]", "[END_TOOL_REQUEST]", "[ARGS]", "[CALL_ID]"];

/// Fields that name the tool of a call in JSON.
const NAME_FIELDS: [&str; 5] = ["name", "tool", "function", "tool_name", "action"];

/// Length limit of a tag or a control token, in bytes.
const MAX_TAG_BYTES: usize = 200;

/// Counts the characters of a text that belong to calls of these tools, or to markers of any call format.
pub(super) fn count_leaked_chars(text: &str, tools: &[&str]) -> usize {
    let (mut leaked, mut at) = (0, 0);
    while let Some(next) = text[at..].chars().next() {
        match leak_length(text, at, tools) {
            Some(length) => {
                leaked += text[at..at + length].chars().count();
                at += length;
            }
            None => at += next.len_utf8(),
        }
    }
    leaked
}

/// Returns the length of the leak that begins at a position, in bytes.
fn leak_length(text: &str, at: usize, tools: &[&str]) -> Option<usize> {
    let rest = &text[at..];
    match rest.as_bytes().first()? {
        b'<' => control_token(rest).or_else(|| element(rest)),
        b'[' => BRACKETS.iter().find(|marker| rest.starts_with(**marker)).map(|marker| marker.len()),
        b'{' => json_call(rest, tools),
        _ => action_line(text, at, tools).or_else(|| call_expression(text, at, tools)),
    }
}

/// A control token such as `<|tool_call|>`, with bars of either width.
fn control_token(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix("<|").or_else(|| rest.strip_prefix("<｜"))?;
    let end = inner.find(['>', '\n']).filter(|end| *end <= MAX_TAG_BYTES && inner[*end..].starts_with('>'))?;
    inner[..end].ends_with(['|', '｜']).then(|| rest.len() - inner.len() + end + 1)
}

/// An element of a call: to its end tag if it has one, otherwise its tag alone.
fn element(rest: &str) -> Option<usize> {
    let inner = &rest[1..];
    let (is_end, inner) = inner.strip_prefix('/').map_or((false, inner), |inner| (true, inner));
    let is_name = |letter: char| letter.is_ascii_alphabetic() || letter == '_' || letter == ':';
    let full_name = &inner[..inner.find(|letter| !is_name(letter)).unwrap_or(inner.len())];
    let name = full_name.rsplit(':').next().unwrap_or(full_name).to_ascii_lowercase();
    if !ELEMENTS.contains(&&*name) || !inner[full_name.len()..].starts_with(['>', ' ', '=', '\n']) {
        return None;
    }
    let tag = rest.find('>').filter(|end| *end <= MAX_TAG_BYTES).map_or(1 + full_name.len(), |end| end + 1);
    let end_tag = format!("</{full_name}>");
    let whole = rest.find(&end_tag).filter(|_| !is_end).map(|start| start + end_tag.len());
    Some(whole.unwrap_or(tag))
}

/// A JSON object with the name of a tool.
fn json_call(rest: &str, tools: &[&str]) -> Option<usize> {
    if !rest[1..].trim_start().starts_with('"') {
        return None;
    }
    let mut values = Deserializer::from_str(rest).into_iter::<Value>();
    let Value::Object(fields) = values.next()?.ok()? else { return None };
    let names_tool =
        |field: &&str| fields.get(*field).and_then(Value::as_str).is_some_and(|name| tools.contains(&name));
    NAME_FIELDS.iter().any(names_tool).then(|| values.byte_offset())
}

/// A call in the form of a programming language, such as `search_web(query="tea")`.
fn call_expression(text: &str, at: usize, tools: &[&str]) -> Option<usize> {
    let is_inside_name = text[..at].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let rest = &text[at..];
    let name = tools.iter().find(|name| !is_inside_name && rest.starts_with(**name))?;
    let arguments = rest[name.len()..].strip_prefix('(')?;
    let line = arguments.lines().next().unwrap_or_default();
    Some(name.len() + 1 + closing_bracket(line).unwrap_or(line.len()))
}

/// The end of a bracket that was opened before a text.
fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// A line that begins with `Action:` and a tool, or with `Action Input:`.
fn action_line(text: &str, at: usize, tools: &[&str]) -> Option<usize> {
    let rest = &text[at..];
    if !(at == 0 || text[..at].ends_with('\n')) || !rest.starts_with("Action") {
        return None;
    }
    let line = rest.lines().next()?;
    let names_tool = line.strip_prefix("Action:").is_some_and(|name| tools.contains(&name.trim()));
    (names_tool || line.starts_with("Action Input:")).then_some(line.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaked(text: &str) -> usize {
        count_leaked_chars(text, &["search_web", "calculator"])
    }

    #[test]
    fn remains_of_calls_are_counted() {
        for leak in [
            "<tool_call>{\"tool\": \"search_web\", \"query\": \"今天\"}</tool_call>",
            "</tool_call>",
            "<minimax:tool_call>",
            "<function=search_web>x</function>",
            "<invoke name=\"search_web\">",
            "<|tool_calls_section_begin|>",
            "<｜tool▁call▁end｜>",
            "[TOOL_CALLS]",
            "{\"name\": \"calculator\", \"arguments\": {\"expression\": \"1+1\"}}",
            "search_web(query=\"tea (green)\")",
            "</think>",
        ] {
            let text = format!("好的，{leak}。1 < (2)");
            assert_eq!(leaked(&text), leak.chars().count(), "{leak}");
        }
        assert_eq!(leaked("Action: search_web\nAction Input: {}\nok"), 18 + 16);
    }

    #[test]
    fn ordinary_text_has_no_leaks() {
        for text in [
            "a < b, <b>bold</b>, [1], [link](https://example.com)",
            "{\"name\": \"Ann\", \"age\": 3} and {not json}",
            "The calculator (an old one) and search_web are tools; research_web(x) is not.",
            "<tools>",
            "Actions: none. Take Action: now",
            "```rust\nfn main() { println!(\"{}\", 1 <= 2); }\n```",
        ] {
            assert_eq!(leaked(text), 0, "{text}");
        }
    }
}
