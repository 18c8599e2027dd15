//! Texts that people read: the strings of production code are held to the terms of names and comments.

use crate::language::{Context, Violation, assert_none, terms_of_comment, violations};
use crate::lexer::{Syntax, TokenKind, tokens};
use crate::sources::{SourceFile, files_below};

/// Minimum number of spaces in a string that is read by people; shorter ones are keys and patterns.
const MIN_SPACES: usize = 2;

/// Folders whose strings are texts of another speaker, and whose.
const OTHER_SPEAKERS: &[(&str, &str)] =
    &[("shared/scripted-model/src/", "the demo model and its pages"), ("shared/smoke/src/prompts.rs", "user messages")];

/// Whether a file is production code.
fn is_production(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("/fuzz.rs");
    !is_test && OTHER_SPEAKERS.iter().all(|(folder, _)| !path.starts_with(folder))
}

/// The banned terms in the strings of a file, up to its tests. Expressions of DynamoDB have names of stored attributes.
fn violations_of_literals(file: &SourceFile) -> Vec<Violation> {
    let code = file.text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let literals = tokens(code, Syntax::Rust).into_iter().filter(|token| token.kind == TokenKind::Literal);
    let read = literals.filter(|token| {
        let is_expression = [" = :", " <> :", "(pk)"].iter().any(|part| token.text.contains(part));
        token.text.matches(' ').count() >= MIN_SPACES && !is_expression
    });
    read.flat_map(|token| violations(&terms_of_comment(token.text, token.line), Context::Both)).collect()
}

#[test]
fn texts_for_people_use_standard_terms() {
    let mut faults = Vec::new();
    let files = ["functions", "shared"].iter().flat_map(|folder| files_below(folder, &[".rs"]));
    for file in files.filter(|file| is_production(&file.path)) {
        for Violation { line, banned, instead } in violations_of_literals(&file) {
            faults.push(format!("{}:{line}: `{banned}` in a text: write {instead}", file.path));
        }
    }
    assert_none(&faults, "");
}

#[test]
fn banned_terms_are_found_in_texts() {
    for (text, expected) in [
        ("let a = \"CodeDeploy was not told\";", 1),
        ("let a = \"told\";", 0),
        ("let a = \"SET said = :said, x\";", 0),
        ("// It was not told here.", 0),
        ("#[cfg(test)]\nmod tests { const A: &str = \"it was not told\"; }", 0),
    ] {
        let file = SourceFile { path: "a.rs".to_owned(), text: text.to_owned() };
        assert_eq!(violations_of_literals(&file).len(), expected, "{text}");
    }
}
