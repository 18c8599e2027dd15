//! The same files exist as for ripgrep's walker.

use std::collections::BTreeSet;
use std::path::Path;

use documents::HiddenFiles;
use ignore::WalkBuilder;
use serde_json::{Value, json};

use crate::support::Documents;

const FILES: [(&str, &[u8]); 24] = [
    (".gitignore", b"*.log\n/build/\n!keep.log\ntarget\n# comment\n\\#odd\ndoc/*.pdf\n[\n"),
    (".ignore", b"!special.log\nsecret*\n"),
    (".rgignore", b"!secret-but-shown.md\n"),
    ("a.md", b""),
    ("b.log", b""),
    ("keep.log", b""),
    ("special.log", b""),
    ("secret.md", b""),
    ("secret-but-shown.md", b""),
    ("#odd", b""),
    (".hidden/a.md", b""),
    (".hidden.md", b""),
    ("build/out.md", b""),
    ("sub/build/in.md", b""),
    ("sub/target/x.md", b""),
    ("sub/.gitignore", b"*.md\n!kept.md\n!.shown.md\n"),
    ("sub/other.md", b""),
    ("sub/kept.md", b""),
    ("sub/.shown.md", b""),
    ("sub/deep/kept.md", b""),
    ("sub/deep/other.md", b""),
    ("sub/deep/.ignore", b"!other.md\n"),
    ("doc/a.pdf", b""),
    ("doc/more/b.pdf", b""),
];

fn expected(root: &Path, hidden: bool) -> BTreeSet<String> {
    let mut walker = WalkBuilder::new(root);
    walker.standard_filters(!hidden).require_git(false).parents(false).git_global(false).git_exclude(false);
    if !hidden {
        walker.add_custom_ignore_filename(".rgignore");
    }
    let files = walker.build().map(Result::unwrap).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(|file| file.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned()).collect()
}

async fn found(documents: &Documents) -> BTreeSet<String> {
    let all = documents.call("glob_search", json!({"pattern": "**", "limit": 1000})).await.unwrap();
    all["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn same_files_exist_as_for_ripgrep() {
    let documents = Documents::new(&FILES);
    let files = found(&documents).await;
    assert_eq!(files, expected(&documents.path(), false));
    assert!(files.contains("sub/.shown.md") && files.contains("sub/deep/other.md") && !files.contains("b.log"));
    for (file, _) in FILES {
        let read = documents.call("read_file", json!({"file_path": file})).await;
        assert_eq!(read.is_ok(), files.contains(file), "{file}: every tool agrees");
        let grep = documents.call("grep_search", json!({"pattern": "x", "path": file})).await;
        assert_eq!(grep.is_ok(), files.contains(file), "{file}");
    }
}

#[tokio::test]
async fn all_files_exist_if_hidden_ones_are_shown() {
    let documents = Documents::with_hidden(&FILES, HiddenFiles::Show);
    assert_eq!(found(&documents).await, expected(&documents.path(), true));
}

#[tokio::test]
async fn compiled_files_do_not_exist() {
    let documents = Documents::new(&[("a.py", b"x"), ("__pycache__/a.pyc", b"x"), ("lib/__pycache__/b.md", b"x")]);
    assert_eq!(found(&documents).await, BTreeSet::from(["a.py".to_owned()]));
    assert!(documents.call("read_file", json!({"file_path": "lib/__pycache__/b.md"})).await.is_err());
}

#[tokio::test]
async fn names_with_invisible_characters_do_not_exist() {
    let documents = Documents::new(&[("a.md", b"x"), ("b\u{202E}dm.exe", b"x"), ("c\nd.md", b"x"), ("e\\f.md", b"x")]);
    assert_eq!(found(&documents).await, BTreeSet::from(["a.md".to_owned()]));
    let found: Value = documents.call("grep_search", json!({"pattern": "x"})).await.unwrap();
    assert_eq!(found["count"], 1);
}
