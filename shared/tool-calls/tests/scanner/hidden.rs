//! Nothing of a call is shown: broken calls among good ones, wrappers with content of another form.

use serde_json::{Value, json};
use tool_calls::{ReplyEnd, Segment};

use crate::support::{Outcome, scan, tools};

const A: &str = r#"{"name": "search_web", "arguments": {"query": "a"}}"#;
const C: &str = r#"{"name": "search_web", "arguments": {"query": "c"}}"#;
/// JSON that no repair can make a call of.
const BROKEN: &str = r#"{"nme": "search_web", "arguments": {"query": "b"}}"#;

/// Scans a text whole and at every cut; all results must be equal.
fn scan_at_every_cut(text: &str) -> Outcome {
    let whole = scan(&tools(), [text], ReplyEnd::Complete);
    for (at, _) in text.char_indices() {
        let (left, right) = text.split_at(at);
        assert_eq!(scan(&tools(), [left, right], ReplyEnd::Complete), whole, "{text:?} cut behind {left:?}");
    }
    whole
}

/// The text that users see: everything but calls, malformed ones included.
fn shown(outcome: &Outcome) -> String {
    let texts = outcome.segments.iter().filter_map(|segment| match segment {
        Segment::Text(text) => Some(text.as_str()),
        Segment::Call(_) | Segment::Malformed(_) | Segment::Invention => None,
    });
    texts.collect()
}

fn malformed(outcome: &Outcome) -> usize {
    outcome.segments.iter().filter(|segment| matches!(segment, Segment::Malformed(_))).count()
}

fn queries(outcome: &Outcome) -> Vec<Value> {
    outcome.calls().into_iter().map(|call| call[1]["query"].clone()).collect()
}

#[test]
fn broken_call_among_good_ones_loses_only_itself() {
    for text in [
        format!("<tool_call>[{A},{BROKEN},{C}]</tool_call>"),
        format!("<tool_call>{A}\n{BROKEN}\n{C}</tool_call>"),
        format!("<tool_call>{A}</tool_call>\n<tool_call>{BROKEN}</tool_call>\n<tool_call>{C}</tool_call>"),
        format!("<|FunctionCallBegin|>[{A},{BROKEN},{C}]<|FunctionCallEnd|>"),
        format!("[TOOL_CALLS][{A}, {BROKEN}, {C}]"),
        "<function_calls><invoke name=\"search_web\"><parameter name=\"query\">a</parameter></invoke>\
         <invoke nme=\"search_web\"><parameter name=\"query\">b</parameter></invoke>\
         <invoke name=\"search_web\"><parameter name=\"query\">c</parameter></invoke></function_calls>"
            .to_owned(),
        "<function_calls><invoke name=\"search_web\"><parameter name=\"query\">a</parameter></invoke>\
         <invoke name=\"search_web\">rubbish</invoke>\
         <invoke name=\"search_web\"><parameter name=\"query\">c</parameter></invoke></function_calls>"
            .to_owned(),
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_web:0<|tool_call_argument_begin|>{\"query\":\"a\"}\
         <|tool_call_end|><|tool_call_begin|>functions.search_web:1<|tool_call_argument_begin|>{\"query\" \"b}\
         <|tool_call_end|><|tool_call_begin|>functions.search_web:2<|tool_call_argument_begin|>{\"query\":\"c\"}\
         <|tool_call_end|><|tool_calls_section_end|>"
            .to_owned(),
        "[TOOL_CALLS]search_web[ARGS]{\"query\":\"a\"}[TOOL_CALLS]search_web[ARGS]{\"query\" \"b}\
         [TOOL_CALLS]search_web[ARGS]{\"query\":\"c\"}"
            .to_owned(),
        "<tool_call>[search_web(query='a'), search_web(query=b + 1), search_web(query='c')]</tool_call>".to_owned(),
        "<tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>a</arg_value>\n</tool_call>\n\
         <tool_call>search_web\n<arg_key>query</arg_value>\n</tool_call>\n\
         <tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>c</arg_value>\n</tool_call>"
            .to_owned(),
    ] {
        let outcome = scan_at_every_cut(&format!("好。\n{text}"));
        assert_eq!(queries(&outcome), [json!("a"), json!("c")], "{text}");
        assert_eq!((shown(&outcome).trim(), malformed(&outcome)), ("好。", 1), "{text} {outcome:?}");
    }
}

#[test]
fn broken_call_of_a_bare_list_is_dropped() {
    for before in ["", "好。\n"] {
        let list = "[search_web(query='a'), search_web(query=b + 1), search_web(query='c')]";
        let outcome = scan_at_every_cut(&format!("{before}{list}"));
        assert_eq!((queries(&outcome), shown(&outcome)), (vec![json!("a"), json!("c")], before.to_owned()));
    }
}

#[test]
fn unfinished_call_after_good_ones_is_not_shown() {
    for text in [format!("<tool_call>{A}\n{{\"name\": \"search_web\", \"arg"), format!("<tool_call>{A}{BROKEN}")] {
        let outcome = scan_at_every_cut(&text);
        assert_eq!((queries(&outcome), shown(&outcome)), (vec![json!("a")], String::new()), "{text}");
    }
}

#[test]
fn calls_in_python_on_separate_lines_are_read() {
    let outcome =
        scan_at_every_cut("<function_calls>\nsearch_web(query='a')\nsearch_web(query='c')\n</function_calls>\n完。");
    assert_eq!((queries(&outcome), shown(&outcome)), (vec![json!("a"), json!("c")], "\n完。".to_owned()));
}

#[test]
fn content_of_another_form_is_not_shown() {
    for text in [
        "<tool_call>nope(query=\"x\")</tool_call>",
        "<tool_call>{}</tool_call>",
        "<tool_call><nope><query>a</query></nope></tool_call>",
        "<tool_call>Action: search_web\nAction Input: {\"query\": \"x\"}</tool_call>",
        "<TOOL_CALL >搜索天气</TOOL_CALL >",
        "<|FunctionCallBegin|>搜索天气<|FunctionCallEnd|>",
        "<tool_call><function=search_web>搜索天气</function></tool_call>",
        "<function=search_web>搜索天气</function>",
        "<tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>a</arg_value>\n<arg_ky>x</arg_ky>\n</tool_call>",
    ] {
        let outcome = scan_at_every_cut(&format!("好。\n{text}\n完。"));
        assert_eq!((outcome.calls(), malformed(&outcome)), (Vec::new(), 1), "{text}");
        assert_eq!(shown(&outcome), "好。\n\n完。", "{text}");
    }
    let outcome = scan_at_every_cut("好<tool_call>nope(query=\"x\")</tool_call>。");
    assert_eq!((shown(&outcome), malformed(&outcome)), ("好。".to_owned(), 1));
}

#[test]
fn wrappers_match_with_blanks_and_in_any_case() {
    for text in [
        format!("<tool_call >{A}</tool_call >"),
        format!("<TOOL_CALL>{A}</Tool_Call>"),
        "<｜DSML｜ calls>\n<｜DSML｜ invoke name=\"search_web\">\n<｜DSML｜ parameter name=\"query\" string=\"true\">a\
         </｜DSML｜ parameter>\n</｜DSML｜ invoke>\n</｜DSML｜ calls>"
            .to_owned(),
    ] {
        let outcome = scan_at_every_cut(&text);
        assert_eq!((queries(&outcome), shown(&outcome)), (vec![json!("a")], String::new()), "{text}");
    }
}

#[test]
fn opening_at_the_end_is_hidden() {
    for (text, count) in [
        ("<tool_call>{broken", 1),
        ("<tool_call>\n{", 1),
        ("<|FunctionCallBegin|>[{broken", 1),
        ("<tool_call>", 0),
        ("<tool_call>\n\n", 0),
        ("<tool_call>search_w", 1),
        ("<tool_call>\n<function=search_web>\n<param", 1),
        ("<function=search_we", 1),
        ("<function=search_web>\n<par", 1),
        ("<tool_call name=\"search", 1),
        ("<tool", 1),
        ("<function_c", 1),
        ("<|Fun", 0),
        ("<｜", 0),
    ] {
        let outcome = scan_at_every_cut(&format!("好。\n{text}"));
        assert_eq!((shown(&outcome), malformed(&outcome)), ("好。\n".to_owned(), count), "{text}");
    }
    for text in [
        "Write <tool_call>{JSON",
        "The tag is <tool_call>",
        "a <to",
        "未完的 <tool_",
        "```xml\n<tool_",
        "`<tool_call>",
        "<tool_call> opens a call",
    ] {
        let outcome = scan_at_every_cut(text);
        assert_eq!((shown(&outcome), malformed(&outcome)), (text.to_owned(), 0));
    }
}

#[test]
fn unreadable_call_of_control_tokens_is_not_shown() {
    for (text, expected, calls) in [
        ("<|start|>assistant<|channel|>commentary <|constrain|>json<|message|>{\"query\": \"a\"}<|call|>", "", 0),
        ("<|start|>assistant to=container.run<|channel|>commentary<|message|>ls -l /tmp", "", 0),
        ("好。<|content_invoke_tool_json|>no json<|end_message|>", "好。", 0),
        ("好。<tool_call>\n<function", "好。", 0),
        ("<tool_call>search_web<parameter>x</parameter></tool_call>", "", 0),
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_web\n```json\n{no json here}\n```\
             <｜tool▁call▁end｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_web\n```json\n{\"query\": \"c\"}\n```\
             <｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "",
            1,
        ),
    ] {
        let outcome = scan_at_every_cut(text);
        assert_eq!((shown(&outcome).trim(), malformed(&outcome)), (expected, 1), "{text}: {outcome:?}");
        assert_eq!(outcome.calls().len(), calls, "{text}");
    }
}
