//! Remains of tool calls in shown text.
//!
//! This does not use the scanner that removes calls from text: its mistakes are what is to be found.

use regex::Regex;
use serde_json::{Deserializer, Value};

/// What remains of calls, with the names of the tools in place of `TOOLS`.
const REMAINS: &str = r#"(?xm)
    # A control token such as <|tool_call|>, with bars of either width.
    <(?:\||｜)[^>\n]{0,200}(?:\||｜)>
    # A tag of an element that calls and reasoning are written in.
    | <(?P<end>/)?(?P<name>(?:[A-Za-z_]+:)?(?i:tool(?:_calls?|call|_use|_result)?|function(?:_calls?)?|invoke|parameter
        |arg_key|arg_value|think(?:ing)?))(?:>|[\x20=\n](?:[^>]{0,200}>)?)
    # A marker in brackets.
    | \[(?:/?TOOL_CALLS|(?:END_)?TOOL_REQUEST|ARGS|CALL_ID)\]
    # The beginning of an object.
    | (?P<object>\{)[\x20\t\r\n]*"
    # A line that calls.
    | ^Action(?:\x20Input:.*|:\x20*(?:TOOLS)\x20*$)
    # A call in the form of a programming language, such as search_web(query="tea").
    | (?-u:\b)(?:TOOLS)\((?:[^()\n]|\([^()\n]*\))*\)?"#;

/// Fields that name the tool of a call in JSON.
const NAME_FIELDS: [&str; 5] = ["name", "tool", "function", "tool_name", "action"];

/// Counts the characters of a text that belong to calls of these tools, or to markers of any call format.
pub(super) fn count_leaked_chars(text: &str, tools: &[&str]) -> usize {
    let Ok(remains) = Regex::new(&REMAINS.replace("TOOLS", &tools.join("|"))) else { return 0 };
    let (mut leaked, mut at) = (0, 0);
    while let Some(found) = remains.captures_at(text, at) {
        let whole = found.get_match();
        let rest = &text[whole.start()..];
        let length = match (found.name("name"), found.name("object")) {
            (_, Some(_)) => json_call(rest, tools).unwrap_or_default(),
            (Some(name), _) if found.name("end").is_none() => element(rest, name.as_str()).unwrap_or(whole.len()),
            _ => whole.len(),
        };
        leaked += rest[..length].chars().count();
        // What follows the beginning of another object may be a call.
        at = whole.start() + length.max(1);
    }
    leaked
}

/// The length of an element that has an end tag.
fn element(rest: &str, name: &str) -> Option<usize> {
    let end_tag = format!("</{name}>");
    rest.find(&end_tag).map(|start| start + end_tag.len())
}

/// The length of a JSON object with the name of a tool.
fn json_call(rest: &str, tools: &[&str]) -> Option<usize> {
    let mut values = Deserializer::from_str(rest).into_iter::<Value>();
    let Value::Object(fields) = values.next()?.ok()? else { return None };
    let names_tool =
        |field: &&str| fields.get(*field).and_then(Value::as_str).is_some_and(|name| tools.contains(&name));
    NAME_FIELDS.iter().any(names_tool).then(|| values.byte_offset())
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
