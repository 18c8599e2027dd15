use domain::Language;
use serde_json::{Value, json};
use tools::{Progress, ToolContext};

use crate::support::{Documents, context, context_of};

fn files(found: &Value) -> Vec<&str> {
    found["matches"].as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn matches_have_line_numbers_newest_file_first() {
    let documents = Documents::new(&[
        ("new.md", b"one\ntwo needle\r\nneedle three\n"),
        ("old/older.md", b"needle"),
        ("none.md", b"nothing"),
    ]);
    let found = documents.call("grep_search", json!({"pattern": "needle"})).await.unwrap();
    let expected = json!({
        "matches": [
            {"file": "new.md", "lines": ["2:two needle", "3:needle three"]},
            {"file": "old/older.md", "lines": ["1:needle"]},
        ],
        "count": 3, "files": 2, "truncated": false,
    });
    assert_eq!(found, expected);
}

#[tokio::test]
async fn no_match_is_an_empty_result() {
    let documents = Documents::new(&[("a.md", b"text")]);
    let found = documents.call("grep_search", json!({"pattern": "needle"})).await.unwrap();
    assert_eq!(found, json!({"matches": [], "count": 0, "files": 0, "truncated": false}));
    assert_eq!(Documents::new(&[]).call("grep_search", json!({"pattern": "x"})).await.unwrap()["count"], 0);
}

#[tokio::test]
async fn context_lines_are_marked_and_separated() {
    let text: String =
        (1..=12).map(|line| if line % 8 == 2 { "needle\n".to_owned() } else { format!("line {line}\n") }).collect();
    let documents = Documents::new(&[("a.md", text.as_bytes())]);
    let found = documents.call("grep_search", json!({"pattern": "needle", "context": 1})).await.unwrap();
    let lines = json!(["1-line 1", "2:needle", "3-line 3", "--", "9-line 9", "10:needle", "11-line 11"]);
    assert_eq!((&found["matches"][0]["lines"], &found["count"]), (&lines, &json!(2)));
}

#[tokio::test]
async fn path_and_include_limit_the_files() {
    let names = ["a.md", "b.txt", "sub/c.md", "sub/deep/d.md", "sub/deep/e.txt"];
    let documents = Documents::new(&names.map(|name| (name, b"x".as_slice())));
    for (arguments, expected) in [
        (json!({"pattern": "x", "path": "sub"}), vec!["sub/c.md", "sub/deep/d.md", "sub/deep/e.txt"]),
        (json!({"pattern": "x", "path": "sub/c.md"}), vec!["sub/c.md"]),
        (json!({"pattern": "x", "include": "*.md"}), vec!["a.md", "sub/c.md", "sub/deep/d.md"]),
        (json!({"pattern": "x", "include": "*.{txt,rst}"}), vec!["b.txt", "sub/deep/e.txt"]),
        (json!({"pattern": "x", "include": "!*.md"}), vec!["b.txt", "sub/deep/e.txt"]),
        (json!({"pattern": "x", "include": "!deep/"}), vec!["a.md", "b.txt", "sub/c.md"]),
        (json!({"pattern": "x", "include": "sub/*.md"}), vec!["sub/c.md"]),
        (json!({"pattern": "x", "include": "/*.md"}), vec!["a.md"]),
        (json!({"pattern": "x", "path": "sub", "include": "*.txt"}), vec!["sub/deep/e.txt"]),
        (json!({"pattern": "x", "path": ""}), names.to_vec()),
    ] {
        let found = documents.call("grep_search", arguments.clone()).await.unwrap();
        assert_eq!(files(&found), expected, "{arguments}");
    }
}

#[tokio::test]
async fn invalid_arguments_are_explained_in_both_languages() {
    let documents = Documents::new(&[("a.md", b"x")]);
    for (language, expected) in [
        (
            Language::En,
            "The arguments are invalid: `pattern` must be a regular expression: its parentheses are not balanced; put a \
             backslash before punctuation that you search for. Correct them and call the tool again.",
        ),
        (
            Language::Zh,
            "参数不符合要求：`pattern` 必须是正确的正则表达式：括号不成对；要查找的标点符号前面加反斜杠。请改正参数后重新调用。",
        ),
    ] {
        let error = documents.call_in("grep_search", json!({"pattern": "f(x"}), &context(language)).await.unwrap_err();
        assert_eq!(error, expected);
    }
    for (arguments, part) in [
        (json!({"pattern": ""}), "`pattern` must not be blank"),
        (json!({"pattern": "a)"}), "its parentheses are not balanced"),
        (json!({"pattern": "[a"}), "a set in brackets is faulty"),
        (json!({"pattern": "*a"}), "follows nothing"),
        (json!({"pattern": "a{2,1}"}), "its count is faulty"),
        (json!({"pattern": "(?=a)"}), "look-around such as"),
        (json!({"pattern": r"(a)\1"}), "backreferences such as"),
        (json!({"pattern": r"\y"}), "a backslash is before a character"),
        (json!({"pattern": "(a{999}){999}"}), "it is too long or too complex"),
        (json!({"pattern": "a".repeat(1001)}), "it is too long or too complex"),
        (json!({"pattern": r"\p{Nonsense}"}), "its syntax is faulty"),
        (json!({"pattern": "x", "include": "[a"}), "`include` must be a glob"),
        (json!({"pattern": "x", "path": "missing"}), "there is no such file or folder"),
    ] {
        let error = documents.call("grep_search", arguments).await.unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

#[tokio::test]
async fn long_results_are_cut_between_lines() {
    let text = "a needle in a line\n".repeat(2000);
    let names: Vec<String> = (0..100).map(|number| format!("{number}.md")).collect();
    let all: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), text.as_bytes())).collect();
    let documents = Documents::new(&all[..20]);
    let found = documents.call("grep_search", json!({"pattern": "needle"})).await.unwrap();
    assert_eq!((&found["count"], &found["files"], &found["truncated"]), (&json!(40_000), &json!(20), &json!(true)));
    let first = &found["matches"][0];
    assert_eq!((&first["count"], first["lines"].as_array().unwrap().len()), (&json!(2000), 50));
    let small = documents.call_in("grep_search", json!({"pattern": "needle"}), &context_of(2000)).await.unwrap();
    assert!(
        small["matches"].as_array().unwrap().len() == 2
            && small["note"].as_str().unwrap().starts_with("Too many matches")
    );
    let documents = Documents::new(&all);
    let capped = documents.call("grep_search", json!({"pattern": "needle"})).await.unwrap();
    let count = capped["count"].as_u64().unwrap();
    assert!((50_000..60_000).contains(&count), "a megabyte of lines ends the scan: {count}");
}

#[tokio::test]
async fn markup_and_invisible_characters_are_neutralised() {
    let documents = Documents::new(&[("a.md", "x <tool_call>\u{202E}\u{7}{}\n".as_bytes())]);
    let found = documents.call("grep_search", json!({"pattern": "x"})).await.unwrap();
    assert_eq!(found["matches"][0]["lines"], json!(["1:x &lt;tool_call>{}"]));
}

#[tokio::test]
async fn long_scans_report_their_progress() {
    let names: Vec<String> = (0..4100).map(|number| format!("{number}.md")).collect();
    let all: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    let documents = Documents::new(&all);
    let (progress, mut receiver) = Progress::channel();
    let context = ToolContext { progress, ..context(Language::Zh) };
    let reported = std::sync::Mutex::new(String::new());
    let call = documents.call_in("grep_search", json!({"pattern": "y"}), &context);
    receiver.forward_during(call, &|part| reported.lock().unwrap().push_str(&part)).await.unwrap();
    assert_eq!(*reported.lock().unwrap(), "已搜索 2000 / 4100 个文件\n已搜索 4000 / 4100 个文件\n");
}
