//! Names and comments in the field's terms: a private vocabulary fails.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::LazyLock;

use crate::lexer::{Syntax, Token, TokenKind, tokens};
use crate::sources::{SourceFile, files_below};

/// Where a term is banned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Context {
    /// In identifiers and paths. In a comment it is ordinary English.
    Identifiers,
    /// In identifiers, paths and comments.
    Both,
}

use Context::{Both, Identifiers};

/// Banned terms and phrases, where they are banned, what to write instead, and a note.
const BANNED: &[(&str, Context, &str, &str)] = &[
    ("word, words", Both, "token, delta, text, label, user message", "natural language has phrases and terms"),
    ("room, rooms", Both, "crate, layer, space, capacity", ""),
    ("floor, floors", Both, "crate, layer, minimum, lower bound", "the mathematical function is allowed"),
    ("house, houses", Both, "crate, layer, workspace", ""),
    ("neighbour, neighbours", Both, "sibling crate, adjacent", ""),
    ("tell, tells, telling, told", Both, "emit, stream, send, return, report, distinguish", "for data flow"),
    ("retell, retold, retelling", Both, "replay", ""),
    ("say, says, saying, said", Both, "emit, stream, send, return, report, state", "for data flow"),
    ("ask, asks, asking, asked", Both, "request, require, query", "for data flow"),
    ("whoever, those who, he who", Both, "the caller, the task, the client", "name the subject"),
    ("stand, stands, stood", Both, "is stored at, is in, represents, replaces", ""),
    ("elsewhere", Both, "another instance", ""),
    ("here", Identifiers, "this instance, local", "a comment may point at its own code"),
    ("aside", Both, "side slot", ""),
    ("inmost", Both, "innermost", ""),
    ("bell, bells", Both, "wake flag, notification", ""),
    ("ring, rings, ringing", Identifiers, "set, notify, wake", "the crate is allowed; comments name it too"),
    ("silence, silenced", Identifiers, "idle, clear, timeout", "comments describe a stalled stream with it"),
    ("attend, attends, attended", Both, "register waker, poll", ""),
    ("rests", Both, "is idle", "the remainder, `rest`, is fine"),
    ("place, places, placed", Identifiers, "slot, position, seq, offset", "ordinary English in comments"),
    ("look, looks, looked", Identifiers, "poll, read, check", "ordinary English in comments"),
    ("much", Identifiers, "amount, size, count", "ordinary English in comments"),
    ("most", Identifiers, "MAX_, limit", "ordinary English in comments"),
    ("few", Identifiers, "MIN_, the number", "ordinary English in comments"),
    ("patience", Both, "timeout, deadline", ""),
    ("seam, seams", Both, "continuation", ""),
    ("handover, handovers", Both, "failover", ""),
    ("go on, goes on, going on, gone on, went on", Both, "continue, continues", ""),
    ("crowd, crowds", Both, "load spike, concurrent clients", ""),
    ("door, doors", Both, "admission gate, endpoint", ""),
    ("enter, enters, entered, entering", Identifiers, "acquire, admit, record", "users enter text, in comments"),
    ("shape, shapes, shaped", Identifiers, "schema version, schema, format", "comments use it for a JSON schema"),
    ("lesson, lessons", Both, "discovered limitation, cached capability", ""),
    ("learn, learns, learned, learnt", Both, "discover, cache", ""),
    ("shall", Both, "must, will", ""),
    ("for ever", Both, "forever", ""),
    ("anew", Both, "again", ""),
    ("dear", Both, "expensive", ""),
    ("behind", Both, "after", "behind a proxy is allowed"),
    ("beside", Both, "in addition to, concurrently with, next to", ""),
];

/// Phrases of ordinary English or of the field that contain a banned term, in identifiers too, and why.
const ALLOWED_PHRASES: &[(&str, &str)] = &[
    ("at most", "an upper bound, as in prose on algorithms"),
    ("at the most", "the same"),
    ("most recent", "the superlative of `recent`, which has no other"),
    ("in place", "the field's term for mutation without a copy"),
    ("take place", "an idiom"),
    ("look up", "the field's verb for reading by key"),
    ("look ahead", "a lexer's and a parser's term"),
    ("word boundary", "the term of regular expressions"),
    ("word boundaries", "the same"),
    ("whole word", "the same"),
    ("in other words", "an idiom"),
    ("that is to say", "an idiom"),
    ("behind a proxy", "where a server is in the network"),
    ("behind a load balancer", "the same"),
    ("behind a flag", "the field's term for a feature that is off"),
    ("left behind", "an idiom"),
    ("leaves behind", "the same"),
    ("fall behind", "a slow subscriber, the term of broadcast channels"),
    ("falls behind", "the same"),
];

/// Identifiers that others chose, and whose.
const ALLOWED_IDENTIFIERS: &[(&str, &str)] = &[
    ("ring", "the cryptography crate"),
    ("Ring", "the TLS provider of the AWS SDK that uses that crate"),
    ("floor", "mathematics: `f64::floor`, and the calculator's function of that name"),
    ("Floor", "the same, as an operation in the tests of the calculator"),
    ("floor_char_boundary", "`str::floor_char_boundary`"),
    ("Word", "`regex_syntax::ast::ClassPerlKind::Word`"),
    ("UnsupportedLookAround", "`regex_syntax::ast::ErrorKind::UnsupportedLookAround`"),
    ("enterKeyHint", "an attribute of HTML elements"),
];

/// The largest number of faults that a failure lists.
const MAX_LISTED: usize = 100;

/// A part of an identifier or of a comment, in lower case, with its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    text: String,
    line: usize,
}

/// A banned term at a line, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) line: usize,
    pub(crate) banned: &'static str,
    pub(crate) instead: &'static str,
}

/// The parts of an identifier, split at underscores and at camel case: `HttpURLOf` has `http`, `url` and `of`.
fn segments(identifier: &str) -> Vec<String> {
    let letters: Vec<char> = identifier.chars().collect();
    let mut segments = vec![String::new()];
    for (at, &letter) in letters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| letters[at]);
        let rises = letter.is_uppercase() && before.is_some_and(|before| !before.is_uppercase());
        let last_capital = letter.is_uppercase() && letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        if !letter.is_alphabetic() || rises || last_capital {
            segments.push(String::new());
        }
        if let (true, Some(segment)) = (letter.is_alphabetic(), segments.last_mut()) {
            segment.extend(letter.to_lowercase());
        }
    }
    segments.retain(|segment| !segment.is_empty());
    segments
}

fn terms_of_identifier(identifier: &str, line: usize) -> Vec<Term> {
    segments(identifier).into_iter().map(|text| Term { text, line }).collect()
}

/// The terms of a comment, without code in backticks, code blocks and addresses.
pub(crate) fn terms_of_comment(comment: &str, first_line: usize) -> Vec<Term> {
    let (mut terms, mut code, mut in_block) = (Vec::new(), None, false);
    for (offset, text) in comment.lines().enumerate() {
        let text = text.trim_start().trim_start_matches(['/', '*', '!', '#']);
        if text.trim_start().starts_with("```") {
            (in_block, code) = (!in_block, None);
        } else if !in_block {
            for chunk in prose(text, &mut code).split_whitespace().filter(|chunk| !chunk.contains("://")) {
                let texts = chunk.split(|letter: char| !letter.is_alphabetic()).filter(|text| !text.is_empty());
                terms.extend(texts.map(|text| Term { text: text.to_lowercase(), line: first_line + offset }));
            }
        }
    }
    terms
}

/// A line of a comment without its code; `code` is the run of backticks that is open before it, and after it.
fn prose(line: &str, code: &mut Option<usize>) -> String {
    let (mut kept, mut rest) = (String::new(), line);
    while !rest.is_empty() {
        let (before, after) = rest.split_at(rest.find('`').unwrap_or(rest.len()));
        if code.is_none() {
            kept.push_str(before);
        }
        let tail = after.trim_start_matches('`');
        let run = after.len() - tail.len();
        match *code {
            None if run > 0 => {
                kept.push_str(" ` ");
                *code = Some(run);
            }
            Some(open) if open == run => *code = None,
            _ => {}
        }
        rest = tail;
    }
    kept
}

/// Whether the terms from `at` on are this phrase.
fn is_at(terms: &[Term], at: usize, phrase: &str) -> bool {
    let mut rest = terms[at..].iter();
    phrase.split(' ').all(|text| rest.next().is_some_and(|term| term.text == text))
}

/// A banned phrase, where it is banned, and what to write instead.
type Rule = (&'static str, Context, &'static str);

/// The rows of [`BANNED`] by the first term of each phrase.
static BANNED_BY_FIRST_TERM: LazyLock<HashMap<&str, Vec<Rule>>> = LazyLock::new(|| {
    let mut by_first_term = HashMap::<_, Vec<_>>::new();
    for &(alternatives, context, instead, _) in BANNED {
        for phrase in alternatives.split(", ") {
            let first = phrase.split(' ').next().unwrap_or(phrase);
            by_first_term.entry(first).or_default().push((phrase, context, instead));
        }
    }
    by_first_term
});

/// Whether the term at `at` belongs to an allowed phrase.
fn is_in_allowed_phrase(terms: &[Term], at: usize) -> bool {
    ALLOWED_PHRASES.iter().any(|(phrase, _)| {
        let first = (at + 1).saturating_sub(phrase.split(' ').count());
        (first..=at).any(|start| is_at(terms, start, phrase) && start + phrase.split(' ').count() > at)
    })
}

/// The banned terms among those that come from this context, outside of allowed phrases.
pub(crate) fn violations(terms: &[Term], context: Context) -> Vec<Violation> {
    let mut found = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        let rules = BANNED_BY_FIRST_TERM.get(term.text.as_str()).into_iter().flatten();
        let hits = rules.filter(|(phrase, scope, _)| {
            (*scope == Both || context == Identifiers) && is_at(terms, at, phrase) && !is_in_allowed_phrase(terms, at)
        });
        found.extend(hits.map(|&(banned, _, instead)| Violation { line: term.line, banned, instead }));
    }
    found
}

pub(crate) fn syntax(path: &str) -> Syntax {
    let is_rust = Path::new(path).extension().is_some_and(|ending| ending == "rs");
    if is_rust { Syntax::Rust } else { Syntax::JavaScript }
}

/// Comments, each with its first line; line comments on consecutive lines are one comment.
fn comments(tokens: &[Token<'_>]) -> Vec<(String, usize)> {
    let mut comments: Vec<(String, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Comment) {
        let follows = at.checked_sub(1).is_some_and(|before| {
            tokens[before].kind == TokenKind::Comment
                && token.text.starts_with("//")
                && tokens[before].text.starts_with("//")
                && tokens[before].line + 1 == token.line
        });
        match comments.last_mut().filter(|_| follows) {
            Some((text, _)) => text.extend(["\n", token.text]),
            None => comments.push((token.text.to_owned(), token.line)),
        }
    }
    comments
}

/// The banned terms of a file: in its path, which counts as line 1, its identifiers and its comments.
fn violations_of_file(file: &SourceFile) -> Vec<Violation> {
    let tokens = tokens(&file.text, syntax(&file.path));
    let mut found: Vec<Violation> =
        file.path.split(['/', '.', '-']).flat_map(|part| violations_of_identifier(part, 1)).collect();
    let identifiers = tokens.iter().filter(|token| token.kind == TokenKind::Identifier);
    found.extend(identifiers.flat_map(|token| violations_of_identifier(token.text, token.line)));
    let comments = comments(&tokens);
    found.extend(comments.iter().flat_map(|(text, line)| violations(&terms_of_comment(text, *line), Both)));
    found.sort_by_key(|violation| violation.line);
    found
}

fn violations_of_identifier(identifier: &str, line: usize) -> Vec<Violation> {
    let allowed = ALLOWED_IDENTIFIERS.iter().any(|(name, _)| *name == identifier);
    if allowed { Vec::new() } else { violations(&terms_of_identifier(identifier, line), Identifiers) }
}

/// The sources of the repository. Their number is checked, so that a walk that finds nothing does not pass.
pub(crate) fn sources() -> Vec<SourceFile> {
    let files = files_below("", &[".rs", ".js", ".mjs", ".ts", ".tsx"]);
    assert!(files.len() > 300, "only {} source files", files.len());
    files
}

/// Fails with the faults, the first of them in full.
pub(crate) fn assert_none(faults: &[String], summary: &str) {
    let listed = faults[..faults.len().min(MAX_LISTED)].join("\n");
    let more = faults.len().saturating_sub(MAX_LISTED);
    assert!(faults.is_empty(), "{} faults{summary}:\n{listed}\nand {more} more", faults.len());
}

#[test]
fn names_and_comments_use_standard_terms() {
    let (mut faults, mut counts) = (Vec::new(), BTreeMap::<&str, usize>::new());
    for file in sources() {
        for Violation { line, banned, instead } in violations_of_file(&file) {
            *counts.entry(banned).or_default() += 1;
            faults.push(format!("{}:{line}: `{banned}`: write {instead}", file.path));
        }
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let counts: Vec<String> = counts.iter().map(|(banned, count)| format!("{banned} {count}")).collect();
    assert_none(&faults, &format!(" ({})", counts.join(", ")));
}

#[test]
fn identifiers_are_split_at_case_and_underscore() {
    for (identifier, expected) in [
        ("start_or_replay", &["start", "or", "replay"][..]),
        ("HttpURLOf", &["http", "url", "of"]),
        ("MAX_BODY_BYTES", &["max", "body", "bytes"]),
        ("_lookAgain2nd$x", &["look", "again", "nd", "x"]),
        ("__", &[]),
    ] {
        assert_eq!(segments(identifier), expected, "{identifier}");
    }
}

#[test]
fn banned_terms_are_found_in_identifiers_and_comments() {
    for (path, source, expected) in [
        ("a.rs", "fn a_told() {}", &[(1, "told")][..]),
        ("a.rs", "let x = WhatIsAsked;\n\nuse y::Most;", &[(1, "asked"), (3, "most")]),
        ("a.rs", "let at_most = most_recent.drop_in_place().look_up();", &[]),
        ("a.rs", "let x = \"told\"; // `told` in code is skipped", &[]),
        ("a.rs", "let x = ring::hmac::sign(1.5_f64.floor()); ring_the_key", &[(1, "ring")]),
        ("a.rs", "/// The bound is most of it, in that place.\nfn a() {}", &[]),
        ("a.rs", "/// Whoever reads it\n/// goes\n/// on.\nfn a() {}", &[(1, "whoever"), (2, "goes on")]),
        ("a.rs", "/// ```\n/// told\n/// ```\n/// Told ``a `told` b``.", &[(4, "told")]),
        ("a.rs", "// `a\n// told` told, see https://told.example/", &[(2, "told")]),
        ("a.rs", "// It runs behind a proxy, behind it.", &[(1, "behind")]),
        ("a.js", "const a = `told ${toldAll} told`; /** Stands for `b`. */", &[(1, "told"), (1, "stands")]),
        ("told/seam-of.mjs", "", &[(1, "told"), (1, "seam")]),
    ] {
        let found = violations_of_file(&SourceFile { path: path.to_owned(), text: source.to_owned() });
        let found: Vec<_> = found.iter().map(|violation| (violation.line, violation.banned)).collect();
        assert_eq!(found, expected, "{source}");
    }
}
