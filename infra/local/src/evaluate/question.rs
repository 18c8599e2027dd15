use std::fmt;

use client_protocols::MAX_MESSAGE_CHARS;
use serde::{Deserialize, Serialize};

/// Questions of one file at most.
const MAX_QUESTIONS: usize = 1000;

/// The built-in questions about documents.
const DOCUMENTS: (&str, &str) = ("documents.jsonl", include_str!("../../questions/documents.jsonl"));

/// The built-in questions: file name and content.
const BUILTIN: [(&str, &str); 2] =
    [("zh.jsonl", include_str!("../../questions/zh.jsonl")), ("en.jsonl", include_str!("../../questions/en.jsonl"))];

const ACCEPTED: &str = "expected one object in each line, such as {\"question\":\"What time is it in Tokyo?\",\"expect\":\"date\"}, \
                        with \"expect\" one of none, search, several, calculation, date, page and documents";

/// The calls that are right for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Expectation {
    /// No call.
    None,
    Search,
    /// At least two different calls.
    Several,
    Calculation,
    /// A call for the current date or time.
    Date,
    /// A call that reads the page that the question names.
    Page,
    /// A search in the documents, and an answer with the facts and the file that the question names.
    Documents,
}

/// All expectations, in the order of reports.
pub(super) const EXPECTATIONS: [Expectation; 7] = [
    Expectation::None,
    Expectation::Search,
    Expectation::Several,
    Expectation::Calculation,
    Expectation::Date,
    Expectation::Page,
    Expectation::Documents,
];

/// A question and the calls that are right for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// File and line, such as `zh.jsonl:3`.
    pub(super) position: String,
    pub(super) text: String,
    pub(super) expectation: Expectation,
    /// What the answer must contain; `|` separates alternatives.
    pub(super) contains: Vec<String>,
    /// The file that the answer must cite.
    pub(super) cites: Option<String>,
}

/// A line of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    question: String,
    expect: Expectation,
    #[serde(default)]
    contains: Vec<String>,
    cites: Option<String>,
}

pub(super) fn builtin() -> Result<Vec<Question>, String> {
    let files = BUILTIN.iter().map(|(name, text)| parse(name, text)).collect::<Result<Vec<_>, _>>()?;
    Ok(files.concat())
}

/// Returns the built-in questions about the built-in documents.
pub(super) fn documents() -> Result<Vec<Question>, String> {
    parse(DOCUMENTS.0, DOCUMENTS.1)
}

/// Parses a file of JSON lines; blank lines are skipped. `file` is its name in messages; an error is one for the person who
/// named it.
pub(super) fn parse(file: &str, text: &str) -> Result<Vec<Question>, String> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let parse_line = |(index, line): (usize, &str)| {
        let number = index + 1;
        let row = parse_row(line).map_err(|reason| format!("{file}, line {number}: {reason}; {ACCEPTED}"))?;
        let position = format!("{file}:{number}");
        let Row { question: text, expect: expectation, contains, cites } = row;
        Ok(Question { position, text, expectation, contains, cites })
    };
    let questions = lines.take(MAX_QUESTIONS + 1).map(parse_line).collect::<Result<Vec<_>, String>>()?;
    match questions.len() {
        0 => Err(format!("{file}: there is no question in it; {ACCEPTED}")),
        1..=MAX_QUESTIONS => Ok(questions),
        _ => Err(format!("{file}: more than {MAX_QUESTIONS} questions; at most {MAX_QUESTIONS} are accepted")),
    }
}

fn parse_row(line: &str) -> Result<Row, String> {
    // An array would be accepted as the fields in their order.
    if !line.trim_start().starts_with('{') {
        return Err("it is not a JSON object".to_owned());
    }
    let row: Row = serde_json::from_str(line).map_err(|error| reason(&error))?;
    if row.question.trim().is_empty() {
        return Err("\"question\" is blank".to_owned());
    }
    if row.question.chars().nth(MAX_MESSAGE_CHARS).is_some() {
        return Err(format!("\"question\" has more than {MAX_MESSAGE_CHARS} characters"));
    }
    if row.expect == Expectation::Page && !row.question.contains("http://") && !row.question.contains("https://") {
        return Err("\"question\" names no page, such as https://example.com, although \"expect\" is page".to_owned());
    }
    if row.expect != Expectation::Documents && !(row.contains.is_empty() && row.cites.is_none()) {
        return Err("\"contains\" and \"cites\" are for questions whose \"expect\" is documents".to_owned());
    }
    Ok(row)
}

/// The text of a parse error; the line in it is always 1.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
    format!("{text} at column {}", error.column())
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let error = parse("own.jsonl", text).unwrap_err();
        error.strip_suffix(&format!("; {ACCEPTED}")).unwrap_or(&error).to_owned()
    }

    #[test]
    fn builtin_questions_cover_each_expectation_in_both_languages() {
        let questions = builtin().unwrap();
        assert_eq!(questions.len(), 30);
        for expectation in EXPECTATIONS.into_iter().filter(|one| *one != Expectation::Documents) {
            for file in ["zh.jsonl:", "en.jsonl:"] {
                let found =
                    questions.iter().any(|one| one.expectation == expectation && one.position.starts_with(file));
                assert!(found, "{file} {expectation}");
            }
        }
        let mut texts: Vec<&str> = questions.iter().map(|question| &*question.text).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 30, "no question is there twice");
    }

    #[test]
    fn document_questions_cite_files_that_exist() {
        let questions = documents().unwrap();
        assert_eq!(questions.len(), 10);
        for question in questions {
            let cited = question.cites.unwrap();
            assert!(super::super::sample_documents::FILES.iter().any(|(path, _)| *path == cited), "{cited}");
            assert!(question.expectation == Expectation::Documents && !question.contains.is_empty());
        }
    }

    #[test]
    fn blank_lines_and_byte_order_mark_are_skipped() {
        let text = "\u{feff}\n{\"question\": \"几点了？\", \"expect\": \"date\"}\r\n\n";
        let question = Question {
            position: "own.jsonl:2".to_owned(),
            text: "几点了？".to_owned(),
            expectation: Expectation::Date,
            contains: Vec::new(),
            cites: None,
        };
        assert_eq!(parse("own.jsonl", text), Ok(vec![question]));
    }

    #[test]
    fn invalid_line_is_named_with_its_reason() {
        let good = "{\"question\":\"a\",\"expect\":\"none\"}\n";
        let expected = "`none`, `search`, `several`, `calculation`, `date`, `page`, `documents`";
        for (line, reason) in [
            (
                r#"{"question":"a","expect":"serach"}"#,
                &*format!("unknown variant `serach`, expected one of {expected} at column 33"),
            ),
            (r#"{"question":"a"}"#, "missing field `expect` at column 16"),
            (
                r#"{"question":"a","expect":"none","x":1}"#,
                "unknown field `x`, expected one of `question`, `expect`, `contains`, `cites` at column 35",
            ),
            (
                r#"{"question":"a","expect":"none","cites":"a.md"}"#,
                "\"contains\" and \"cites\" are for questions whose \"expect\" is documents",
            ),
            (r#"["a","none"]"#, "it is not a JSON object"),
            (r#"{"question":" ","expect":"none"}"#, "\"question\" is blank"),
            (
                r#"{"question":"read it","expect":"page"}"#,
                "\"question\" names no page, such as https://example.com, although \"expect\" is page",
            ),
        ] {
            assert_eq!(error(&format!("{good}\n{line}")), format!("own.jsonl, line 3: {reason}"));
        }
        let long = format!("{{\"question\":\"{}\",\"expect\":\"none\"}}", "a".repeat(MAX_MESSAGE_CHARS + 1));
        assert_eq!(error(&long), "own.jsonl, line 1: \"question\" has more than 32000 characters");
    }

    #[test]
    fn file_has_from_one_to_thousand_questions() {
        assert_eq!(error("\n"), "own.jsonl: there is no question in it");
        let good = "{\"question\":\"a\",\"expect\":\"none\"}\n";
        assert_eq!(parse("own.jsonl", &good.repeat(1000)).map(|questions| questions.len()), Ok(1000));
        assert!(error(&good.repeat(1001)).starts_with("own.jsonl: more than 1000 questions"));
    }
}
