use proptest::prelude::*;

use super::*;

/// The whole text after these chunks continue `previous`.
fn join_chunks<'a>(previous: &str, chunks: impl IntoIterator<Item = &'a str>) -> String {
    let mut trimmer = ContinuationTrimmer::new(previous);
    let mut whole = previous.to_owned();
    for chunk in chunks {
        whole.push_str(&trimmer.push(chunk));
    }
    whole + &trimmer.finish()
}

/// The whole text after `text` continues `previous`: equal for every split into two chunks, and for single characters.
fn join(previous: &str, text: &str) -> String {
    let whole = join_chunks(previous, [text]);
    for (at, character) in text.char_indices() {
        let cut = at + character.len_utf8();
        assert_eq!(join_chunks(previous, [&text[..cut], &text[cut..]]), whole, "{previous:?} + {text:?} cut at {cut}");
    }
    assert_eq!(
        join_chunks(previous, text.split_inclusive(|_: char| true)),
        whole,
        "{previous:?} + {text:?} in characters"
    );
    whole
}

const ANSWERS: [&str; 7] = [
    "Hello world, how are you today? I am quite well, thank you for asking.",
    "今天天气很好，适合出门散步。明天可能会下雨，请记得带伞。",
    "步骤如下：\n\n1. 打开 Settings 页面\n2. 选择语言\n   - 中文\n   - English\n3. 保存",
    "# Titel\n\n- apples\n- **pears** and `plums`\n  - cherries\n\nThat is all.",
    "看代码：\n\n```rust\nfn main() {\n    if x {\n        return;\n    }\n}\n```\n\n完成。",
    "| a | b |\n|---|---|\n| yes | yes |\n| 不支持 | 不支持 |\n| 不支持 | yes |\n",
    "The sum is 1,000,000 and 20202020; banana, Mississippi, hahaha, 谢谢，讨论讨论，哈哈哈。",
];

fn cuts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.char_indices().skip(1).map(|(at, _)| text.split_at(at))
}

#[test]
fn plain_continuation_is_kept_wherever_answer_was_cut() {
    for answer in ANSWERS {
        for (previous, rest) in cuts(answer) {
            assert_eq!(join(previous, rest), answer, "cut after {previous:?}");
        }
    }
}

#[test]
fn restarted_answer_is_shown_once_wherever_cut() {
    for answer in ANSWERS {
        // Two letters suffice; but the cells of a row may be equal on purpose.
        let row = |previous: &str| previous.starts_with('|') && !previous.trim_end().contains('\n');
        for (previous, _) in cuts(answer).skip(4).filter(|(previous, _)| !row(previous)) {
            for white in ["", "\n\n", " "] {
                assert_eq!(join(previous, &format!("{white}{answer}")), answer, "cut after {previous:?}");
            }
        }
    }
}

#[test]
fn restarted_line_is_shown_once() {
    for answer in ANSWERS {
        for (previous, rest) in cuts(answer) {
            let line = &previous[previous.rfind('\n').map_or(0, |end| end + 1)..];
            if !line.starts_with('|') && line.chars().filter(|letter| letter.is_alphabetic()).count() > 1 {
                assert_eq!(join(previous, &format!("{line}{rest}")), answer, "cut after {previous:?}");
            }
        }
    }
}

#[test]
fn repeated_end_of_text_is_shown_once() {
    let cases = [
        ("Hello wor", "world, how are you", "Hello world, how are you"),
        ("Hello wor", " world, how are you", "Hello world, how are you"),
        ("Hello wor", "\nworld", "Hello world"),
        ("The quick brown fox", "brown fox jumps", "The quick brown fox jumps"),
        ("The quick brown fox", " quick brown fox jumps", "The quick brown fox jumps"),
        ("It is late. We should go home. ", "We should go home. Now.", "It is late. We should go home. Now."),
        ("It is late. We should go home. ", "We should go home.\n\nNow.", "It is late. We should go home. \n\nNow."),
        ("他说今天天气", "天天气很好", "他说今天天气很好"),
        ("他说，今天的天气很好。", "今天的天气很好。明天呢", "他说，今天的天气很好。明天呢"),
        ("说：\n- 香", "- 香蕉\n- 梨", "说：\n- 香蕉\n- 梨"),
        ("x\n\n- pears\n    - che", "    - cherries", "x\n\n- pears\n    - cherries"),
        ("```py\ndef f():\n    ret", "    return 1\n```", "```py\ndef f():\n    return 1\n```"),
        (
            "```py\ndef the_first_of_all_functions():\n",
            "def the_first_of_all_functions():\n    pass",
            "```py\ndef the_first_of_all_functions():\n    pass",
        ),
    ];
    for (previous, text, whole) in cases {
        assert_eq!(join(previous, text), whole, "{previous:?} + {text:?}");
    }
}

#[test]
fn coincidentally_equal_text_is_kept() {
    let cases = [
        ("今天", "天气"),
        ("一起讨论", "讨论吧"),
        ("Mississ", "issippi"),
        ("It costs 1,000", ",000"),
        ("The year is 20", "20."),
        ("I had", " had enough"),
        ("x\n  end\n", "end"),
        ("x\n  end\nend", "\nend"),
        ("a {\n  b {\n  }\n", "}\n"),
        ("| a | 不支持 |", " 不支持 |"),
        ("| a | yes |", " yes |"),
        ("- 苹果\n", "- 苹果汁"),
        ("Hello", "\n\n```"),
        ("``", "`rust"),
        ("   ", "  x"),
        ("", "x"),
        ("Said", ""),
        ("Said so", "   "),
        ("The end", "The Germans"),
    ];
    for (previous, text) in cases {
        assert_eq!(join(previous, text), format!("{previous}{text}"));
    }
}

#[test]
fn only_possible_repetitions_are_held() {
    let mut trimmer = ContinuationTrimmer::new("Hello, it is a nice day");
    assert_eq!(trimmer.push(" "), "");
    assert_eq!(trimmer.push("n"), "");
    assert_eq!(trimmer.push("o"), " no");
    assert_eq!(trimmer.push(" Hello"), " Hello");
    assert_eq!(ContinuationTrimmer::new("Hello").push("x"), "x");
    let mut trimmer = ContinuationTrimmer::new("Hello, it is a nice day");
    assert_eq!(["nice ", "day", " for", " it"].map(|chunk| trimmer.push(chunk)), ["", "", " for", " it"]);
}

#[test]
fn restarted_answer_without_new_text_is_dropped() {
    let previous = "Once upon a time there was a king who had three sons.";
    assert_eq!(join(previous, &previous[..40]), previous);
    assert_eq!(join(previous, previous), previous);
    assert_eq!(join(previous, "Once"), format!("{previous}Once"), "too short to decide");
}

#[test]
fn f045_restarted_long_answer_takes_linear_time() {
    let previous = "aa ".repeat(100_000);
    assert_eq!(join_chunks(&previous, format!("{previous}b").split_inclusive(|_: char| true)), format!("{previous}b"));
}

proptest! {
    #[test]
    fn chunking_changes_nothing_and_only_repetitions_are_lost(
        previous in "[ab今天 \n|-]{0,12}",
        text in "[ab今天 \n|-]{0,12}",
    ) {
        let whole = join(&previous, &text);
        let new = whole.strip_prefix(&previous).unwrap();
        prop_assert!(text.ends_with(new));
        let removed = text[..text.len() - new.len()].trim();
        prop_assert!(previous.trim_end().ends_with(removed), "{removed:?} is not the end of the previous text");
    }
}
