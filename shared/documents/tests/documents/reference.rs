//! The same matches as a plain implementation: every file, every line, one regular expression.

use std::collections::BTreeMap;
use std::fs;

use regex::Regex;
use serde_json::{Value, json};

use crate::support::Documents;

const PATTERNS: &[&str] = &[
    "a",
    "the",
    "^the",
    "end$",
    "^$",
    r"\bcat\b",
    r"(?i)CAT",
    r"c[aeiou]t",
    r"\d{4}-\d{2}-\d{2}",
    r"\w+@\w+\.\w+",
    "预算",
    "预.算?",
    "[一-龥]{3,}",
    r"\p{Han}+",
    "(foo|bar)baz",
    "x*",
    "a+b",
    ".*needle.*",
    r"\s+$",
    r"^\s*#",
    r"[^\x00-\x7F]",
    "é",
    "(?i)É",
    r"\.md",
    r"\\",
    r"\$\d+",
    "a.c",
    "(?s)a.c",
    "(?m)^b",
    "z{2,3}",
    "^.{10,20}$",
    "needle|预算|é",
    r"\tindented",
    "[[:upper:]]{2,}",
    "q(?:u|v)",
    "never-there",
    r"\bthe\b.*\bend\b",
    "\u{1F600}",
    "(a|b)*c$",
    r"^\w",
];

const PARTS: [&str; 24] = [
    "the",
    "cat",
    "Cat",
    "end",
    "2026-11-23",
    "ann@example.org",
    "预算",
    "预的算",
    "三百万元",
    "foobaz",
    "aab",
    "needle",
    "  ",
    "# head",
    "é",
    "É",
    "a.md",
    r"back\slash",
    "$15",
    "abc",
    "zzz",
    "\tindented",
    "ABC",
    "\u{1F600}",
];

/// Files of pseudo-random lines, always the same.
fn files() -> Vec<(String, String)> {
    let mut state = 42_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below).unwrap()
    };
    let mut text = || -> String {
        let breaks = ["\n", "\r\n"][next(2)];
        let lines = (0..next(40)).map(|_| (0..next(5)).map(|_| PARTS[next(24)]).collect::<Vec<_>>().join(" ") + breaks);
        lines.collect()
    };
    (0..40).map(|number| (format!("d{}/f{number}.txt", number % 5), text())).collect()
}

fn reference(documents: &Documents, pattern: &str) -> BTreeMap<String, Vec<usize>> {
    let regex = Regex::new(&format!("(?m:{pattern})")).unwrap();
    let mut found = BTreeMap::new();
    for folder in fs::read_dir(documents.path()).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let lines = text.lines().zip(1..).filter(|(line, _)| regex.is_match(line)).map(|(_, number)| number);
            let name = path.strip_prefix(documents.path()).unwrap().to_str().unwrap().to_owned();
            let lines: Vec<usize> = lines.collect();
            if !lines.is_empty() {
                found.insert(name, lines);
            }
        }
    }
    found
}

fn numbers(found: &Value) -> BTreeMap<String, Vec<usize>> {
    let number = |line: &Value| line.as_str().unwrap().split_once(':').unwrap().0.parse().unwrap();
    let lines = |file: &Value| file["lines"].as_array().unwrap().iter().map(number).collect();
    found["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["file"].as_str().unwrap().to_owned(), lines(file)))
        .collect()
}

#[tokio::test]
async fn matches_equal_those_of_a_plain_implementation() {
    let files = files();
    let all: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let documents = Documents::new(&all);
    let mut matching = 0;
    for pattern in PATTERNS {
        let found = documents.call("grep_search", json!({"pattern": pattern})).await.unwrap();
        assert_eq!(found["truncated"], false, "{pattern}");
        let expected = reference(&documents, pattern);
        matching += usize::from(!expected.is_empty());
        assert_eq!(numbers(&found), expected, "{pattern}");
    }
    assert!(matching > 30, "only {matching} patterns match");
}
