use proptest::prelude::*;

use super::*;

fn parts(deltas: &[&str]) -> Vec<AnswerPart> {
    let (mut scanner, mut parts) = (CitationScanner::default(), Vec::new());
    for delta in deltas {
        scanner.push(delta, &mut parts);
    }
    scanner.finish(&mut parts);
    parts
}

/// The text with citations in angle brackets.
fn marked(deltas: &[&str]) -> String {
    let marked = parts(deltas).into_iter().map(|part| match part {
        AnswerPart::Text(text) => text,
        AnswerPart::Citation { numbers, .. } => {
            format!("<{}.>", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join("."))
        }
    });
    marked.collect()
}

/// Texts with their citations marked.
const CASES: &[(&str, &str)] = &[
    ("晴[1]，雨[2][3]。", "晴<1.>，雨<2.><3.>。"),
    ("sunny [1], rain [2, 3]; wind [4、5]", "sunny <1.>, rain <2.3.>; wind <4.5.>"),
    ("［1］【2】【3，4】", "<1.><2.><3.4.>"),
    ("see [1-3] and [2–3]", "see <1.2.3.> and <2.3.>"),
    ("a [[1]] b [[2] c", "a <1.> b [<2.> c"),
    ("(a)[1] **b**[2] \"c\"[3] d![4]", "(a)<1.> **b**<2.> \"c\"<3.> d!<4.>"),
    ("[1]", "<1.>"),
    ("- [1] a\n- [ ] b\n- [x] c", "- <1.> a\n- [ ] b\n- [x] c"),
    ("[1](https://a.example) ![2](p) [[3]](https://a.example)", ""),
    ("Lambda[1], in 2026[2], _so_[3]", "Lambda<1.>, in 2026<2.>, _so_<3.>"),
    ("a[0] a[0][1]", ""),
    (
        "[^1] [1]: https://a.example [a] [1.5] [-1] [] [,] [12345] [1,] [3-1] [1-99]",
        "[^1] <1.>: https://a.example [a] [1.5] [-1] [] [,] [12345] [1,] [3-1] [1-99]",
    ),
    ("[1]: https://a.example\n  [2]: https://b.example", ""),
    ("【1】：a", "<1.>：a"),
    ("[text][1] [a] [1]", "[text][1] [a] <1.>"),
    ("`a [1]` [1] ``b ` [2]`` [2]", "`a [1]` <1.> ``b ` [2]`` <2.>"),
    ("```\n[1]\n``\n[1]\n```\n[1]", "```\n[1]\n``\n[1]\n```\n<1.>"),
    ("~~~\n[1]\n~~~\n[1] ~~[2]~~", "~~~\n[1]\n~~~\n<1.> ~~<2.>~~"),
    ("a ` b [1]\n\nc [1]", "a ` b [1]\n\nc <1.>"),
    ("$x [1]$ [1] $$\n[2]\n$$ [2]", "$x [1]$ <1.> $$\n[2]\n$$ <2.>"),
    ("costs $5 [1] or US$ [2] or \\$x [3]", "costs $5 <1.> or US$ <2.> or \\$x <3.>"),
    ("\\( [1] \\) [1] \\[ [2] \\] [2] \\[3\\]", "\\( [1] \\) <1.> \\[ [2] \\] <2.> \\[3\\]"),
];

#[test]
fn citations_are_distinguished_from_other_brackets() {
    for (text, expected) in CASES {
        let expected = if expected.is_empty() { text } else { expected };
        assert_eq!(marked(&[text]), *expected);
    }
}

#[test]
fn parts_are_the_same_at_every_split() {
    for (text, _) in CASES {
        let whole = marked(&[text]);
        for (at, _) in text.char_indices() {
            let (before, after) = text.split_at(at);
            assert_eq!(marked(&[before, after]), whole, "{before}|{after}");
        }
        let characters: Vec<String> = text.chars().map(String::from).collect();
        let deltas: Vec<&str> = characters.iter().map(String::as_str).collect();
        assert_eq!(marked(&deltas), whole, "{text}");
    }
}

#[test]
fn long_bracket_is_not_held() {
    let (mut scanner, mut parts) = (CitationScanner::default(), Vec::new());
    scanner.push(&format!("[{}", "1,".repeat(1000)), &mut parts);
    let text: usize = parts.iter().map(|part| if let AnswerPart::Text(text) = part { text.len() } else { 0 }).sum();
    assert_eq!(text, 2001);
}

proptest! {
    #[test]
    fn parts_add_up_to_the_text(deltas in prop::collection::vec("[\\[\\]1,` $\\\\\n~(:a汉【】-]{0,6}", 0..8)) {
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        let whole = parts(&deltas).into_iter().map(|part| match part {
            AnswerPart::Text(text) | AnswerPart::Citation { raw: text, .. } => text,
        });
        prop_assert_eq!(whole.collect::<String>(), deltas.concat());
        prop_assert_eq!(marked(&deltas), marked(&[&deltas.concat()]));
    }
}
