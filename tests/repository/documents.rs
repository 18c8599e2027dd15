//! The documents name files that exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::repository_root;

/// Folders of the repository whose paths the documents may name.
const FOLDERS: [&str; 6] = ["benches/", "docs/", "functions/", "infra/", "shared/", "tests/"];

#[test]
fn links_between_documents_resolve() {
    let missing = documents().into_iter().flat_map(|document| {
        let folder = document.parent().unwrap().to_owned();
        let text = std::fs::read_to_string(&document).unwrap();
        let targets =
            link_targets(&text).into_iter().filter(|target| !target.is_empty() && !folder.join(target).exists());
        targets.map(|target| format!("{}: {target}", document.display())).collect::<Vec<_>>()
    });
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn paths_in_documents_exist() {
    let root = repository_root();
    let missing = documents().into_iter().flat_map(|document| {
        let text = std::fs::read_to_string(&document).unwrap();
        let paths = code_spans(&text).into_iter().filter(|path| !exists(&root, path));
        paths.map(|path| format!("{}: `{path}`", document.display())).collect::<Vec<_>>()
    });
    assert_eq!(missing.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn readmes_have_equal_sections_commands_and_links() {
    let [english, chinese] = ["README.md", "README.zh-CN.md"].map(|name| {
        let text = std::fs::read_to_string(repository_root().join(name)).unwrap();
        assert!(text.lines().count() <= 120, "{name}");
        text
    });
    assert_eq!(facts(&chinese), facts(&english));
    for (text, other) in [(&english, "README.zh-CN.md"), (&chinese, "README.md")] {
        assert!(
            text.lines().nth(2).is_some_and(|line| line.contains(&format!("]({other})"))),
            "{other} is linked first"
        );
    }
}

/// What a document and its translation share: the level of each heading and the rows of tables, blocks of code but for
/// diagrams, the other code by its text, and the links without the language of their target.
fn facts(text: &str) -> (Vec<String>, Vec<&str>, BTreeSet<&str>, BTreeSet<String>) {
    let (mut prose, mut blocks) = (String::new(), Vec::new());
    for (at, part) in text.split("```").enumerate() {
        if at % 2 == 0 {
            prose += part;
        } else if !part.starts_with("mermaid") {
            blocks.push(part);
        }
    }
    let marks = prose.lines().filter(|line| line.starts_with(['#', '|', '-']));
    let marks =
        marks.map(|line| line.chars().take_while(|letter| !letter.is_alphanumeric() && *letter != ' ').collect());
    let spans = text.split("```").step_by(2).flat_map(|part| part.split('`').skip(1).step_by(2));
    let targets = link_targets(text)
        .into_iter()
        .map(|target| target.replace(".zh-CN.md", ".md").replace("-zh-light.png", "-en-light.png"));
    (marks.collect(), blocks, spans.collect(), targets.filter(|target| target != "README.md").collect())
}

#[test]
fn links_and_paths_are_found_in_a_text() {
    let text = "[a](b.md#c), [d](https://e), `shared/x.rs` and `shared/{y,z}/` but no `cargo run`";
    assert_eq!(link_targets(text), ["b.md"]);
    assert_eq!(code_spans(text), ["shared/x.rs", "shared/y/", "shared/z/"]);
}

/// All documents of the repository.
fn documents() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![repository_root()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "node_modules", ".git", ".data"].contains(&name.as_str()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The relative targets of a document's links, without fragments.
fn link_targets(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let relative = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    relative.map(|target| target.split('#').next().unwrap_or_default()).collect()
}

/// The code spans that are paths of the repository; `{a,b}` represents several.
fn code_spans(text: &str) -> Vec<String> {
    let spans = text.split('`').skip(1).step_by(2);
    let paths = spans.filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)));
    let plain = paths.filter(|path| !path.contains([' ', '<', '*', '…', '$', '\n']));
    plain.flat_map(expand).collect()
}

fn expand(path: &str) -> Vec<String> {
    let Some((before, rest)) = path.split_once('{') else { return vec![path.to_owned()] };
    let Some((names, after)) = rest.split_once('}') else { return vec![path.to_owned()] };
    names.split(',').map(|name| format!("{before}{name}{after}")).collect()
}

/// Whether a path, which may end in a line number or a test's name, exists.
fn exists(root: &Path, path: &str) -> bool {
    let path = path.split(':').next().unwrap_or(path);
    root.join(path).exists()
}
