//! Ordinary text around calls: no text lost, no part of a call shown, no delay.

use proptest::prelude::*;
use serde_json::{Value, json};
use tool_calls::{CallScanner, ReplyEnd, Segment, ThinkingFilter};

use crate::support::{scan, tools};

/// Snippets that resemble the beginning of a construct and are not.
const SNIPPETS: &[&str] = &[
    "text",
    "天气",
    "a < b",
    "<b>bold</b>",
    "<tool",
    "<tool_calm>",
    "<to",
    "<<",
    "</div>",
    "<|x|>",
    "<｜x",
    "[1]",
    "[x](y)",
    "[TOOL",
    "{x}",
    "{",
    "}",
    "{\"a\": 1}",
    "`code`",
    "`<tool_call>`",
    "``a ` b``",
    "it's",
    "\"quoted\"",
    "functools",
    "1. ",
    "- item",
    "😀",
    "~~~",
    "<tool_call> tag",
    "<function=",
    "use <invoke>",
    "$x^2$",
    "\\(x\\)",
    "&lt;",
];

/// Renders a call of `search_web` with this query in the given form.
fn render_call(form: usize, query: &str) -> String {
    let flat = json!({"tool": "search_web", "query": query});
    let nested = json!({"name": "search_web", "arguments": {"query": query}});
    let arguments = json!({"query": query});
    let forms = [
        format!("<tool_call>{flat}</tool_call>"),
        format!("<tool_call>\n{nested}\n</tool_call>"),
        format!("<tool_call name=\"search_web\">{arguments}</tool_call>"),
        format!("<tool name=\"search_web\">{arguments}</tool>"),
        format!("<tool_call>[{nested}]</tool_call>"),
        format!("<tool_call>search_web\n{arguments}\n</tool_call>"),
        format!(
            "<seed:tool_call><function=search_web>\n<parameter=query>{query}</parameter></function></seed:tool_call>"
        ),
        format!(
            "<seed:tool_call><function name=\"search_web\"><parameter name=\"query\" string=\"true\">{query}</parameter>\
             </function></seed:tool_call>"
        ),
        format!("<function=search_web><parameter=query>\n{query}\n</parameter></function>\n</tool_call>"),
        format!(
            "<function_calls>\n<invoke name=\"search_web\">\n<parameter name=\"query\">{query}</parameter>\n</invoke>\n</function_calls>"
        ),
        format!(
            "<｜DSML｜function_calls><｜DSML｜invoke name=\"search_web\"><｜DSML｜parameter name=\"query\" string=\"true\">{query}\
             </｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>"
        ),
        format!("<|FunctionCallBegin|>[{nested}]<|FunctionCallEnd|>"),
        format!(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>search_web\n```json\n{arguments}\n```<｜tool▁call▁end｜>\
             <｜tool▁calls▁end｜>"
        ),
        format!(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>search_web<｜tool▁sep｜>{arguments}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        ),
        format!("<tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>{query}</arg_value>\n</tool_call>"),
        format!(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.search_web:0<|tool_call_argument_begin|>{arguments}\
             <|tool_call_end|><|tool_calls_section_end|>"
        ),
        format!("<|python_tag|>{nested}<|eom_id|>"),
        format!("[TOOL_CALLS] [{nested}]"),
        format!("[TOOL_CALLS]search_web[ARGS]{arguments}"),
        format!("[TOOL_REQUEST]{nested}[END_TOOL_REQUEST]"),
        format!("<|channel|>commentary to=functions.search_web <|constrain|>json<|message|>{arguments}<|call|>"),
        format!("<|tool_call|>[{nested}]"),
        format!("<|START_ACTION|>[{nested}]<|END_ACTION|>"),
        format!("<|python_start|>[search_web(query={})]<|python_end|>", json!(query)),
        format!("<|tool_call>call:search_web{{query:<|\"|>{query}<|\"|>}}<tool_call|>"),
        format!(
            "]<]minimax[>[<tool_call>]<]minimax[>[<invoke name=\"search_web\">]<]minimax[>[<query>{query}]<]minimax[>[</query>\
             ]<]minimax[>[</invoke>]<]minimax[>[</tool_call>"
        ),
        format!(
            "<|open|>tools<|sep|><|open|>call tool=\"search_web\" index=\"1\"<|sep|><|open|>argument key=\"query\" type=\"string\"\
             <|sep|>{query}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
        ),
        format!("<function name=\"search_web\"><param name=\"query\">{query}</param></function>"),
        format!("<longcat_tool_call>{nested}</longcat_tool_call>"),
        format!("<|tools_prefix|>[{}]<|tools_suffix|>", json!({"search_web": arguments})),
        format!("<|message_model|>search_web<|content_invoke_tool_json|>{nested}<|end_message|>"),
        format!(
            "<|start|>assistant to=search_web<|message|><atem:function_calls><atem:invoke name=\"search_web\">\
             <atem:parameter name=\"query\">{query}</atem:parameter></atem:invoke></atem:function_calls><|eom|>"
        ),
    ];
    forms[form % forms.len()].clone()
}

/// A query that needs no escaping in any form.
fn query() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "x",
        "北京天气 今天",
        "a < b && c",
        "</tool_call>",
        "{\"a\": [1]}",
        "<tool_call>",
        "it's `x`",
    ])
    .prop_map(str::to_owned)
}

fn prose() -> impl Strategy<Value = String> {
    let snippets = prop::collection::vec(prop::sample::select(SNIPPETS), 1..8);
    snippets.prop_map(|snippets| format!("A {} z", snippets.join(" ")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn calls_of_every_form_are_found_without_loss(
        parts in prop::collection::vec((prose(), 0..64_usize, query()), 1..4),
        last in prose(),
        size in 1..9_usize,
    ) {
        let mut text = String::new();
        let mut shown = String::new();
        let mut calls: Vec<Value> = Vec::new();
        for (prose, form, query) in &parts {
            text.extend([prose, "\n", &render_call(*form, query), "\n"]);
            shown.extend([prose, "\n\n"]);
            calls.push(json!(["search_web", {"query": query}]));
        }
        text += &last;
        shown += &last;
        let chars: Vec<char> = text.chars().collect();
        let chunks: Vec<String> = chars.chunks(size).map(|chunk| chunk.iter().collect()).collect();
        let outcome = scan(&tools(), chunks.iter().map(String::as_str), ReplyEnd::Complete);
        prop_assert_eq!(outcome.calls(), calls, "{}", text);
        prop_assert_eq!(outcome.content(), shown, "{}", text);
    }

    #[test]
    fn text_without_calls_is_shown_exactly(lines in prop::collection::vec(prose(), 1..6)) {
        let text = lines.join("\n");
        let outcome = scan(&tools(), [text.as_str()], ReplyEnd::Complete);
        prop_assert_eq!(outcome.segments, vec![Segment::Text(text)]);
    }

    #[test]
    fn only_possible_markers_are_held_back(lines in prop::collection::vec(prose(), 1..4)) {
        let text = lines.join("\n");
        let mut scanner = CallScanner::new(&tools());
        let mut shown = String::new();
        for (at, c) in text.char_indices() {
            for piece in scanner.push(&text[at..at + c.len_utf8()]) {
                let Segment::Text(piece) = piece else { panic!("there is no call in {text}") };
                shown += &piece;
            }
            let held = &text[shown.len()..at + c.len_utf8()];
            prop_assert!(may_become_a_marker(held), "{held:?} is held in {text:?}");
        }
    }
}

/// The beginnings of markers and headers that the snippets can form.
fn may_become_a_marker(held: &str) -> bool {
    const BEGINNINGS: &[&str] = &[
        "<tool_call> tag ",
        "<tool_calls>",
        "<tool_use>",
        "<tool name=\"",
        "<|FunctionCallBegin|>",
        "<｜tool▁calls▁begin｜>",
        "[TOOL_CALLS]",
        "<function= ",
        "<function=\n",
        "<invoke ",
        "<tool_call>` ",
        "functools[",
        "<function= z",
        "<function_calls>",
        ">>>",
        "]<]minimax[>[",
        "< ",
        "{\"a\"",
        "{ \"quoted\"",
    ];
    let held = held.trim_start();
    let attribute =
        |tag: &str| held.strip_prefix(tag).is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || c == '-'));
    held.is_empty()
        || attribute("<tool ")
        || BEGINNINGS.iter().any(|beginning| beginning.starts_with(held))
        || held.starts_with("<function= ")
}

#[test]
fn passthrough_accepts_only_plain_text_within_a_line() {
    let (mut filter, mut scanner) = (ThinkingFilter::default(), CallScanner::new(&tools()));
    assert_eq!(
        (filter.try_passthrough("根据"), scanner.try_passthrough("根据")),
        (false, false),
        "a reply may begin with anything"
    );
    filter.push("根据");
    scanner.push("根据");
    for delta in ["搜索", " }", "\"a\": ", "A", "functools"] {
        assert_eq!((filter.try_passthrough(delta), scanner.try_passthrough(delta)), (true, true), "{delta}");
    }
    assert!(!scanner.try_passthrough(" {"), "JSON may be a call");
    for other in ["a\nb", "`", "a <", "[1]"] {
        assert_eq!((filter.try_passthrough(other), scanner.try_passthrough(other)), (false, false), "{other}");
    }
    scanner.push("<");
    assert!(!scanner.try_passthrough("tool_call>"), "what waits decides");
    assert!(filter.push("<think>").is_empty() && !filter.try_passthrough("a"), "reasoning is no answer");
}

#[test]
fn plain_text_is_emitted_at_once() {
    let mut scanner = CallScanner::new(&tools());
    for chunk in ["根据", "搜索", "结果", "，", "a ", "{ b", " `c` ", "* d\n", "e"] {
        assert_eq!(scanner.push(chunk), [Segment::Text(chunk.to_owned())]);
    }
}

#[test]
fn leading_bracket_is_held_while_possibly_a_call() {
    let mut scanner = CallScanner::new(&tools());
    assert_eq!(scanner.push("a\n{\"qu"), [Segment::Text("a\n".to_owned())]);
    assert_eq!(scanner.push("ery\": 1, "), []);
    assert_eq!(scanner.push("\"city\""), [Segment::Text("{\"query\": 1, \"city\"".to_owned())]);
    assert_eq!(scanner.push(": 2}"), [Segment::Text(": 2}".to_owned())]);
    let mut without_tools = CallScanner::new(&[]);
    assert_eq!(without_tools.push("{\"tool\""), [Segment::Text("{\"tool\"".to_owned())]);
}

#[test]
fn complete_call_is_emitted_at_once() {
    let mut scanner = CallScanner::new(&tools());
    assert_eq!(scanner.push("<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call"), []);
    let pieces = scanner.push(">");
    assert!(matches!(pieces.as_slice(), [Segment::Call(call)] if call.name == "search_web"));
}
