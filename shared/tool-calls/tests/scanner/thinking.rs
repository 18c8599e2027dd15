//! Reasoning: removed from the text, and never a source of calls.

use proptest::prelude::*;
use tool_calls::{ReplyEnd, ReplyPart, ThinkingFilter};

use crate::support::{scan, tools, transcript, whole};

/// Reasoning in brackets, text as it is.
fn filtered(text: &str) -> String {
    let mut filter = ThinkingFilter::default();
    let mut parts = filter.push(text);
    parts.extend(filter.finish());
    let mut shown = String::new();
    for part in parts {
        match part {
            ReplyPart::Text(text) => shown += &text,
            ReplyPart::Thinking(text) => shown.extend(["[", &text, "]"]),
            ReplyPart::TextWasThinking => shown = format!("[{shown}]"),
        }
    }
    shown
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
fn tags_match_with_blanks_suffixes_and_case() {
    for (open, close) in [
        ("<THINK>", "</Think >"),
        ("<think:6124c78e>", "</think:6124c78e>"),
        ("<think:550e8400-e29b-41d4-a716-446655440000>", "</think:550e8400-e29b-41d4-a716-446655440000>"),
        ("<think         >", "</think          >"),
        ("<mm:think>", "</mm:think>"),
        ("<ifm|think_fast>", "</ifm|think>"),
    ] {
        assert_eq!(filtered(&format!("{open}hm{close}Answer")), "[hm]Answer", "{open}");
    }
    for text in ["<think :a>", "<think:x y>", "<thinking about it>"] {
        assert_eq!(filtered(text), text);
    }
}

#[test]
fn tokens_of_channels_divide_reasoning_and_answer() {
    for text in [
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Answer<|return|>",
        "<|start|>assistant<|channel|>analysis<|message|>hm<|channel|>final<|message|>Answer",
        "<|START_THINKING|>hm<|END_THINKING|><|START_RESPONSE|>Answer<|END_RESPONSE|>",
        "<|open|>think<|sep|>hm<|close|>think<|sep|><|open|>response<|sep|>Answer<|close|>response<|sep|><|close|>message<|sep|>",
        "<|message_model|><|content_thinking|>hm<|end_message|><|message_model|><|content_text|>Answer<|end_message|>",
        " to=self<|message|>hm<|eom|><|start|>assistant to=user<|message|>Answer<|eot|>",
        "<|channel>thought\nhm<channel|>Answer<turn|>",
        "[THINK]hm[/THINK]Answer",
        "<|inner_prefix|>hm<|inner_suffix|>Answer",
    ] {
        for (at, _) in text.char_indices() {
            let mut filter = ThinkingFilter::default();
            let mut parts = filter.push(&text[..at]);
            parts.extend(filter.push(&text[at..]));
            parts.extend(filter.finish());
            let (mut answer, mut thinking) = (String::new(), String::new());
            for part in parts {
                match part {
                    ReplyPart::Text(text) => answer += &text,
                    ReplyPart::Thinking(text) => thinking += &text,
                    ReplyPart::TextWasThinking => panic!("{text} opens its reasoning"),
                }
            }
            assert_eq!((thinking.as_str(), answer.as_str()), ("hm", "Answer"), "{text} cut at {at}");
        }
    }
}

#[test]
fn turn_end_is_hidden_at_reply_end() {
    for token in ["<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>"] {
        assert_eq!(transcript(&format!("好。{token}")), ["好。"], "{token}");
        assert_eq!(transcript(&format!("好。{token}\n<|endoftext|>\n")), ["好。"], "{token}");
        let text = format!("好。{token}之后");
        assert_eq!(transcript(&text), [text.as_str()]);
        let text = format!("The token is {token}");
        assert_eq!(transcript(&text), [text.as_str()]);
        let text = format!("`{token}`");
        assert_eq!(transcript(&text), [text.as_str()]);
    }
}

#[test]
fn calls_that_end_unclosed_reasoning_are_found() {
    let call = "<tool_call>{\"tool\": \"search_web\", \"query\": \"x\"}</tool_call>";
    let read = "search_web({\"query\":\"x\"})";
    for (text, thinking, expected) in [
        (format!("<think>hm {call}"), "hm ".to_owned(), vec![read]),
        (format!("<think>hm {call}\n{call}\n"), "hm ".to_owned(), vec![read, read]),
        (format!("<think>hm {call} no. {call}"), format!("hm {call} no. "), vec![read]),
        (format!("<think>hm {call} and so on"), format!("hm {call} and so on"), vec![]),
        (format!("<think>hm {call}</think>Answer"), format!("hm {call}"), vec!["Answer"]),
        (format!("<think>hm `{call}`"), format!("hm `{call}`"), vec![]),
        (
            "<|channel|>analysis<|message|>hm<|start|>assistant to=search_web<|message|>{\"query\": \"x\"}".to_owned(),
            "hm".to_owned(),
            vec![read],
        ),
        (
            "<think>hm<|tool_call_begin|>functions.search_web:0<|tool_call_argument_begin|>{\"query\": \"x\"}"
                .to_owned(),
            "hm".to_owned(),
            vec![read],
        ),
    ] {
        for (at, _) in text.char_indices() {
            let (left, right) = text.split_at(at);
            let outcome = scan(&tools(), [left, right], ReplyEnd::Complete);
            assert_eq!(
                (outcome.thinking.as_str(), outcome.transcript()),
                (thinking.as_str(), expected.iter().map(ToString::to_string).collect()),
                "{text} {at}"
            );
        }
    }
}

#[test]
fn unopened_end_tag_turns_text_into_reasoning() {
    for text in [
        "hm\n</think>\nAnswer",
        "hm</think>Answer",
        "hm\n</think_never_used_51bce0>\nAnswer",
        "hm<|close|>think<|sep|>Answer",
    ] {
        let expected = if text.contains("hm\n") { "[hm\n]Answer" } else { "[hm]Answer" };
        for (at, _) in text.char_indices() {
            let mut filter = ThinkingFilter::default();
            let mut parts = filter.push(&text[..at]);
            parts.extend(filter.push(&text[at..]));
            parts.extend(filter.finish());
            let texts: String =
                parts.iter().map(|part| if let ReplyPart::Text(text) = part { text } else { "|" }).collect();
            assert_eq!(texts, expected.replace('[', "").replace(']', "|"), "{text} {at}");
        }
        assert_eq!(filtered(text), expected);
    }
}

#[test]
fn end_tag_named_in_prose_is_only_hidden() {
    assert_eq!(filtered("</think>\n\nAnswer"), "Answer");
    assert_eq!(filtered("好的：</think_never_used_51bce0c785ca2f68>完成"), "好的：完成");
    assert_eq!(filtered("A </think> B"), "A  B");
    assert_eq!(filtered("<think>hm</think>A</think>B"), "[hm]AB");
    assert_eq!(filtered("hm</think>A</think>B"), "[hm]AB");
}

#[test]
fn open_thinking_ends_at_its_end_tag() {
    for (text, expected) in [
        ("hm</think>Answer", "hm|Answer"),
        ("<think>hm</think>Answer", "hm|Answer"),
        ("hm<|END_THINKING|><|START_RESPONSE|>Answer<|END_RESPONSE|>", "hm|Answer"),
        ("never closed", "never closed|"),
    ] {
        for (at, _) in text.char_indices() {
            let mut filter = ThinkingFilter::default().with_open_thinking();
            let mut parts = filter.push(&text[..at]);
            parts.extend(filter.push(&text[at..]));
            assert_eq!(filter.is_in_open_thinking(), !expected.ends_with("Answer"), "{text}");
            parts.extend(filter.finish());
            let (mut thinking, mut answer) = (String::new(), String::new());
            for part in parts {
                match part {
                    ReplyPart::Text(text) => answer += &text,
                    ReplyPart::Thinking(text) => thinking += &text,
                    ReplyPart::TextWasThinking => panic!("{text} began in reasoning"),
                }
            }
            assert_eq!(format!("{thinking}|{answer}"), expected, "{text} {at}");
        }
    }
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
                ReplyPart::TextWasThinking => {}
            }
        }
        prop_assert_eq!(all, text);
    }
}

#[test]
fn thoughts_are_reasoning_at_every_split() {
    let text =
        "Thought: 要查。\nAction: search_web\nAction Input: x\nThought: done\n  Final Answer:\n完成 Thought: x\nFinal";
    let expected =
        ("要查。\ndone\n".to_owned(), "Action: search_web\nAction Input: x\n完成 Thought: x\nFinal".to_owned());
    for cut in (0..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
        let mut filter = ThinkingFilter::default().with_thoughts();
        let mut found = (String::new(), String::new());
        let mut parts = filter.push(&text[..cut]);
        for piece in text[cut..].chars().map(String::from) {
            if filter.try_passthrough(&piece) {
                parts.push(ReplyPart::Text(piece));
            } else {
                filter.push_into(&piece, &mut parts);
            }
        }
        parts.extend(filter.finish());
        for part in parts {
            match part {
                ReplyPart::Thinking(text) => found.0 += &text,
                ReplyPart::Text(text) => found.1 += &text,
                ReplyPart::TextWasThinking => panic!("nothing closes reasoning"),
            }
        }
        assert_eq!(found, expected, "{cut}");
    }
}

#[test]
fn leading_element_is_reasoning_where_endpoints_write_it() {
    let read = |texts: &[&str], leads: bool| {
        let filter = ThinkingFilter::default();
        let mut filter = if leads { filter.with_leading_element() } else { filter };
        let mut parts: Vec<ReplyPart> = texts.iter().flat_map(|text| filter.push(text)).collect();
        parts.extend(filter.finish());
        let of = |is_thinking: bool| {
            let texts = parts.iter().map(|part| match part {
                ReplyPart::Thinking(text) if is_thinking => text.as_str(),
                ReplyPart::Text(text) if !is_thinking => text.as_str(),
                _ => "",
            });
            texts.collect::<String>()
        };
        (of(true), of(false))
    };
    let reply = "<reasoning>Is <b> or </think> meant?</reasoning>A <reasoning> is an element.</reasoning>";
    let expected = ("Is <b> or </think> meant?".to_owned(), "A <reasoning> is an element.</reasoning>".to_owned());
    assert_eq!(read(&[reply], true), expected);
    for at in 0..reply.len() {
        assert_eq!(read(&[&reply[..at], &reply[at..]], true), expected, "{at}");
    }
    let xml = "<reasoning>As wanted.</reasoning><answer>4</answer>";
    assert_eq!(read(&[xml], false), (String::new(), xml.to_owned()));
}
