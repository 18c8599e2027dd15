use proptest::prelude::*;

use super::*;

/// What stands in the end when `text`, in these pieces, goes on from `said`.
fn pieces<'a>(said: &str, pieces: impl IntoIterator<Item = &'a str>) -> String {
    let mut seam = Seam::new(said);
    let mut whole = said.to_owned();
    for piece in pieces {
        whole.push_str(&seam.push(piece));
    }
    whole + &seam.finish()
}

/// The same for every cut of the text into two pieces and for single characters, which must all agree.
fn joined(said: &str, text: &str) -> String {
    let whole = pieces(said, [text]);
    for (at, character) in text.char_indices() {
        let cut = at + character.len_utf8();
        assert_eq!(pieces(said, [&text[..cut], &text[cut..]]), whole, "{said:?} + {text:?} cut at {cut}");
    }
    assert_eq!(pieces(said, text.split_inclusive(|_: char| true)), whole, "{said:?} + {text:?} in characters");
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
fn what_simply_goes_on_is_kept_as_it_came_wherever_the_answer_was_cut() {
    for answer in ANSWERS {
        for (said, rest) in cuts(answer) {
            assert_eq!(joined(said, rest), answer, "cut after {said:?}");
        }
    }
}

#[test]
fn an_answer_that_begins_again_is_shown_once_wherever_it_was_cut() {
    for answer in ANSWERS {
        // Two letters tell; but the cells of a row may be equal by right.
        let row = |said: &str| said.starts_with('|') && !said.trim_end().contains('\n');
        for (said, _) in cuts(answer).skip(4).filter(|(said, _)| !row(said)) {
            for white in ["", "\n\n", " "] {
                assert_eq!(joined(said, &format!("{white}{answer}")), answer, "cut after {said:?}");
            }
        }
    }
}

#[test]
fn a_line_that_begins_again_is_shown_once() {
    for answer in ANSWERS {
        for (said, rest) in cuts(answer) {
            let line = &said[said.rfind('\n').map_or(0, |end| end + 1)..];
            if !line.starts_with('|') && line.chars().filter(|letter| letter.is_alphabetic()).count() > 1 {
                assert_eq!(joined(said, &format!("{line}{rest}")), answer, "cut after {said:?}");
            }
        }
    }
}

#[test]
fn the_last_words_said_again_are_shown_once() {
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
    for (said, text, whole) in cases {
        assert_eq!(joined(said, text), whole, "{said:?} + {text:?}");
    }
}

#[test]
fn what_is_equal_by_accident_is_kept() {
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
    for (said, text) in cases {
        assert_eq!(joined(said, text), format!("{said}{text}"));
    }
}

#[test]
fn only_what_may_still_be_a_repetition_is_held() {
    let mut seam = Seam::new("Hello, it is a nice day");
    assert_eq!(seam.push(" "), "");
    assert_eq!(seam.push("n"), "");
    assert_eq!(seam.push("o"), " no");
    assert_eq!(seam.push(" Hello"), " Hello");
    assert_eq!(Seam::new("Hello").push("x"), "x");
    let mut seam = Seam::new("Hello, it is a nice day");
    assert_eq!(["nice ", "day", " for", " it"].map(|piece| seam.push(piece)), ["", "", " for", " it"]);
}

#[test]
fn an_answer_that_begins_again_and_comes_to_nothing_new_is_not_shown() {
    let said = "Once upon a time there was a king who had three sons.";
    assert_eq!(joined(said, &said[..40]), said);
    assert_eq!(joined(said, said), said);
    assert_eq!(joined(said, "Once"), format!("{said}Once"), "too little to tell");
}

#[test]
fn f045_a_long_answer_that_begins_again_in_single_bytes_takes_linear_time() {
    let said = "aa ".repeat(100_000);
    assert_eq!(pieces(&said, format!("{said}b").split_inclusive(|_: char| true)), format!("{said}b"));
}

proptest! {
    #[test]
    fn a_piece_more_or_less_changes_nothing_and_nothing_is_lost_but_what_was_said(
        said in "[ab今天 \n|-]{0,12}",
        text in "[ab今天 \n|-]{0,12}",
    ) {
        let whole = joined(&said, &text);
        let new = whole.strip_prefix(&said).unwrap();
        prop_assert!(text.ends_with(new));
        let gone = text[..text.len() - new.len()].trim();
        prop_assert!(said.trim_end().ends_with(gone), "{gone:?} was not said last");
    }
}
