use std::path::Path;
use std::{fmt, io};

use client_protocols::MAX_MESSAGE_CHARS;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

const MAX_QUESTIONS: usize = 1000;

const DOCUMENTS: (&str, &str) = ("documents.jsonl", include_str!("../../questions/documents.jsonl"));

/// The built-in questions: file name and content.
const BUILTIN: [(&str, &str); 2] =
    [("zh.jsonl", include_str!("../../questions/zh.jsonl")), ("en.jsonl", include_str!("../../questions/en.jsonl"))];

const ACCEPTED: &str = "expected one object in each line, such as {\"question\":\"What time is it in Tokyo?\",\"expect\":\"date\"}, \
                        with \"expect\" one of none, search, several, calculation, date, page and documents";

/// In the order of reports.
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

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    /// File and line, such as `zh.jsonl:3`.
    #[serde(skip)]
    pub(super) position: String,
    #[serde(rename = "question")]
    pub(super) text: String,
    #[serde(rename = "expect")]
    pub(super) expectation: Expectation,
    /// What the answer must contain; `|` separates alternatives.
    #[serde(default)]
    pub(super) contains: Vec<String>,
    /// The file that the answer must cite.
    pub(super) cites: Option<String>,
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
    let parse_numbered = |(index, line): (usize, &str)| {
        let number = index + 1;
        let question = parse_line(line).map_err(|reason| format!("{file}, line {number}: {reason}; {ACCEPTED}"))?;
        Ok(Question { position: format!("{file}:{number}"), ..question })
    };
    let questions = lines.take(MAX_QUESTIONS + 1).map(parse_numbered).collect::<Result<Vec<_>, String>>()?;
    match questions.len() {
        0 => Err(format!("{file}: there is no question in it; {ACCEPTED}")),
        1..=MAX_QUESTIONS => Ok(questions),
        _ => Err(format!("{file}: more than {MAX_QUESTIONS} questions; at most {MAX_QUESTIONS} are accepted")),
    }
}

fn parse_line(line: &str) -> Result<Question, String> {
    // An array would be accepted as the fields in their order.
    if !line.trim_start().starts_with('{') {
        return Err("it is not a JSON object".to_owned());
    }
    let question: Question = serde_json::from_str(line).map_err(|error| reason(&error))?;
    if question.text.trim().is_empty() {
        return Err("\"question\" is blank".to_owned());
    }
    if question.text.chars().nth(MAX_MESSAGE_CHARS).is_some() {
        return Err(format!("\"question\" has more than {MAX_MESSAGE_CHARS} characters"));
    }
    if question.expectation == Expectation::Page
        && !question.text.contains("http://")
        && !question.text.contains("https://")
    {
        return Err("\"question\" names no page, such as https://example.com, although \"expect\" is page".to_owned());
    }
    if question.expectation != Expectation::Documents && !(question.contains.is_empty() && question.cites.is_none()) {
        return Err("\"contains\" and \"cites\" are for questions whose \"expect\" is documents".to_owned());
    }
    Ok(question)
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

/// The documents of the built-in questions: path and content.
const SAMPLE_DOCUMENTS: [(&str, &str); 12] = [
    ("contracts/hosting.md", include_str!("../../questions/documents/contracts/hosting.md")),
    ("contracts/office-lease.md", include_str!("../../questions/documents/contracts/office-lease.md")),
    (
        "contracts/old/office-lease-2019.md",
        include_str!("../../questions/documents/contracts/old/office-lease-2019.md"),
    ),
    ("handbook/on-call.md", include_str!("../../questions/documents/handbook/on-call.md")),
    ("handbook/travel.md", include_str!("../../questions/documents/handbook/travel.md")),
    ("minutes/2026-03-10.md", include_str!("../../questions/documents/minutes/2026-03-10.md")),
    ("minutes/2026-05-12.md", include_str!("../../questions/documents/minutes/2026-05-12.md")),
    ("minutes/readme.txt", include_str!("../../questions/documents/minutes/readme.txt")),
    ("产品/白鹭.md", include_str!("../../questions/documents/产品/白鹭.md")),
    ("产品/苍鹭.md", include_str!("../../questions/documents/产品/苍鹭.md")),
    ("制度/年假.md", include_str!("../../questions/documents/制度/年假.md")),
    ("制度/报销.md", include_str!("../../questions/documents/制度/报销.md")),
];

/// Writes the documents of the built-in questions to a temporary folder.
pub(super) fn write_documents() -> io::Result<TempDir> {
    let folder = TempDir::new()?;
    for (path, text) in SAMPLE_DOCUMENTS {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        std::fs::write(file, text)?;
    }
    Ok(folder)
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
        for expectation in [
            Expectation::None,
            Expectation::Search,
            Expectation::Several,
            Expectation::Calculation,
            Expectation::Date,
            Expectation::Page,
        ] {
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
            assert!(SAMPLE_DOCUMENTS.iter().any(|(path, _)| *path == cited), "{cited}");
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
