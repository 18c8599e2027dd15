//! Malformed calls: unreadable, truncated, too long; and text that is held only temporarily.

use tool_calls::{CallScanner, ReplyEnd, Segment};

use crate::support::{scan, tools, transcript, truncated_transcript, whole};

const CALL: &str = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>";
const BARE: &str = "{\"tool\": \"search_web\", \"query\": \"x\"}";
const READ_CALL: &str = "search_web({\"query\":\"x\"})";

#[test]
fn unreadable_call_is_malformed_with_a_reason() {
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
        ["[the parameters of the function cannot be parsed] \
             <seed:tool_call><function=search_web><parameter=count>1</parameter>?</function>"]
    );
}

#[test]
fn incomplete_call_does_not_swallow_following_text() {
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
fn well_formed_beginning_does_not_lift_the_bound() {
    let long = "x".repeat(70_000);
    let text = format!("<tool_call>{{\"name\": \"search_web\", \"a\": \"{long}\", \"b\": {}", "[".repeat(300_000));
    let whole = whole(&text);
    let chunks: Vec<&str> = text.as_bytes().chunks(4_093).filter_map(|chunk| std::str::from_utf8(chunk).ok()).collect();
    assert_eq!(scan(&tools(), chunks, ReplyEnd::Complete), whole);
    let Some(Segment::Malformed(malformed)) = whole.segments.first() else { panic!("no malformed call") };
    assert!(malformed.raw.len() <= 192 * 1024, "{}", malformed.raw.len());
}

#[test]
fn many_undecided_candidates_stay_text() {
    for (unit, count) in [("<search_web>\nzzz: 1\n", 3_000), ("a <search_web><b>\n", 3_000)] {
        let text = unit.repeat(count);
        assert_eq!(transcript(&text), [text.as_str()]);
    }
}

#[test]
fn f031_truncated_call_is_malformed() {
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
        assert_eq!(truncated_transcript(&format!("a\n{text}")), ["a\n".to_owned(), format!("[cut] {text}")], "{text}");
    }
}

#[test]
fn truncation_outside_a_call_changes_nothing() {
    assert_eq!(truncated_transcript(CALL), [READ_CALL]);
    assert_eq!(truncated_transcript(&format!("<tool_call>{BARE}")), [READ_CALL]);
    assert_eq!(truncated_transcript(BARE), [READ_CALL]);
    assert_eq!(truncated_transcript("a < b and <to"), ["a < b and <to"]);
    assert_eq!(truncated_transcript("{\"name\": \"Ada\", \"ag"), ["{\"name\": \"Ada\", \"ag"]);
}

#[test]
fn f052_endless_call_is_text_at_its_cap() {
    let text = format!("<tool_call>{{\"tool\": \"search_web\", \"query\": \"{}", "x".repeat(3 << 20));
    let outcome = whole(&text);
    assert_eq!(outcome.content(), text);
    assert!(outcome.calls().is_empty());
}

#[test]
fn uncertain_call_is_released_at_its_cap() {
    let json = format!("{{\"tool\": \"search_web\", \"query\": \"{}\"}}", "x".repeat(70_000));
    assert_eq!(transcript(&json), [json.as_str()]);
    let mut scanner = CallScanner::new(&tools());
    let shown = json.as_bytes().chunks(8).flat_map(|chunk| scanner.push(std::str::from_utf8(chunk).expect("ASCII")));
    assert!(shown.count() > 0, "the first 64 KiB are released before the end");
}

#[test]
fn oversized_integer_keeps_its_digits() {
    assert_eq!(
        transcript("<tool_call>{\"tool\": \"f\", \"n\": 12345678901234567890123}</tool_call>"),
        ["f({\"n\":\"12345678901234567890123\"})"]
    );
}
