//! Content of a wrapper that is no JSON: read as a call, or malformed and never shown.

use crate::support::{transcript, truncated_transcript};

/// The reason of the only malformed call of a text, which contains the text after `before` and before `after`.
fn reason(before: &str, call: &str, after: &str) -> String {
    let transcript = transcript(&format!("{before}{call}{after}"));
    let malformed: Vec<&String> = transcript.iter().filter(|line| line.starts_with('[')).collect();
    assert_eq!(malformed.len(), 1, "{transcript:?}");
    let (reason, raw) = malformed[0].split_once("] ").unwrap_or_default();
    assert_eq!(raw, call);
    let shown: String = transcript.iter().filter(|line| !line.starts_with('[')).map(String::as_str).collect();
    assert_eq!(shown, format!("{before}{after}"));
    reason.trim_start_matches('[').to_owned()
}

#[test]
fn unreadable_content_is_malformed_anywhere() {
    for (call, expected) in [
        ("<tool_call></tool_call>", "the call is empty"),
        ("<tool_call>\n</tool_call>", "the call is empty"),
        ("<tool_call>{}</tool_call>", "the call is empty"),
        ("<tool_call>[{}]</tool_call>", "the call is empty"),
        ("<tool_call>{\"tool\" \"search_web\" \"query\" \"x\"}</tool_call>", "the JSON cannot be parsed"),
        ("<tool_call>{\"search_web\"}</tool_call>", "the JSON cannot be parsed"),
        ("<tool_call>search_web: 北京天气</tool_call>", "the call has no known format"),
        ("<tool_call>search_web 北京天气</tool_call>", "the call has no known format"),
        ("<tool_call> search_web，北京天气 </tool_call>", "the call has no known format"),
        ("<tool_call name=\"search_web\">北京天气</tool_call>", "the call has no known format"),
        ("<|FunctionCallBegin|>search_web: 北京<|FunctionCallEnd|>", "the call has no known format"),
        ("<tool_call>search_web(query=x+1)</tool_call>", "the call in Python cannot be parsed"),
        ("<tool_call>search_web(\"a\", \"b\")</tool_call>", "the call in Python cannot be parsed"),
    ] {
        assert_eq!([reason("", call, ""), reason("好。", call, "完。")], [expected, expected], "{call}");
    }
}

#[test]
fn foreign_content_is_malformed_at_line_start() {
    for call in
        ["<tool_call>北京天气</tool_call>", "<tool_call>\n搜索：天气\n</tool_call>", "<tool_call>nope: x</tool_call>"]
    {
        assert_eq!(reason("好。\n", call, "\n完。"), "the call has no known format");
    }
    let text = "使用 <tool_call>标签</tool_call>。";
    assert_eq!(transcript(text), [text]);
}

#[test]
fn foreign_content_without_end_is_text() {
    for text in [
        "<tool_call>标签用来调用工具。".to_owned(),
        format!("<tool_call>{}</tool_call>", "长".repeat(400)),
        "<tool_call>标签，例如 <tool_calm>".to_owned(),
    ] {
        assert_eq!(transcript(&text), [text.as_str()]);
    }
    let call = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>";
    assert_eq!(transcript(&format!("<tool_call>标签：{call}")), ["<tool_call>标签：", "search_web({\"query\":\"x\"})"]);
}

#[test]
fn unclosed_content_with_declared_name_is_malformed() {
    for text in ["<tool_call>search_web: 北京", "<tool_call>search_web", "<tool_call>search_web(query=\"北京"] {
        assert!(transcript(text)[0].starts_with("[the call "), "{text}");
        assert_eq!(truncated_transcript(text), [format!("[cut] {text}")]);
    }
}
