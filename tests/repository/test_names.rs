//! Names of tests are short: what a test shows, in at most eight parts.

use crate::language::{assert_none, sources, syntax};
use crate::lexer::{Syntax, Token, TokenKind, tokens};

/// The largest number of parts in the name of a test, after the ids of faults.
const MAX_TEST_NAME_PARTS: usize = 8;

/// Names of test functions with their lines.
fn test_names<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, usize)> {
    let code: Vec<&Token<'a>> = tokens.iter().filter(|token| token.kind != TokenKind::Comment).collect();
    let (mut names, mut is_test) = (Vec::new(), false);
    for at in 0..code.len() {
        let next = |offset: usize, text: &str| code.get(at + offset).is_some_and(|token| token.is(text));
        if next(0, "test") && (next(1, "]") || next(1, "(")) && at > 0 && (code[at - 1].is("[") || code[at - 1].is(":"))
        {
            is_test = true;
        } else if let (true, Some(name)) = (next(0, "fn"), code.get(at + 1))
            && std::mem::take(&mut is_test)
        {
            names.push((name.text, name.line));
        }
    }
    names
}

/// How many parts the name of a test has after the ids of faults at its front.
fn parts_of_test_name(name: &str) -> usize {
    let is_id = |part: &&str| {
        part.len() == 4 && part.strip_prefix('f').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    name.split('_').skip_while(is_id).count()
}

#[test]
fn test_names_have_no_more_than_eight_parts() {
    let mut faults = Vec::new();
    for file in sources().iter().filter(|file| syntax(&file.path) == Syntax::Rust) {
        let names = test_names(&tokens(&file.text, Syntax::Rust));
        let long = names.iter().filter(|(name, _)| parts_of_test_name(name) > MAX_TEST_NAME_PARTS);
        faults.extend(long.map(|(name, line)| format!("{}:{line}: `{name}`: shorten it", file.path)));
    }
    assert_none(&faults, "");
}

#[test]
fn every_test_name_is_found_and_measured() {
    let source = "#[test]\n#[ignore]\nfn a() {}\nfn b() {}\n#[tokio::test(flavor = \"x\")]\npub async fn c() {}";
    assert_eq!(test_names(&tokens(source, Syntax::Rust)), [("a", 3), ("c", 6)]);
    let fault = |name: &str| format!("f{}_{name}", 101);
    for (name, expected) in [
        ("a_b".to_owned(), 2),
        (fault("a_b_c"), 3),
        (fault(&fault("a")), 1),
        ("f1_a".to_owned(), 2),
        ("fast_a".to_owned(), 2),
    ] {
        assert_eq!(parts_of_test_name(&name), expected, "{name}");
    }
}
