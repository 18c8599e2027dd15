//! Each fact about a provider in the model client has its source and its date in a comment above.

use crate::sources::{SourceFile, files_below};

const FOLDER: &str = "shared/llm/src/";

/// The files with facts, and how the lines with one begin.
const FACTS: &[(&str, &[&str])] = &[
    ("providers/bedrock/models.rs", &["const MODELS"]),
    ("providers/", &["pub(super) const ROW", "const FAMILIES", "const RESPONSES_ONLY", "const FIRST_VERSION"]),
    ("capabilities/native_families.rs", &["(\""]),
    ("capabilities/image_families.rs", &["(\""]),
    (
        "errors/endpoint_error/refusals.rs",
        &["code(\"", "code_part(\"", "text(&[", "limit(&[", "Refusal { statuses: &[], pattern: Pattern::Text(&["],
    ),
    ("errors/endpoint_error/parameters.rs", &["(\""]),
    ("errors/endpoint_error/meaning.rs", &["(\""]),
    ("errors/endpoint_error/wait.rs", &["const BEFORE_WAIT"]),
    ("models/builtin.rs", &["default_base: Some("]),
    (
        "wire/anthropic/",
        &["const VERSION", "const MAX_TOKENS", "fn finish(", "fn adaptive_tokens(", "enum ImageSource"],
    ),
    ("wire/converse/", &["fn finish(", "struct ImageSource"]),
    ("wire/chat_completions/request.rs", &["enum PicturePart"]),
    ("wire/responses/request.rs", &["enum Part"]),
    ("wire/ollama/request.rs", &["images: "]),
    ("wire/call_numbers.rs", &["short: bool"]),
    (
        "wire/chat_completions/chunk.rs",
        &[
            "base_resp: ",
            "x_groq: ",
            "native_finish_reason: ",
            "reasoning_details: ",
            "extra_content: ",
            "const CACHED",
            "const CACHE_WRITES",
            "pub(super) fn to_usage(",
        ],
    ),
    ("wire/chat_completions/mod.rs", &["fn finish("]),
    ("wire/fields.rs", &["const MAX_STOP_SEQUENCES"]),
    ("wire/functions.rs", &["pub(crate) const SIGNATURE_PLACEHOLDER", "pub(crate) enum CacheControl"]),
    ("wire/gemini/", &["fn finish(", "const AUTO_BUDGET", "fn budget(", "struct Blob"]),
    ("wire/response_decoder.rs", &["fn error_field("]),
];

/// What a source is: an address, a recording, or what its author had read.
const SOURCES: &[&str] = &[
    "https://",
    "ecorded",
    "uoted in public code",
    "ocumentation",
    "een in ",
    "ssue threads",
    "ervice model of",
    "rice map in",
    "ode of litellm",
];

/// The facts of a file: the line of each, and the comment above it or above the facts before it.
fn facts<'a>(text: &'a str, starts: &[&str]) -> Vec<(&'a str, String)> {
    let (mut facts, mut comment, mut follows_comment) = (Vec::new(), String::new(), false);
    for line in text.lines().map(str::trim).take_while(|line| *line != "#[cfg(test)]") {
        let continues = line.starts_with("//");
        if continues && !follows_comment {
            comment.clear();
        }
        if continues {
            comment.push_str(line);
        } else if starts.iter().any(|start| line.starts_with(start)) {
            facts.push((line, comment.clone()));
        }
        follows_comment = continues || line.starts_with("#[");
    }
    facts
}

/// Whether a comment has a year and a month.
fn has_date(comment: &str) -> bool {
    let is_date = |at: usize| {
        let date = comment.as_bytes().get(at..at + 7);
        date.is_some_and(|date| date[4] == b'-' && [0, 1, 2, 3, 5, 6].iter().all(|digit| date[*digit].is_ascii_digit()))
    };
    comment.match_indices("20").any(|(at, _)| is_date(at))
}

fn all_facts(files: &[SourceFile]) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for (path, starts) in FACTS {
        let of_path = files.iter().filter(|file| file.path[FOLDER.len()..].starts_with(path));
        let before = all.len();
        for file in of_path {
            let found = facts(&file.text, starts).into_iter();
            all.extend(found.map(|(line, comment)| (format!("{}: {line}", file.path), comment)));
        }
        assert!(all.len() > before, "{path} has no facts");
    }
    all
}

#[test]
fn facts_about_providers_have_source_and_date() {
    let files = files_below(FOLDER.trim_end_matches('/'), &[".rs"]);
    let rows = files.iter().filter(|file| file.path.starts_with("shared/llm/src/providers/"));
    let no_rows = ["/mod.rs", "/tests.rs", "/bedrock/models.rs"];
    let rows = rows.filter(|file| !no_rows.iter().any(|end| file.path.ends_with(end)));
    assert!(rows.clone().all(|file| file.text.contains("pub(super) const ROW")), "each provider has a row");
    let facts = all_facts(&files);
    let undated: Vec<_> = facts.iter().filter(|(_, comment)| !has_date(comment)).map(|(fact, _)| fact).collect();
    assert!(undated.is_empty(), "{} facts without a date above:\n{undated:#?}", undated.len());
    let is_sourced = |comment: &String| SOURCES.iter().any(|source| comment.contains(source));
    let unsourced: Vec<_> = facts.iter().filter(|(_, comment)| !is_sourced(comment)).map(|(fact, _)| fact).collect();
    assert!(unsourced.is_empty(), "{} facts without a source above:\n{unsourced:#?}", unsourced.len());
}

#[test]
fn fact_without_comment_is_found() {
    let text = "// Source: https://a.example, 2026-11.\nrow(\"a\"),\nrow(\"b\"),\n\n// No reason.\nrow(\"c\"),\n#[cfg(test)]\nrow(\"d\")";
    let found = facts(text, &["row("]);
    let dated: Vec<_> = found.iter().map(|(line, comment)| (*line, has_date(comment))).collect();
    assert_eq!(dated, [("row(\"a\"),", true), ("row(\"b\"),", true), ("row(\"c\"),", false)]);
    assert!(!has_date("// 2026, 20-11-2026") && has_date("// seen 2025-01"));
}
