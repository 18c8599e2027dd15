use domain::NumberedSources;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn numbers(known: &[usize]) -> SourceNumbers {
    let source = |index: &usize| Source {
        index: *index,
        title: "t".into(),
        url: format!("https://{index}.example"),
        excerpt: String::new(),
    };
    SourceNumbers::continuing(&NumberedSources { sources: known.iter().map(source).collect(), last: 0 })
}

/// The filtered deltas, each with the numbers that it cites; the last one is the end.
fn deltas(known: &[usize], deltas: &[&str]) -> Vec<(String, Vec<usize>)> {
    let mut filter = CitationFilter::new(numbers(known));
    let mut filtered: Vec<FilteredAnswer> = deltas.iter().map(|delta| filter.push((*delta).to_owned())).collect();
    filtered.push(filter.finish());
    filtered.into_iter().map(|one| (one.text, one.cited.iter().map(|source| source.index).collect())).collect()
}

fn filtered(known: &[usize], parts: &[&str]) -> String {
    deltas(known, parts).into_iter().map(|(text, _)| text).collect()
}

/// Filters a text with the sources 1, 2 and 12: whole, at every split and by characters.
fn filtered_at_every_split(text: &str) -> String {
    let known = [1, 2, 12];
    let whole = filtered(&known, &[text]);
    for (at, _) in text.char_indices() {
        let (before, after) = text.split_at(at);
        assert_eq!(filtered(&known, &[before, after]), whole, "{before}|{after}");
    }
    let characters: Vec<String> = text.chars().map(String::from).collect();
    let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
    assert_eq!(filtered(&known, &characters), whole, "{text}");
    whole
}

/// Texts of a conversation with the sources 1, 2 and 12, and what remains of them.
const NOTES: &[(&str, &str)] = &[
    ("晴[1]，雨[9]。", "晴[1]，雨。"),
    ("晴 [9]", "晴"),
    ("晴[9]\n雨[8]；风[7]！", "晴\n雨；风！"),
    ("晴。[9] 雨。[8]\n风。[2]", "晴。 雨。\n风。[2]"),
    ("sunny [9], rain [2].", "sunny, rain [2]."),
    ("It will be sunny. [9]", "It will be sunny."),
    ("It will be sunny.[9] Rain follows later [8]\n", "It will be sunny. Rain follows later\n"),
    ("about sunny days [1][9][2].", "about sunny days [1][2]."),
    ("about AWS Lambda[1][9].", "about AWS Lambda[1]."),
    ("about sunny days [9][8].", "about sunny days."),
    ("about sunny days [9][1].", "about sunny days [1]."),
    ("晴【9】，雨［8］。", "晴，雨。"),
    ("晴【1】，雨［1，2］。", "晴[1]，雨[1, 2]。"),
    ("营收**281 亿**[9]，利润 25%[8]。", "营收**281 亿**，利润 25%。"),
    ("- 晴[9]\n- 雨[1]\n", "- 晴\n- 雨[1]\n"),
    ("“晴”[9]，（雨）[32]。", "“晴”，（雨）。"),
    ("# 天气\n晴[9]。\n\n| a |\n|---|\n| b [9] |\n\n雨[8]。", "# 天气\n晴。\n\n| a |\n|---|\n| b [9] |\n\n雨。"),
];

#[test]
fn invented_notes_are_removed_at_every_split() {
    for (text, expected) in NOTES {
        assert_eq!(filtered_at_every_split(text), *expected);
    }
}

/// Texts of a conversation with the sources 1, 2 and 12 that stay as they are.
const KEPT: &[&str] = &[
    // Lists, ranges and values.
    "概率的取值范围是 [0, 1]，温度区间 [20, 30]，列表 [1, 2, 3]，坐标 [3]。",
    "归一化到 [0, 1]，数组 [11, 12]。",
    "价格区间 [50, 80] 元",
    "values in [0, 1], see [5, 1] and [1-99] or [8-9].",
    "x 属于 [3]。",
    "The result is [5].",
    "It maps [0] to [3], [4] to [5].",
    "cited twice [1, 9], by range [1-3].",
    "the years [2024] and [1998].",
    "ticket numbers [33], [100] and [4711].",
    "ids [09], [ 9 ] and [9 ].",
    "[[9]] and [[12]] and [^9]",
    // Labels.
    "choose option [2] or [4]",
    "choose option [4].",
    "go to step [3], then step [5].",
    "see [9].",
    "as shown in [9].",
    "Figure [3]. Table [4].",
    "选择选项[4]。",
    "先执行步骤[3]，再执行步骤[5]。",
    "见[9]。参见 [9]。",
    "第[3]，图[4]，表[5]。",
    "答案[3]。",
    "the vector v [3].",
    "变量 n [3]。",
    // The start of a line.
    "[5] fifth\n[6] sixth",
    "\n\n[9]\n[8]",
    "- [9] a\n- [1] b",
    "1. [9]\n2. [8]\n",
    "> [9] quoted",
    "* [3]\n",
    "[9]: https://a.example\n[8]： b",
    // Not the end of a clause.
    "晴[9]的天气",
    "sunny [9] weather",
    "晴[9]: 雨",
    "晴[9]：雨",
    "晴[9]、雨[8]、风",
    "sunny [9](https://a.example), rain [8][b].",
    "f(sunny [9])",
    "file sunny [9].txt",
    // Code, formulas and links.
    "a[3] a_b[3], arr [2] = 5, m[1][9].",
    "return arr [3]\n",
    "`sunny [9].` and ``a [9].``",
    "```\nsunny weather today [9].\n```",
    "~~~py\nsunny weather today [9].\n~~~",
    "$x [9].$ $$y [9].$$ \\(z [9].\\) \\[w [9].\\]",
    "[sunny [9].](https://a.example)",
    "E = mc² 成立[9]。",
    "the map<int> of values [9].",
    "let x be sunny [9].",
    "for every day in days [9].",
    "a += b [9].",
    // Data.
    "{\"a\": \"sunny [9].\", \"b\": [0, 1, 15]}",
    "[\"sunny [9].\", [9], [8]]",
    "{\n  \"a\":\n    [9],\n  \"b\": \"sunny. [9]\"\n}",
    "Here it is:\n\n{\n  \"a\": \"very sunny weather [9]\"\n}",
    "title: very sunny weather [9]\nids:\n  - [9]\n  - very sunny weather [9]\n",
    "结果如下：\n\nname: 晴[9]\n- 雨[9]\n",
    "name,weather\nParis,very sunny weather [9]\nRome,rain [9]\n",
    "a\tb\nsunny\tvery sunny weather [9]\n",
    "| a | b |\n|---|---|\n| sunny. [9] | 晴[9] |",
    "a | b\n--- | ---\n1 | 晴[9]\n",
    "<p>very sunny weather [9].</p>",
    "<li>\nvery sunny weather [9].\n</li>",
    // Spaces.
    "sunny  [9].",
    "a  b   c \n  d    ",
    " ",
];

#[test]
fn brackets_of_other_kinds_stay_whole() {
    assert!(KEPT.len() >= 60);
    let changed: Vec<_> = KEPT.iter().filter(|text| filtered_at_every_split(text) != **text).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

#[test]
fn only_pages_of_the_conversation_are_cited() {
    let cited = |text| deltas(&[1, 2, 12], &[text]).into_iter().flat_map(|(_, cited)| cited).collect::<Vec<_>>();
    assert_eq!(cited("晴[1]，雨[9]，见 [12]，[2, 9]。"), [1, 12, 2]);
    assert_eq!(cited("取值范围 [0, 1]，`[1]`。"), [0usize; 0]);
}

#[test]
fn conversation_without_sources_keeps_everything_undelayed() {
    for text in NOTES.iter().map(|(text, _)| text).chain(KEPT) {
        assert_eq!(deltas(&[], &[text]), [((*text).to_owned(), Vec::new()), (String::new(), Vec::new())]);
    }
}

#[test]
fn only_a_possible_citation_is_held_back() {
    let texts: Vec<_> = deltas(&[1], &["a", " b", " ", "[1", "]", "c", "[", "x晴 [9]", "，雨"]);
    let texts: Vec<&str> = texts.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["a", " b", "", "", "", " [1]c", "", "[x晴", "，雨", ""]);
}

#[test]
fn long_run_of_citations_is_not_held() {
    let mut filter = CitationFilter::new(numbers(&[1]));
    let shown = filter.push(format!("晴{}", "[9]".repeat(1000))).text;
    assert!(shown.len() > 3 * 980, "{}", shown.len());
}

#[test]
fn reply_that_began_without_sources_is_kept() {
    let numbers = SourceNumbers::default();
    let mut filter = CitationFilter::new(numbers.clone());
    assert_eq!(filter.push("`a` [9] [1".to_owned()).text, "`a` [9] [1");
    numbers.number("t", "https://a.example");
    assert_eq!(filter.push("] 雨 [9]，风 [1]！".to_owned()).text, "] 雨 [9]，风 [1]！");
    assert_eq!(filter.finish(), FilteredAnswer::default());
    assert_eq!(filter.push("雨 [9]，风 [1]！".to_owned()).text, "雨，风 [1]！");
}

#[test]
fn discarded_text_never_appears() {
    let mut filter = CitationFilter::new(numbers(&[1]));
    assert_eq!(filter.push("晴 [9].".to_owned()).text, "晴");
    filter.discard();
    let cited = filter.push(" b [1].".to_owned());
    assert_eq!((cited.text.as_str(), cited.cited.len()), (" b [1].", 1));
}

/// A text as a value of data, often with something that looks like a citation.
fn value() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "晴",
        "sunny weather",
        "[9]",
        " [9]",
        "[9].",
        "[5, 1]",
        "[1]",
        "。[9]",
        "[0, 1]",
        "a[3]",
        " very sunny day [9]",
        "【9】",
        "x",
    ]);
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.concat())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![value().prop_map(Value::from), (0..30u32).prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(inner, 1..3).prop_map(|values| (0..)
                .map(|key: u32| format!("k{key} [9]"))
                .zip(values)
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn json_parses_to_the_same_value(value in json_value(), intro in "(Here it is:\n\n|```json\n)?", wraps: bool) {
        let value = if wraps { json!([value]) } else { json!({ "data": value }) };
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = filtered_at_every_split(&format!("{intro}{text}"));
            prop_assert_eq!(serde_json::from_str::<Value>(&shown[intro.len()..]).unwrap(), value.clone());
        }
    }

    #[test]
    fn yaml_stays_as_it_is(values in prop::collection::vec((value(), 0..4u8), 1..6)) {
        let line = |(value, form): &(String, u8)| match form {
            0 => format!("key_a: {value}\n"),
            1 => format!("list:\n  - {value}\n  - [9, 8]\n"),
            2 => format!("text: |\n  {value}\n\n  very sunny weather [9].\n"),
            _ => format!("b-c:\n  d: {value}\n  e: [9]\n"),
        };
        let text: String = values.iter().map(line).collect();
        prop_assert_eq!(filtered_at_every_split(&text), text);
    }

    #[test]
    fn csv_stays_as_it_is(rows in prop::collection::vec((value(), value()), 1..5), separator in "[,\t]") {
        let text = [("name".to_owned(), "value".to_owned())].iter().chain(&rows)
            .map(|(a, b)| format!("{a}{separator}{b}\n")).collect::<Vec<_>>().concat();
        prop_assert_eq!(filtered_at_every_split(&text), text);
    }

    #[test]
    fn tables_stay_as_they_are(rows in prop::collection::vec((value(), value()), 1..5), outer: bool) {
        let (start, end) = if outer { ("| ", " |") } else { ("", "") };
        let row = |(a, b): &(String, String)| format!("{start}{a} | {b}{end}\n");
        let text = format!("{start}a | b{end}\n{start}--- | ---{end}\n{}", rows.iter().map(row).collect::<String>());
        prop_assert_eq!(filtered_at_every_split(&text), text);
    }

    #[test]
    fn python_stays_as_it_is(lines in prop::collection::vec((value(), 0..8u8), 1..6)) {
        let line = |(value, form): &(String, u8)| match form {
            0 => "    return values [3]\n".to_owned(),
            1 => format!("x = \"{value}\"\n"),
            2 => "print(values [2], [9])\n".to_owned(),
            3 => "for day in values [2]:\n    total += day [3]\n".to_owned(),
            4 => "assert days in known [9]\n".to_owned(),
            5 => format!("def f(a, b=[9]):\n    \"\"\"{value}\"\"\"\n    return [a, b][1]\n"),
            6 => format!("# {value}\n"),
            _ => "values[2:9] = values [9]\n".to_owned(),
        };
        let text = format!("import days\n{}", lines.iter().map(line).collect::<String>());
        prop_assert_eq!(filtered_at_every_split(&text), text);
    }

    #[test]
    fn parts_of_prose_are_filtered_alike(deltas in prop::collection::vec("[\\[\\]19,. 晴a|`\n：。【】-]{0,6}", 0..8)) {
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        prop_assert_eq!(filtered(&[1], &deltas), filtered(&[1], &[&deltas.concat()]));
    }
}
