//! What is a call and what is text, case by case.

use crate::support::{cut, scan, transcript, whole};
use calls::End;

const CALL: &str = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>";
const BARE: &str = "{\"tool\": \"search_web\", \"query\": \"x\"}";
const READ: &str = "search_web({\"query\":\"x\"})";

fn with(template: &str) -> Vec<String> {
    transcript(&template.replace("CALL", CALL).replace("BARE", BARE))
}

#[test]
fn text_before_between_and_after_calls_is_kept_in_order() {
    assert_eq!(with("好的，马上查询。CALL然后CALL完成。"), ["好的，马上查询。", READ, "然后", READ, "完成。"]);
}

#[test]
fn white_space_between_calls_and_around_them_is_not_shown() {
    assert_eq!(with("\n\nCALL\n\nCALL\n"), [READ, READ]);
    assert_eq!(with("a\nCALL\nCALL\n"), ["a\n", READ, READ]);
}

#[test]
fn white_space_before_text_is_shown_as_written() {
    assert_eq!(with("a CALL b"), ["a ", READ, " b"]);
    assert_eq!(with("a\nCALL\nCALL\n\nb \n"), ["a\n", READ, READ, "\n\n\nb \n"]);
    assert_eq!(transcript("  a \n"), ["  a \n"]);
}

#[test]
fn an_explicit_wrapper_calls_any_name() {
    assert_eq!(transcript("<tool_call>{\"tool\": \"nope\", \"q\": 1}</tool_call>"), ["nope({\"q\":1})"]);
    assert_eq!(scan(&[], [CALL], End::Complete).transcript(), [READ]);
}

#[test]
fn bare_json_is_a_call_when_nothing_but_calls_follow() {
    assert_eq!(with("BARE"), [READ]);
    assert_eq!(with("好的。\nBARE\n \n"), ["好的。\n", READ]);
    assert_eq!(with("BARE\nBARE\nCALL"), [READ, READ, READ]);
    assert_eq!(with("BARE\n</tool_call>"), [READ]);
}

#[test]
fn f057_bare_json_with_text_behind_it_is_text_and_shown_whole() {
    assert_eq!(with("BARE\n就是这样。"), [format!("{BARE}\n就是这样。")]);
    assert_eq!(with("BARE\nCALL\nEnd."), [format!("{BARE}\n"), READ.to_owned(), "\nEnd.".to_owned()]);
}

#[test]
fn f057_bare_json_that_does_not_begin_its_line_is_text() {
    assert_eq!(with("Like this: BARE"), [format!("Like this: {BARE}")]);
}

#[test]
fn f057_bare_json_needs_a_declared_name_and_its_required_arguments() {
    for text in [
        "{\"tool\": \"nope\", \"query\": \"x\"}",
        "{\"tool\": \"search_web\", \"count\": 1}",
        "{\"query\": \"x\"}",
        "{\"name\": \"Ada\", \"age\": 36}",
        "{}",
        "{\"tool\": \"search_web\", \"query\": \"x\"",
    ] {
        assert_eq!(transcript(text), [text], "{text}");
        assert_eq!(scan(&[], [text], End::Complete).transcript(), [text], "{text}");
    }
}

#[test]
fn fenced_json_is_a_call_when_the_fence_ends_the_reply() {
    assert_eq!(with("```json\nBARE\n```"), [READ]);
    assert_eq!(with("好的。\n```\nBARE\n```\n"), ["好的。\n", READ]);
    assert_eq!(with("````json\n[BARE, BARE]\n````"), [READ, READ]);
    assert_eq!(with("```json\nBARE\nBARE\n```\n```json\nBARE\n```"), [READ, READ, READ]);
    assert_eq!(with("```json\nBARE"), [READ]);
}

#[test]
fn f057_fenced_json_with_text_behind_the_fence_is_text() {
    for text in ["```json\nBARE\n```\nThat was an example.", "```json\nBARE\n// more\n```", "```js\nBARE\n```"] {
        let text = text.replace("BARE", BARE);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
}

#[test]
fn f057_a_wrapper_in_a_fence_with_text_behind_it_is_text() {
    for text in ["So:\n```\nCALL\n```\nDone.", "```python\nCALL\n```", "```\nx = 1\nCALL\n```"] {
        let text = text.replace("CALL", CALL);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
    assert_eq!(with("So:\n```xml\nCALL\n```"), ["So:\n", READ]);
}

#[test]
fn f057_a_wrapper_in_inline_code_is_text() {
    let text = format!("Write `{CALL}` to search.");
    assert_eq!(transcript(&text), [text.as_str()]);
    assert_eq!(with("A stray ` and CALL"), ["A stray ` and ", READ]);
}

#[test]
fn a_marker_in_prose_is_shown() {
    for text in [
        "Use the <tool_call> tag.",
        "使用 <tool_call> 标签，以 </tool_call> 结束。",
        "<tool_call>",
        "<tool_call></tool_call>",
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
fn an_open_tag_at_the_end_with_complete_json_is_a_call() {
    assert_eq!(with("a<tool_call>BARE"), ["a", READ]);
    assert_eq!(with("<tool_call>\nBARE\n</tool"), [READ]);
}

#[test]
fn a_marker_inside_a_string_does_not_end_the_call() {
    let text = "<tool_call>{\"tool\": \"search_web\", \"query\": \"a </tool_call> <tool_call> \\\" } b\"}</tool_call>!";
    assert_eq!(transcript(text), ["search_web({\"query\":\"a </tool_call> <tool_call> \\\" } b\"})", "!"]);
}

#[test]
fn a_second_opener_is_part_of_the_first_or_begins_the_next_call() {
    assert_eq!(with("<tool_call><tool_call>\nBARE</tool_call></tool_call> x"), [READ, " x"]);
    assert_eq!(with("<tool_call>BARE<tool_call>BARE</tool_call>"), [READ, READ]);
    assert_eq!(with("<tool_call>BARE}</tool_call>BARE"), [READ, BARE]);
}

#[test]
fn what_cannot_be_read_is_told_with_a_reason() {
    assert_eq!(
        transcript("a <tool_call>{\"query\": \"x\"}</tool_call> b"),
        ["a ", "[the name of the tool is missing] <tool_call>{\"query\": \"x\"}</tool_call>", " b"]
    );
    assert_eq!(
        transcript("<tool_call>{\"tool\": \"search_web\", \"query\": \"x}</tool_call>\nb"),
        [
            "[a string in the JSON is not closed] <tool_call>{\"tool\": \"search_web\", \"query\": \"x}</tool_call>",
            "\nb"
        ]
    );
    assert_eq!(
        transcript("<tool_call>{\"tool\": \"search_web\", \"query\": \"x\""),
        ["[the JSON ends before it is complete] <tool_call>{\"tool\": \"search_web\", \"query\": \"x\""]
    );
    assert_eq!(
        transcript("<seed:tool_call><function=search_web><parameter=count>1</parameter>?</function></seed:tool_call>"),
        ["[a parameter or the end of the function is expected] \
             <seed:tool_call><function=search_web><parameter=count>1</parameter>?</function>"]
    );
}

#[test]
fn a_call_that_is_only_quoted_or_begun_does_not_swallow_the_text_behind_it() {
    for text in [
        "It begins with `<tool_call>{\"name\"` and goes on. \"Yes\", it does.",
        "Like `<tool_call><function=search_web><parameter=query>` and so on.",
        "`<function=search_web>` opens a call of search_web.",
        "The form <tool_call><function=search_web> is for Qwen.",
        "<function=search_web> what?",
    ] {
        assert_eq!(transcript(text), [text], "{text}");
    }
}

#[test]
fn f031_a_call_cut_by_the_output_limit_is_never_made_up() {
    for text in [
        "<tool_call>{\"tool\": \"search_web\", \"query\": \"x",
        "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"",
        "<tool_call>{'tool': 'search_web', 'query': 'x'}",
        "<tool_call>",
        "<tool_ca",
        "{\"tool\": \"search_web\", \"query\": \"x",
        "<seed:tool_call><function=search_web><parameter=query>x",
        "<seed:tool_call><function=search_web><parameter=query>x</parameter>",
        "<tool_call>search_web",
    ] {
        assert_eq!(cut(&format!("a\n{text}")), ["a\n".to_owned(), format!("[cut] {text}")], "{text}");
    }
}

#[test]
fn a_cut_behind_a_complete_call_or_in_text_changes_nothing() {
    assert_eq!(cut(CALL), [READ]);
    assert_eq!(cut(&format!("<tool_call>{BARE}")), [READ]);
    assert_eq!(cut(BARE), [READ]);
    assert_eq!(cut("a < b and <to"), ["a < b and <to"]);
    assert_eq!(cut("{\"name\": \"Ada\", \"ag"), ["{\"name\": \"Ada\", \"ag"]);
}

#[test]
fn f047_special_tokens_and_the_end_sign_inside_text_are_text() {
    let text = "data: [DONE]\n\n<|im_start|> and <s>";
    assert_eq!(transcript(text), [text]);
}

#[test]
fn markers_left_over_behind_a_call_are_hidden() {
    assert_eq!(
        transcript("<function=search_web>\n<parameter=query>x</parameter>\n</function>\n</tool_call>\nb"),
        [READ, "\nb"]
    );
    assert_eq!(with("CALL</tool_call><|im_end|>"), [READ]);
    assert_eq!(with("a<|tool_calls_section_begin|>"), ["a"]);
    assert_eq!(transcript("Let me check.<｜DSML｜function_calls"), ["Let me check."]);
}

#[test]
fn f052_an_endless_call_is_given_up_at_its_cap() {
    let text = format!("<tool_call>{{\"tool\": \"search_web\", \"query\": \"{}", "x".repeat(3 << 20));
    let outcome = whole(&text);
    assert_eq!(outcome.content(), text);
    assert!(outcome.calls().is_empty());
}

#[test]
fn what_need_not_be_a_call_is_held_up_to_its_cap_only() {
    let json = format!("{{\"tool\": \"search_web\", \"query\": \"{}\"}}", "x".repeat(70_000));
    assert_eq!(transcript(&json), [json.as_str()]);
    let mut scanner = calls::CallScanner::new(&crate::support::tools());
    let shown = json.as_bytes().chunks(8).flat_map(|chunk| scanner.push(std::str::from_utf8(chunk).expect("ASCII")));
    assert!(shown.count() > 0, "the first 64 KiB are released before the end");
}

#[test]
fn an_integer_too_big_for_the_machine_keeps_its_digits() {
    assert_eq!(
        transcript("<tool_call>{\"tool\": \"f\", \"n\": 12345678901234567890123}</tool_call>"),
        ["f({\"n\":\"12345678901234567890123\"})"]
    );
}
