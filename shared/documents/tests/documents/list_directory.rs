use serde_json::{Value, json};

use crate::support::{Documents, context_of};

/// The tree without the sizes and days of its files, which are all the same.
fn plain_tree(listed: &Value) -> String {
    listed["tree"].as_str().unwrap().replace(" (1 B, 2027-01-15)", "")
}

#[tokio::test]
async fn folders_are_listed_as_a_tree() {
    let names = ["b.md", "a/z.md", "a/deep/x.md", "c/y.md", ".hidden/h.md", "a/__pycache__/p.pyc"];
    let documents = Documents::new(&names.map(|name| (name, b"x".as_slice())));
    let listed = documents.call("list_directory", json!({})).await.unwrap();
    let tree = "- root/\n  - a/\n    - deep/\n      - x.md\n    - z.md\n  - b.md\n  - c/\n    - y.md";
    assert_eq!(plain_tree(&listed), tree);
    assert_eq!(listed["tree"].as_str().unwrap().matches(".md (1 B, 2027-01-15)").count(), 4);
    let files = json!(["b.md", "a/z.md", "c/y.md", "a/deep/x.md"]);
    assert_eq!((&listed["count"], listed.get("note"), &listed["files"]), (&json!(7), None, &files), "breadth first");
    let part = documents.call("list_directory", json!({"path": "a"})).await.unwrap();
    assert_eq!(plain_tree(&part), "- a/\n  - deep/\n    - x.md\n  - z.md");
}

#[tokio::test]
async fn listing_has_500_entries_near_ones_first() {
    let deep: Vec<String> = (0..400).map(|number| format!("a/{number:03}.md")).collect();
    let near: Vec<String> = (0..200).map(|number| format!("z{number:03}.md")).collect();
    let files: Vec<(&str, &[u8])> = deep.iter().chain(&near).map(|name| (name.as_str(), b"x".as_slice())).collect();
    let documents = Documents::new(&files);
    let listed = documents.call("list_directory", json!({})).await.unwrap();
    assert_eq!(listed["count"], 500);
    assert_eq!(listed["note"], "Too many entries; only some are listed. List one of the folders with path.");
    let tree = plain_tree(&listed);
    assert!(tree.contains("  - z199.md") && tree.contains("    - 298.md") && !tree.contains("    - 299.md"));
    let small = documents.call_in("list_directory", json!({}), &context_of(1000)).await.unwrap();
    assert!(small["count"].as_u64().unwrap() < 50 && small["note"].is_string());
}

#[tokio::test]
async fn file_is_refused_with_the_right_tool() {
    let documents = Documents::new(&[("a.md", b"x")]);
    let error = documents.call("list_directory", json!({"path": "a.md"})).await.unwrap_err();
    assert!(error.contains("read it with read_file"), "{error}");
}
