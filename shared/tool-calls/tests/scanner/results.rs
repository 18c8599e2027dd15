//! Text that imitates a tool's result.

use tool_calls::{ReplyEnd, ResultBlocks};

use crate::support::{Outcome, scan_with, tools};

const CALL: &str = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>";
const READ_CALL: &str = "search_web({\"query\":\"x\"})";

/// The outcome of a text, which is the same for every cut.
fn outcome(blocks: ResultBlocks, text: &str) -> Outcome {
    let whole = scan_with(blocks, &tools(), [text], ReplyEnd::Complete);
    let chars = text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]);
    assert_eq!(scan_with(blocks, &tools(), chars, ReplyEnd::Complete), whole, "{text}");
    for (at, _) in text.char_indices() {
        let (left, right) = text.split_at(at);
        assert_eq!(scan_with(blocks, &tools(), [left, right], ReplyEnd::Complete), whole, "{left:?} {right:?}");
    }
    whole
}

fn hidden(text: &str) -> String {
    outcome(ResultBlocks::Hidden, &text.replace("CALL", CALL)).content()
}

fn ended(text: &str) -> Vec<String> {
    outcome(ResultBlocks::EndReply, &text.replace("CALL", CALL)).transcript()
}

const INVENTIONS: [&str; 12] = [
    "<tool_result name=\"search_web\">\n{\"a\": 1}\n</tool_result>",
    "<tool_result>7</tool_result>",
    "<tool_results>\n7\n</tool_results>",
    "<TOOL_RESULT>7</TOOL_RESULT>",
    "<search_results>\n1. a <b> c\n</search_results>",
    "<search_result>7</search_result >",
    "<search_error>\nno\n</search_error>",
    "<tool_response>{\"a\": \"</b>\"}</tool_response>",
    "<tool_output>7</tool_output>",
    "<function_results><result>7</result></function_results>",
    "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>7<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
    "<|observation|>7<|user|>",
];

#[test]
fn invention_ends_the_reply() {
    for invention in INVENTIONS {
        assert_eq!(ended(&format!("{invention}\n答案是 7。")), ["[invention]"], "{invention}");
        assert_eq!(ended(&format!("好。\n{invention}")), ["好。\n", "[invention]"], "{invention}");
        assert_eq!(ended(&format!("CALL\n{invention}CALL")), [READ_CALL, "[invention]"], "{invention}");
        assert_eq!(ended(&format!("<tool_call>\nnope\n{invention}")).last().map(String::as_str), Some("[invention]"));
    }
}

#[test]
fn invention_after_fenced_call_confirms_it() {
    let fenced = "```json\n{\"tool\": \"search_web\", \"query\": \"x\"}\n```\n<tool_result>7</tool_result>";
    assert_eq!(ended(fenced), [READ_CALL, "[invention]"]);
}

#[test]
fn invention_ends_a_malformed_call() {
    let text = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\n<tool_result>7</tool_result>\n";
    let call = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\n";
    assert_eq!(ended(text), [format!("[a string in the JSON is not closed] {call}"), "[invention]".to_owned()]);
}

#[test]
fn hidden_block_leaves_text_around_it() {
    for invention in INVENTIONS {
        assert_eq!(hidden(&format!("前。{invention}后。")), "前。后。", "{invention}");
        assert_eq!(hidden(&format!("CALL\n{invention}\n后。")), "\n\n后。", "{invention}");
    }
}

#[test]
fn unclosed_block_is_hidden_at_line_start() {
    assert_eq!(hidden("前。\n<tool_result>7\n答案"), "前。\n");
    assert_eq!(hidden("前。<tool_result> 是标签。"), "前。<tool_result> 是标签。");
    let long = format!("前。<tool_result>{}</tool_result>后", "x".repeat(5000));
    assert_eq!(scan_with(ResultBlocks::Hidden, &tools(), [long.as_str()], ReplyEnd::Complete).content(), long);
    let chars = long.char_indices().map(|(at, c)| &long[at..at + c.len_utf8()]);
    assert_eq!(scan_with(ResultBlocks::Hidden, &tools(), chars, ReplyEnd::Complete).content(), long);
}

#[test]
fn block_in_code_or_by_default_is_text() {
    for text in ["`<tool_result>` 包住结果。", "```xml\n<tool_result>7</tool_result>\n```"] {
        assert_eq!([hidden(text), ended(text).concat()], [text, text]);
    }
    let text = "<tool_result>7</tool_result>";
    assert_eq!(outcome(ResultBlocks::Shown, text).transcript(), [text]);
}

#[test]
fn partial_block_at_the_end_is_hidden() {
    assert_eq!(ended("好。\n<tool_resul"), ["好。\n"]);
    assert_eq!(ended("a <s"), ["a <s"]);
}
