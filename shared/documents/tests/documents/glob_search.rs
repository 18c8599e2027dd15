use serde_json::{Value, json};

use crate::support::{Documents, context_of};

fn names(found: &Value) -> Vec<&str> {
    found["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect()
}

#[tokio::test]
async fn globs_match_without_case_newest_first() {
    let all = ["z.MD", "a.md", "sub/B.Md", "sub/deep/c.md", "sub/d.txt", "报告/年度.md"];
    let documents = Documents::new(&all.map(|name| (name, b"x".as_slice())));
    for (arguments, expected) in [
        (json!({"pattern": "*.md"}), vec!["z.MD", "a.md", "sub/B.Md", "sub/deep/c.md", "报告/年度.md"]),
        (json!({"pattern": "**/*.md"}), vec!["z.MD", "a.md", "sub/B.Md", "sub/deep/c.md", "报告/年度.md"]),
        (json!({"pattern": "./*.md"}), vec!["z.MD", "a.md", "sub/B.Md", "sub/deep/c.md", "报告/年度.md"]),
        (json!({"pattern": "SUB/*.md"}), vec!["sub/B.Md"]),
        (json!({"pattern": "sub/**"}), vec!["sub/B.Md", "sub/deep/c.md", "sub/d.txt"]),
        (json!({"pattern": "{a,c}.*"}), vec!["a.md", "sub/deep/c.md"]),
        (json!({"pattern": "*年*"}), vec!["报告/年度.md"]),
        (json!({"pattern": "deep/*", "path": "sub"}), vec!["sub/deep/c.md"]),
        (json!({"pattern": "*.txt", "path": "sub/d.txt"}), vec!["sub/d.txt"]),
        (json!({"pattern": "sub"}), vec![]),
    ] {
        let found = documents.call("glob_search", arguments.clone()).await.unwrap();
        assert_eq!(names(&found), expected, "{arguments}");
        assert_eq!((found["count"].as_u64(), &found["truncated"]), (Some(expected.len() as u64), &json!(false)));
    }
}

#[tokio::test]
async fn files_have_sizes_and_days_of_change() {
    let documents = Documents::new(&[("a.md", b"x"), ("sub/b.md", &[b'y'; 3000])]);
    let found = documents.call("glob_search", json!({"pattern": "*"})).await.unwrap();
    assert_eq!(found["files"], json!(["a.md", "sub/b.md"]));
    assert_eq!(found["details"], json!(["1 B, 2027-01-15", "2.9 KB, 2027-01-15"]));
    let one = documents.call("glob_search", json!({"pattern": "*", "path": "sub/b.md"})).await.unwrap();
    assert_eq!(one["details"], json!(["2.9 KB, 2027-01-15"]));
}

#[tokio::test]
async fn pages_of_files_follow_each_other() {
    let all: Vec<String> = (0..250).map(|number| format!("{number:03}.md")).collect();
    let files: Vec<(&str, &[u8])> = all.iter().map(|name| (name.as_str(), b"x".as_slice())).collect();
    let documents = Documents::new(&files);
    let first = documents.call("glob_search", json!({"pattern": "*"})).await.unwrap();
    assert_eq!(
        (names(&first), &first["count"], &first["truncated"]),
        (all[..100].iter().map(String::as_str).collect(), &json!(250), &json!(true))
    );
    assert_eq!(first["note"], "There are more files: continue with offset 100, or narrow the search.");
    let last = documents.call("glob_search", json!({"pattern": "*", "offset": 240, "limit": 20})).await.unwrap();
    assert_eq!((names(&last).len(), &last["truncated"], last.get("note")), (10, &json!(false), None));
    let beyond = documents.call("glob_search", json!({"pattern": "*", "offset": 900})).await.unwrap();
    assert_eq!((names(&beyond).len(), &beyond["truncated"]), (0, &json!(false)));
    let small = documents.call_in("glob_search", json!({"pattern": "*"}), &context_of(1000)).await.unwrap();
    let shown = names(&small).len();
    assert!(shown > 10 && shown < 100 && small["note"].as_str().unwrap().contains(&format!("offset {shown}")));
}

#[tokio::test]
async fn invalid_globs_are_rejected() {
    let documents = Documents::new(&[("a.md", b"x")]);
    for pattern in ["/a.md", "../*", "a/../*", "[", "a{", &"a".repeat(1001)] {
        let error = documents.call("glob_search", json!({"pattern": pattern})).await.unwrap_err();
        assert!(error.contains("`pattern` must be a glob of files in the document folder"), "{pattern}: {error}");
    }
    assert!(documents.call("glob_search", json!({"pattern": " "})).await.unwrap_err().contains("must not be blank"));
}
