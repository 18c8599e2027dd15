//! Reasoning: removed from the text, and never a source of calls.

use proptest::prelude::*;
use tool_calls::{ReplyPart, ThinkingFilter};

use crate::support::{transcript, whole};

/// Reasoning in brackets, text as it is.
fn filtered(text: &str) -> String {
    let mut filter = ThinkingFilter::default();
    let mut parts = filter.push(text);
    parts.extend(filter.finish());
    let part = |part: ReplyPart| match part {
        ReplyPart::Text(text) => text,
        ReplyPart::Thinking(text) => format!("[{text}]"),
    };
    parts.into_iter().map(part).collect()
}

#[test]
fn every_reasoning_element_is_removed() {
    for (open, close) in [
        ("<think>", "</think>"),
        ("<thinking>", "</thinking>"),
        ("<seed:think>", "</seed:think>"),
        ("<think_never_used_51bce0c785ca2f68081bfa7d91973934>", "</think_never_used_51bce0c785ca2f68081bfa7d91973934>"),
        ("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),
    ] {
        assert_eq!(filtered(&format!("{open}\nhm\n{close}\n\nAnswer")), "[hm\n]Answer");
        assert_eq!(filtered(&format!("{open}{close}Answer")), "Answer");
        assert_eq!(filtered(&format!("One {open}hm{close} two")), "One [hm] two");
        assert_eq!(filtered(&format!("{open}hm")), "[hm]");
    }
}

#[test]
fn unmatched_end_tag_is_hidden_and_text_stays() {
    assert_eq!(filtered("</think>\n\nAnswer"), "Answer");
    assert_eq!(filtered("好的：</think_never_used_51bce0c785ca2f68>完成"), "好的：完成");
    assert_eq!(filtered("A</think> B"), "A B");
}

#[test]
fn nested_budget_note_does_not_end_reasoning() {
    assert_eq!(filtered("<seed:think>a<seed:cot_budget_reflect>b</seed:cot_budget_reflect>c</seed:think>d"), "[abc]d");
}

#[test]
fn quoted_tags_are_text() {
    for text in [
        "The `<think>` tag and `</think>`.",
        "So:\n```xml\n<think>x</think>\n```\nDone.",
        "{\"tool\": \"search_web\", \"query\": \"<think>\"}",
        "<tool_call>{\"tool\": \"search_web\", \"query\": \"<think> and </think>\"}</tool_call>",
        "a <thin> b <thinker> </thought> <think_never_used_> x <think_never_used_a b>",
    ] {
        let shown = text.replace("<think_never_used_>", "");
        let shown = if shown == text {
            text.to_owned()
        } else {
            format!("{}[{}]", "a <thin> b <thinker> </thought> ", "x <think_never_used_a b>")
        };
        assert_eq!(filtered(text), shown, "{text}");
    }
}

#[test]
fn quoted_end_tag_does_not_end_reasoning() {
    assert_eq!(filtered("<think>then `</think>` ends it</think>A"), "[then `</think>` ends it]A");
    assert_eq!(filtered("<think>a stray `</think>A"), "[a stray `]A");
}

#[test]
fn f058_markers_in_reasoning_are_not_calls() {
    let text = "<think>I will write <tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call></think>好的。";
    let outcome = whole(text);
    assert_eq!(outcome.transcript(), ["好的。"]);
    assert_eq!(outcome.thinking, "I will write <tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>");
}

#[test]
fn end_tag_after_unclosed_call_is_hidden() {
    assert_eq!(
        transcript("<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</think></tool_call>"),
        ["search_web({\"query\":\"x\"})"]
    );
}

#[test]
fn only_possible_tags_are_held_back() {
    let mut filter = ThinkingFilter::default();
    assert_eq!(filter.push("a <th"), [ReplyPart::Text("a ".to_owned())]);
    assert_eq!(filter.push("e>"), [ReplyPart::Text("<the>".to_owned())]);
    assert_eq!(filter.push("<think>b<"), [ReplyPart::Thinking("b".to_owned())]);
    assert_eq!(filter.push("/thin"), []);
    assert_eq!(filter.finish(), [ReplyPart::Thinking("</thin".to_owned())]);
}

proptest! {
    #[test]
    fn text_and_reasoning_together_equal_the_input(text in "[a-z<>/ `\n天]{0,40}") {
        let mut filter = ThinkingFilter::default();
        let mut all = String::new();
        let mut parts: Vec<ReplyPart> = text.chars().flat_map(|c| filter.push(&c.to_string())).collect();
        parts.extend(filter.finish());
        for part in parts {
            match part {
                ReplyPart::Text(text) | ReplyPart::Thinking(text) => all += &text,
            }
        }
        prop_assert_eq!(all, text);
    }
}
