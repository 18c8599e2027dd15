//! Classification of calls and text, case by case.

use tool_calls::{CallScanner, ReplyEnd};

use crate::support::{Outcome, scan, tools, transcript};

const CALL: &str = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>";
const BARE: &str = "{\"tool\": \"search_web\", \"query\": \"x\"}";
const READ_CALL: &str = "search_web({\"query\":\"x\"})";

fn with(template: &str) -> Vec<String> {
    transcript(&template.replace("CALL", CALL).replace("BARE", BARE))
}

#[test]
fn text_around_calls_keeps_its_order() {
    assert_eq!(
        with("好的，马上查询。CALL然后CALL完成。"),
        ["好的，马上查询。", READ_CALL, "然后", READ_CALL, "完成。"]
    );
}

#[test]
fn white_space_around_calls_is_hidden() {
    assert_eq!(with("\n\nCALL\n\nCALL\n"), [READ_CALL, READ_CALL]);
    assert_eq!(with("a\nCALL\nCALL\n"), ["a\n", READ_CALL, READ_CALL]);
}

#[test]
fn white_space_before_text_is_shown_as_written() {
    assert_eq!(with("a CALL b"), ["a ", READ_CALL, " b"]);
    assert_eq!(with("a\nCALL\nCALL\n\nb \n"), ["a\n", READ_CALL, READ_CALL, "\n\n\nb \n"]);
    assert_eq!(transcript("  a \n"), ["  a \n"]);
}

#[test]
fn explicit_wrapper_calls_any_name() {
    assert_eq!(transcript("<tool_call>{\"tool\": \"nope\", \"q\": 1}</tool_call>"), ["nope({\"q\":1})"]);
    assert_eq!(scan(&[], [CALL], ReplyEnd::Complete).transcript(), [READ_CALL]);
}

#[test]
fn bare_json_before_only_calls_is_a_call() {
    assert_eq!(with("BARE"), [READ_CALL]);
    assert_eq!(with("好的。\nBARE\n \n"), ["好的。\n", READ_CALL]);
    assert_eq!(with("BARE\nBARE\nCALL"), [READ_CALL, READ_CALL, READ_CALL]);
    assert_eq!(with("BARE\n</tool_call>"), [READ_CALL]);
}

#[test]
fn bare_json_before_other_text_is_shown() {
    for text in ["BARE\n\n我将为您搜索。", "BARE。", "我将搜索 BARE \n好。", "BARE\n{\"note\": 1}"] {
        let text = text.replace("BARE", BARE);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
    assert_eq!(with("BARE\nCALL\nEnd."), [&*format!("{BARE}\n"), READ_CALL, "\nEnd."]);
    assert_eq!(with("我将搜索 BARE"), ["我将搜索 ", READ_CALL]);
}

#[test]
fn f057_bare_json_within_its_line_is_text() {
    for text in ["BARE 是一个例子。", "Send BARE now.", "{\"a\":\n\"b\", \"c\": BARE\n}", "`x BARE", "| BARE |"] {
        let text = text.replace("BARE", BARE);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
}

#[test]
fn f057_bare_json_with_unknown_field_is_text() {
    for text in [
        "{\"tool\": \"search_web\", \"query\": \"x\", \"page\": 2}\n好。",
        "{\"name\": \"search_web\", \"arguments\": {\"query\": \"x\"}, \"note\": 1}\n好。",
        "好：{\"tool\": \"search_web\", \"query\": \"x\", \"page\": 2}",
        "好：{\"tool\": \"nope\", \"query\": \"x\"}",
    ] {
        assert_eq!(transcript(text), [text], "{text}");
    }
}

#[test]
fn f057_introduced_example_is_text() {
    for text in ["Like this: BARE", "例如 BARE", "格式如下：\n\nBARE\n就是这样。"] {
        let text = text.replace("BARE", BARE);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
}

#[test]
fn f057_bare_json_needs_declared_name_and_required_arguments() {
    for text in [
        "{\"tool\": \"nope\", \"query\": \"x\"}",
        "{\"tool\": \"search_web\", \"count\": 1}",
        "{\"query\": \"x\"}",
        "{\"name\": \"Ada\", \"age\": 36}",
        "{}",
        "{\"tool\": \"search_web\", \"query\": \"x\"",
    ] {
        assert_eq!(transcript(text), [text], "{text}");
        assert_eq!(scan(&[], [text], ReplyEnd::Complete).transcript(), [text], "{text}");
    }
}

#[test]
fn fenced_json_at_reply_end_is_a_call() {
    assert_eq!(with("```json\nBARE\n```"), [READ_CALL]);
    assert_eq!(with("好的。\n```\nBARE\n```\n"), ["好的。\n", READ_CALL]);
    assert_eq!(with("````json\n[BARE, BARE]\n````"), [READ_CALL, READ_CALL]);
    assert_eq!(with("```json\nBARE\nBARE\n```\n```json\nBARE\n```"), [READ_CALL, READ_CALL, READ_CALL]);
    assert_eq!(with("```json\nBARE"), [READ_CALL]);
}

#[test]
fn f057_fenced_json_before_text_is_text() {
    for text in ["```json\nBARE\n```\nThat was an example.", "```json\nBARE\n// more\n```", "```js\nBARE\n```"] {
        let text = text.replace("BARE", BARE);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
}

#[test]
fn f057_fenced_wrapper_before_text_is_text() {
    for text in ["So:\n```\nCALL\n```\nDone.", "```python\nCALL\n```", "```\nx = 1\nCALL\n```"] {
        let text = text.replace("CALL", CALL);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
    assert_eq!(with("So:\n```xml\nCALL\n```"), ["So:\n", READ_CALL]);
}

#[test]
fn f057_wrapper_in_inline_code_is_text() {
    let text = format!("Write `{CALL}` to search.");
    assert_eq!(transcript(&text), [text.as_str()]);
    assert_eq!(with("A stray ` and CALL"), ["A stray ` and ", READ_CALL]);
}

#[test]
fn marker_in_prose_is_shown() {
    for text in [
        "Use the <tool_call> tag.",
        "使用 <tool_call> 标签，以 </tool_call> 结束。",
        "The tag is <tool_call>",
        "<tool_call>{JSON}</tool_call>",
        "`<tool_call>` and `</tool_call>`",
        "the <function=name> form",
        "a <tool name> b",
        "<|FunctionCallBegin|> opens, <|FunctionCallEnd|> closes",
        "[TOOL_CALLS] is a token of Mistral",
        "a < b, c<d>, {x}, [y](z), <<tool, <tool_calm",
        "Action: search_web\nAction Input: {\"query\": \"x\"}",
        "functools[0]",
        "<invoke name=\"nope\"></invoke>",
    ] {
        assert_eq!(transcript(text), [text], "{text}");
    }
}

#[test]
fn complete_json_in_unclosed_tag_is_a_call() {
    assert_eq!(with("a<tool_call>BARE"), ["a", READ_CALL]);
    assert_eq!(with("<tool_call>\nBARE\n</tool"), [READ_CALL]);
}

#[test]
fn marker_inside_string_does_not_end_the_call() {
    let text = "<tool_call>{\"tool\": \"search_web\", \"query\": \"a </tool_call> <tool_call> \\\" } b\"}</tool_call>!";
    assert_eq!(transcript(text), ["search_web({\"query\":\"a </tool_call> <tool_call> \\\" } b\"})", "!"]);
}

#[test]
fn second_opener_nests_or_begins_next_call() {
    assert_eq!(with("<tool_call><tool_call>\nBARE</tool_call></tool_call> x"), [READ_CALL, " x"]);
    assert_eq!(with("<tool_call>BARE<tool_call>BARE</tool_call>"), [READ_CALL, READ_CALL]);
    assert_eq!(with("<tool_call>BARE}</tool_call>BARE"), [READ_CALL, READ_CALL]);
}

#[test]
fn excess_opening_markers_are_text() {
    let text = "<tool_call>".repeat(30);
    let shown = format!("{text} x");
    assert_eq!(transcript(&shown), [shown.as_str()]);
    assert_eq!(transcript(&format!("{text}{BARE}</tool_call>")), ["<tool_call>".repeat(21).as_str(), READ_CALL]);
}

#[test]
fn f047_special_tokens_inside_text_are_text() {
    let text = "data: [DONE]\n\n<|im_start|> and <s>";
    assert_eq!(transcript(text), [text]);
}

#[test]
fn leftover_markers_after_a_call_are_hidden() {
    assert_eq!(
        transcript("<function=search_web>\n<parameter=query>x</parameter>\n</function>\n</tool_call>\nb"),
        [READ_CALL, "\nb"]
    );
    assert_eq!(with("CALL</tool_call><|im_end|>"), [READ_CALL]);
    assert_eq!(with("a<|tool_calls_section_begin|>"), ["a"]);
    assert_eq!(transcript("Let me check.<｜DSML｜function_calls"), ["Let me check."]);
}

/// The transcript of a scanner for a prompt that teaches actions.
fn with_actions(text: &str) -> Vec<String> {
    let mut scanner = CallScanner::new(&tools()).with_actions();
    let pieces = [scanner.push(text), scanner.finish(ReplyEnd::Complete)].concat();
    Outcome { thinking: String::new(), segments: pieces }.transcript()
}

#[test]
fn actions_are_calls_only_if_enabled() {
    assert_eq!(
        with_actions("Thought: look it up\nAction: search_web\nAction Input: {\"query\": \"x\"}\n"),
        ["Thought: look it up\n", READ_CALL]
    );
    assert_eq!(
        with_actions("Action: calculator\nAction Input: 1 + 1\nObservation: 2"),
        ["calculator({\"expression\":\"1 + 1\"})", "\nObservation: 2"]
    );
    assert_eq!(with_actions("Action: calculator\nAction Input: 1 + 1"), ["calculator({\"expression\":\"1 + 1\"})"]);
    for text in [
        "Action: nope\nAction Input: {}",
        "Action: search_web",
        "Action: search_web\nAction Input: x",
        "An Action: calculator\nAction Input: 1",
    ] {
        assert_eq!(with_actions(text), [text]);
    }
}
