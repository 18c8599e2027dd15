//! Texts for models are in the files of `shared/prompts`, not in string literals.

use crate::lexer::{Syntax, TokenKind, tokens};
use crate::sources::files_below;

/// The crates whose code writes texts for models.
const FOLDERS: [&str; 6] = [
    "shared/agent/src",
    "shared/articles/src",
    "shared/custom-tools/src",
    "shared/search/src",
    "shared/tool-calls/src",
    "shared/tools/src",
];

/// Files and folders whose literals may contain Han characters, and why.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("shared/agent/src/citation_filter/context.rs", "labels that models write before a number"),
    ("shared/agent/src/reply/state/invention.rs", "how models introduce results"),
    ("shared/agent/src/run/missing_call.rs", "how models announce calls"),
    ("shared/tools/src/current_time/zones.rs", "names of zones that users and models write"),
    ("shared/tools/src/url_allowlist.rs", "the start of a line in stored results of searches"),
    ("shared/tool-calls/src/scanner/recent_text.rs", "how models introduce an example"),
];

fn is_han(character: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&character)
}

/// Whether a file contains only tests.
fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("/fuzz.rs")
}

/// The lines of the literals with Han characters in the code before the first test module.
fn han_lines(source: &str) -> Vec<usize> {
    let tokens = tokens(source, Syntax::Rust);
    let starts_tests = |at: usize| {
        let attribute = ["#", "[", "cfg", "(", "test", ")", "]"];
        let is_attribute = attribute.iter().zip(&tokens[at..]).all(|(text, token)| token.is(text));
        is_attribute && tokens[at..].iter().take(12).any(|token| token.is("{"))
    };
    let end = (0..tokens.len()).find(|at| starts_tests(*at)).unwrap_or(tokens.len());
    let literals = tokens[..end].iter().filter(|token| token.kind == TokenKind::Literal);
    literals.filter(|token| token.text.contains(is_han)).map(|token| token.line).collect()
}

#[test]
fn code_contains_no_chinese_texts() {
    let files: Vec<_> = FOLDERS.iter().flat_map(|folder| files_below(folder, &[".rs"])).collect();
    assert!(files.len() > 100, "only {} source files", files.len());
    let is_exempt = |path: &str| EXCEPTIONS.iter().any(|(start, _)| path.starts_with(start));
    let mut faults = Vec::new();
    for file in files.iter().filter(|file| !is_test_file(&file.path) && !is_exempt(&file.path)) {
        faults.extend(han_lines(&file.text).into_iter().map(|line| format!("{}:{line}", file.path)));
    }
    assert!(faults.is_empty(), "move these texts to `shared/prompts`:\n{}", faults.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    for (start, reason) in EXCEPTIONS {
        let files: Vec<_> = FOLDERS.iter().flat_map(|folder| files_below(folder, &[".rs"])).collect();
        let mut exempt = files.iter().filter(|file| file.path.starts_with(start) && !is_test_file(&file.path));
        assert!(exempt.any(|file| !han_lines(&file.text).is_empty()), "{start}: {reason}");
    }
}

#[test]
fn literals_in_tests_and_comments_may_be_chinese() {
    let source =
        "// 注释\nfn f() { g(\"甲\") }\nconst C: char = '乙';\n#[cfg(test)]\nmod tests { const D: &str = \"丙\"; }";
    assert_eq!(han_lines(source), [2, 3]);
    assert_eq!(han_lines("#[cfg(test)]\nmod tests;\nconst A: &str = \"甲\";"), [3]);
}
