//! The same result for every chunking of the text.

use std::io;

use proptest::prelude::*;
use tool_calls::{ReplyEnd, ResultBlocks};

use crate::corpus::{extra_cases, own_cases};
use crate::support::{scan, scan_with, tool, tools};

/// The text in two parts, for every position between two characters.
fn cuts(text: &str) -> impl Iterator<Item = [&str; 2]> {
    text.char_indices().map(|(at, _)| {
        let (left, right) = text.split_at(at);
        [left, right]
    })
}

/// The text character by character.
fn chars(text: &str) -> impl Iterator<Item = &str> {
    text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()])
}

#[test]
fn f030_result_is_independent_of_chunking() -> io::Result<()> {
    for case in own_cases()?.iter().chain(&extra_cases()?) {
        let tools = case.specs();
        for end in [ReplyEnd::Complete, ReplyEnd::Truncated] {
            let whole = scan(&tools, [case.text.as_str()], end);
            assert_eq!(scan(&tools, chars(&case.text), end), whole, "{} {end:?}", case.id);
            for parts in cuts(&case.text) {
                assert_eq!(scan(&tools, parts, end), whole, "{} {end:?} cut behind {:?}", case.id, parts[0]);
            }
        }
    }
    Ok(())
}

#[test]
fn broken_json_hides_same_brackets_for_every_cut() {
    let tools = [tool("f", &[("q", "string")], 0)];
    let text = "{\"name\":\"f\",>\n{\"name\":\"f\" \"\":{\"\":\"\"}}</tool_c";
    let whole = scan(&tools, [text], ReplyEnd::Complete);
    for parts in cuts(text) {
        assert_eq!(scan(&tools, parts, ReplyEnd::Complete), whole, "cut behind {:?}", parts[0]);
    }
}

#[test]
fn unknown_formats_are_the_same_for_every_cut() {
    let tools = [tool("search_web", &[("q", "string")], 0)];
    for text in [
        "<function_call>\u{b}search_web",
        "<function_call>\u{3000}search_web",
        "<function_call>\u{a0}search_web(q=\"a\")",
        "<toolcall><function=\nsearch_web",
        "<toolcall><function=\nsearch_web>",
        "<toolcall><function=\n  search_web(q=\"a\")</toolcall>",
        ">>>all\r\nnot a call",
        ">>>search_web \r\n{\"q\": \"a\"}",
        "search_web\r\n{\"q\": \"a\"}",
    ] {
        let whole = scan(&tools, [text], ReplyEnd::Complete);
        for parts in cuts(text) {
            assert_eq!(scan(&tools, parts, ReplyEnd::Complete), whole, "cut behind {:?}", parts[0]);
        }
    }
}

/// Fragments that combine to texts close to calls.
const FRAGMENTS: &[&str] = &[
    "<tool_call>",
    "</tool_call>",
    "<tool_call name=\"search_web\">",
    "<tool name=\"f\">",
    "</tool>",
    "<tool_call",
    "<tool_call >",
    "<TOOL_CALL>",
    "<tool_result",
    " name=\"f\">",
    "</tool_result>",
    "<search_results>",
    "</search_results >",
    "(query='x')",
    "search_web: ",
    "。",
    "例如",
    "<seed:tool_call>",
    "</seed:tool_call>",
    "<function=search_web>",
    "<function name=\"f\">",
    "</function>",
    "<parameter=query>",
    "<parameter name=\"query\" string=\"true\">",
    "</parameter>",
    "<invoke name=\"f\">",
    "</invoke>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<|FunctionCallBegin|>",
    "<|FunctionCallEnd|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜tool▁sep｜>",
    "<｜tool▁call▁end｜>",
    "<｜DSML｜invoke name=\"f\">",
    "<|tool_call_begin|>functions.f:0",
    "<|tool_call_argument_begin|>",
    "[TOOL_CALLS]",
    "[ARGS]",
    "functools",
    "<|channel|>commentary to=functions.f ",
    "<|constrain|>json<|message|>",
    "<|call|>",
    "[search_web(query='x')]",
    "{\"tool\": \"search_web\", \"query\": \"x\"}",
    "{\"name\": \"f\", \"arguments\": {\"q\": 1}}",
    "{\"a\": ",
    "\"query\": ",
    "\"x\"",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ",",
    ":",
    "：",
    "“",
    "'",
    "/*",
    "//",
    "search_web",
    "f",
    " ",
    "\n",
    "\n\n",
    "`",
    "```",
    "```json\n",
    "\n```\n",
    "<think>",
    "</think>",
    "<think_never_used_1f>",
    "</think_never_used_1f>",
    "<search_web>",
    "</search_web>",
    "</ search_web>",
    "<current_time/>",
    "<call=search_web>",
    "<function=nope>",
    "<name>",
    "</name>",
    "<![CDATA[",
    "]]>",
    "\nsearch_web\n",
    "<query>",
    "</query>",
    "query: ",
    "count: 2",
    "|\n  ",
    "<parameter=count>",
    "text",
    "天气",
    "<",
    "a < b",
    "😀",
];

/// A text of fragments, and positions at which to cut it.
fn close_call() -> impl Strategy<Value = (String, Vec<prop::sample::Index>)> {
    let text = prop::collection::vec(prop::sample::select(FRAGMENTS), 1..24).prop_map(|bits| bits.concat());
    (text, prop::collection::vec(any::<prop::sample::Index>(), 0..12))
}

/// The text cut at the characters that the positions select.
fn cut_at<'a>(text: &'a str, positions: &[prop::sample::Index]) -> Vec<&'a str> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let mut at: Vec<usize> = positions.iter().map(|position| *position.get(&starts)).collect();
    at.extend([0, text.len()]);
    at.sort_unstable();
    at.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

#[test]
fn unreadable_call_in_reasoning_ends_alike() {
    let text = "<think><seed:tool_call><think></seed:tool_call>functools";
    let whole = scan_with(ResultBlocks::Shown, &tools(), [text], ReplyEnd::Complete);
    for cut in 1..text.len() {
        let pieces = [&text[..cut], &text[cut..]];
        assert_eq!(scan_with(ResultBlocks::Shown, &tools(), pieces, ReplyEnd::Complete), whole, "{cut}");
    }
    assert_eq!(scan_with(ResultBlocks::Shown, &tools(), chars(text), ReplyEnd::Complete), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_text_result_is_independent_of_chunking((text, positions) in close_call(), cut in any::<bool>()) {
        let end = if cut { ReplyEnd::Truncated } else { ReplyEnd::Complete };
        let with_tools = [ResultBlocks::Shown, ResultBlocks::Hidden, ResultBlocks::EndReply].map(|blocks| (blocks, tools()));
        for (blocks, tools) in with_tools.into_iter().chain([(ResultBlocks::Shown, Vec::new())]) {
            let whole = scan_with(blocks, &tools, [text.as_str()], end);
            prop_assert_eq!(&scan_with(blocks, &tools, cut_at(&text, &positions), end), &whole);
            prop_assert_eq!(&scan_with(blocks, &tools, chars(&text), end), &whole);
        }
    }

    #[test]
    fn shown_text_is_a_subsequence_of_input((text, _) in close_call()) {
        let outcome = scan(&tools(), [text.as_str()], ReplyEnd::Complete);
        let mut rest = text.chars();
        let kept = outcome.content().chars().all(|shown| rest.any(|c| c == shown));
        prop_assert!(kept, "{:?}", outcome);
    }
}
