//! The table of foreign input names kinds of the growth suite and tests that exist.

use std::collections::BTreeSet;

use crate::read_file;
use crate::sources::files_below;

#[test]
fn foreign_input_is_held_by_existing_checks() {
    let (kinds, tests) = (growth_kinds(), test_names());
    assert!(kinds.len() > 20 && tests.len() > 1000, "the sources are understood");
    let text = read_file("docs/foreign-input.md");
    let rows = rows(&text);
    assert!(rows.len() > 40, "the table is understood");
    let unknown = |name: &&str| !kinds.contains(*name) && !tests.contains(*name);
    let faults: Vec<_> = rows
        .iter()
        .filter_map(|(input, held_by)| {
            let missing: Vec<_> = held_by.iter().copied().filter(unknown).collect();
            (held_by.is_empty() || !missing.is_empty()).then(|| format!("{input}: {missing:?}"))
        })
        .collect();
    assert_eq!(faults, [""; 0]);
    let named: BTreeSet<_> = rows.iter().flat_map(|(_, held_by)| held_by).copied().collect();
    let without_row: Vec<_> = kinds.iter().filter(|kind| !named.contains(kind.as_str())).collect();
    assert_eq!(without_row, Vec::<&String>::new(), "kinds without a row");
}

#[test]
fn rows_end_with_their_checks() {
    let text = "| input | held by |\n|---|---|\n| `a` b | `c d`, `e_f` |\n| g | none |\n";
    assert_eq!(rows(text), [("`a` b", vec!["c d", "e_f"]), ("g", vec![])]);
}

/// The input of each row, and the code spans of its last column.
fn rows(text: &str) -> Vec<(&str, Vec<&str>)> {
    text.lines()
        .filter_map(|line| {
            let (input, rest) = line.strip_prefix("| ")?.split_once(" | ")?;
            let held_by = rest.trim_end_matches(" |").rsplit(" | ").next()?;
            (input != "input").then(|| (input, held_by.split('`').skip(1).step_by(2).collect()))
        })
        .collect()
}

/// The names of kinds: the first argument of the functions that make them, or the field `name`, in the suite.
fn growth_kinds() -> BTreeSet<String> {
    let marks = ["texts(\"", "kind(\"", "texts_in_json(\"", "Kind { name: \"", "KIND: &str = \""];
    let files = files_below("infra/suites/src/bin/growth", &[".rs"]);
    let of_file = |text: &str| {
        let names = marks.iter().flat_map(|mark| text.split(mark).skip(1).filter_map(|rest| rest.split('"').next()));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    files.iter().flat_map(|file| of_file(&file.text)).collect()
}

/// The names of functions in all sources, tests among them, and of the page's tests.
fn test_names() -> BTreeSet<String> {
    let files = files_below("", &[".rs"]);
    let of_file = |text: &str| {
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split('(').next());
        names.filter(|name| !name.contains(char::is_whitespace)).map(str::to_owned).collect::<Vec<_>>()
    };
    let page = read_file("tests/page/unit/hostile.test.js");
    let of_page = page.split("test(\"").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned);
    files.iter().flat_map(|file| of_file(&file.text)).chain(of_page.collect::<Vec<_>>()).collect()
}
