//! Cases as data: the project's own, and those of a folder named by `EXTRA_CASES`.
//!
//! A case is `{"id","format","tools","text","expect":{"content","calls"}}`, where present with `schema` (a tool's
//! properties by its name), `required` (its required ones), `reasoning` and `alternatives` (cases with the same text and
//! another expectation). Our own are compared exactly and must all be right. The others are compared without the white
//! space around the content, for their sources disagree about it, and only scored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::{fs, io};

use domain::ToolSpec;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool_calls::ReplyEnd;

use crate::support::{Outcome, scan, spec};

/// One text and its expected result.
#[derive(Deserialize)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) format: String,
    #[serde(default)]
    tools: Vec<String>,
    #[serde(default)]
    schema: Option<Map<String, Value>>,
    #[serde(default)]
    required: Map<String, Value>,
    pub(crate) text: String,
    expect: Expect,
    #[serde(default)]
    reasoning: Option<String>,
    #[serde(default)]
    alternatives: Vec<String>,
}

#[derive(Deserialize)]
struct Expect {
    content: Option<String>,
    calls: Vec<Value>,
}

impl Case {
    /// The tools as they were declared.
    pub(crate) fn specs(&self) -> Vec<ToolSpec> {
        let properties = |name: &str| self.schema.as_ref()?.get(name);
        let parameters = |name: &str| match properties(name) {
            Some(properties) => {
                json!({"type": "object", "properties": properties, "required": self.required.get(name).unwrap_or(&json!([]))})
            }
            None => json!({}),
        };
        self.tools.iter().map(|name| spec(name, parameters(name))).collect()
    }

    fn outcome(&self) -> Outcome {
        scan(&self.specs(), [self.text.as_str()], ReplyEnd::Complete)
    }

    fn calls_are(&self, outcome: &Outcome) -> bool {
        let expected: Vec<_> = self.expect.calls.iter().map(|call| json!([call["name"], call["arguments"]])).collect();
        outcome.calls() == expected
    }

    fn is_right(&self, outcome: &Outcome) -> bool {
        let content = self.expect.content.as_ref().is_none_or(|content| content.trim() == outcome.content().trim());
        content && self.calls_are(outcome)
    }

    fn is_exact(&self, outcome: &Outcome) -> bool {
        let content = self.expect.content.as_ref().is_none_or(|content| *content == outcome.content());
        let thinking = self.reasoning.as_deref().unwrap_or_default() == outcome.thinking;
        content && thinking && self.calls_are(outcome)
    }
}

/// Lists the case files of a folder, in order.
fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.sort();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    Ok(files)
}

/// Reads the cases of a folder; skips invalid lines.
fn cases_of(folder: &Path) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for file in files_of(folder)? {
        let text = fs::read_to_string(file)?;
        cases.extend(text.lines().filter_map(|line| serde_json::from_str::<Case>(line).ok()));
    }
    Ok(cases)
}

/// The folder of the project's own cases.
fn own_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// The project's own cases.
pub(crate) fn own_cases() -> io::Result<Vec<Case>> {
    cases_of(&own_folder())
}

/// The cases of the folder in `EXTRA_CASES`; none if it is unset.
pub(crate) fn extra_cases() -> io::Result<Vec<Case>> {
    std::env::var_os("EXTRA_CASES").map_or_else(|| Ok(Vec::new()), |folder| cases_of(Path::new(&folder)))
}

#[test]
fn own_fixture_lines_are_cases_with_unique_ids() -> io::Result<()> {
    let mut lines = 0;
    for file in files_of(&own_folder())? {
        lines += fs::read_to_string(file)?.lines().count();
    }
    let cases = own_cases()?;
    let ids: BTreeSet<_> = cases.iter().map(|case| &case.id).collect();
    assert_eq!((cases.len(), ids.len()), (lines, lines));
    Ok(())
}

#[test]
fn own_cases_match_exactly() -> io::Result<()> {
    let cases = own_cases()?;
    print(&score(&cases, Case::is_exact));
    for case in &cases {
        let outcome = case.outcome();
        assert!(case.is_exact(&outcome), "{}\n{:?}\ncame out as\n{outcome:#?}", case.id, case.text);
    }
    Ok(())
}

#[test]
fn extra_cases_are_scored_by_format() -> io::Result<()> {
    let cases = extra_cases()?;
    let by_id: HashMap<_, _> = cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let right = |case: &Case, outcome: &Outcome| {
        let mut alternatives = case.alternatives.iter().filter_map(|id| by_id.get(id.as_str()));
        case.is_right(outcome) || alternatives.any(|other| other.is_right(outcome))
    };
    print(&score(&cases, right));
    Ok(())
}

/// Per format: the number of cases and of correct ones.
fn score(cases: &[Case], right: impl Fn(&Case, &Outcome) -> bool) -> BTreeMap<&str, (usize, usize)> {
    let mut score = BTreeMap::new();
    for case in cases {
        let entry: &mut (usize, usize) = score.entry(case.format.as_str()).or_default();
        entry.0 += 1;
        entry.1 += usize::from(right(case, &case.outcome()));
    }
    score
}

#[expect(clippy::print_stdout, reason = "the score is for whoever runs the tests with --nocapture")]
fn print(score: &BTreeMap<&str, (usize, usize)>) {
    let sum = score.values().fold((0, 0), |sum, (all, right)| (sum.0 + all, sum.1 + right));
    for (format, (all, right)) in score.iter().chain([(&"all", &sum)]) {
        println!("{format:<24} {right:>4} of {all:>4}");
    }
}
