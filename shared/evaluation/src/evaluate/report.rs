use std::collections::BTreeSet;
use std::time::Duration;

use commands::decimal;
use domain::{Usage, one_line};
use llm::ToolMode;

use super::judge::{self, Outcome};
use crate::model_settings::mode_name;

const MAX_QUESTION_CHARS: usize = 60;

const HEADER: [&str; 8] = ["model", "format", "right", "leaked", "rounds", "first token", "tokens in/out", "cost"];

/// Columns with text, which are aligned to the left.
const TEXT_COLUMNS: usize = 2;

/// The outcomes of one model in one call format.
struct Group<'a> {
    model: &'a str,
    tool_mode: ToolMode,
    outcomes: Vec<&'a Outcome>,
}

/// Renders the table, the shares by expectation, and the questions that are not right or show parts of calls.
pub(super) fn render(results: &[(String, Vec<Outcome>)]) -> String {
    let groups: Vec<Group<'_>> = results.iter().flat_map(|(model, outcomes)| groups_of(model, outcomes)).collect();
    let rows: Vec<[String; 8]> = groups.iter().map(Group::row).collect();
    let mut lines = table(&rows);
    lines.push(String::new());
    lines.extend(groups.iter().map(Group::by_expectation));
    lines.extend(groups.iter().filter_map(Group::tool_failures));
    for group in &groups {
        lines.extend(group.imperfect());
    }
    lines.join("\n")
}

fn groups_of<'a>(model: &'a str, outcomes: &'a [Outcome]) -> Vec<Group<'a>> {
    let group = |tool_mode: ToolMode| {
        let outcomes: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.tool_mode == tool_mode).collect();
        (!outcomes.is_empty()).then_some(Group { model, tool_mode, outcomes })
    };
    [ToolMode::Native, ToolMode::Prompted].into_iter().filter_map(group).collect()
}

impl Group<'_> {
    fn title(&self) -> String {
        format!("{}, {}", self.model, mode_name(self.tool_mode))
    }

    fn row(&self) -> [String; 8] {
        let (right, all) = (self.right().count(), self.outcomes.len());
        let mut usage = Usage::default();
        self.outcomes.iter().for_each(|outcome| usage.join(outcome.observation.usage));
        let leaked: usize = self.outcomes.iter().map(|outcome| outcome.leaked_chars).sum();
        let first_tokens = self.outcomes.iter().filter_map(|outcome| outcome.observation.first_token).collect();
        [
            self.model.to_owned(),
            mode_name(self.tool_mode).to_owned(),
            format!("{right}/{all} ({} %)", right * 100 / all.max(1)),
            leaked.to_string(),
            mean(self.outcomes.iter().map(|outcome| outcome.observation.rounds)),
            median(first_tokens).map_or_else(|| "-".to_owned(), |time| format!("{:.1} s", time.as_secs_f64())),
            format!("{}/{}", usage.input_tokens, usage.output_tokens),
            usage.cost_micros.map_or_else(|| "-".to_owned(), decimal),
        ]
    }

    fn right(&self) -> impl Iterator<Item = &&Outcome> {
        self.outcomes.iter().filter(|outcome| outcome.is_right())
    }

    fn by_expectation(&self) -> String {
        let share = |expectation| {
            let has_it = |outcome: &&&Outcome| outcome.question.expectation == expectation;
            let (all, right) = (self.outcomes.iter().filter(has_it).count(), self.right().filter(has_it).count());
            format!("{expectation} {right}/{all}")
        };
        let expectations: BTreeSet<_> = self.outcomes.iter().map(|outcome| outcome.question.expectation).collect();
        let shares: Vec<String> = expectations.into_iter().map(share).collect();
        format!("{}: {}", self.title(), shares.join(", "))
    }

    /// A note if calls failed in a tool, which is no fault of the model.
    fn tool_failures(&self) -> Option<String> {
        let count: usize = self.outcomes.iter().map(|outcome| judge::count_tool_failures(&outcome.observation)).sum();
        (count > 0)
            .then(|| format!("{}: {count} of the calls failed in their tools; `check` tests the search", self.title()))
    }

    /// The questions that are not right, or whose answer shows parts of calls.
    fn imperfect(&self) -> Vec<String> {
        let is_imperfect = |outcome: &&&Outcome| !outcome.is_right() || outcome.leaked_chars > 0;
        let line = |outcome: &&Outcome| {
            format!(
                "  {} \"{}\": {}",
                outcome.question.position,
                one_line(&outcome.question.text, MAX_QUESTION_CHARS),
                outcome.summary()
            )
        };
        let lines: Vec<String> = self.outcomes.iter().filter(is_imperfect).map(line).collect();
        let heading = (!lines.is_empty()).then(|| [String::new(), format!("Faults of {}:", self.title())]);
        heading.into_iter().flatten().chain(lines).collect()
    }
}

fn table(rows: &[[String; 8]]) -> Vec<String> {
    let header = HEADER.map(str::to_owned);
    let all: Vec<&[String; 8]> = std::iter::once(&header).chain(rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let cell = |row: &[String; 8], column: usize| match column {
        0..TEXT_COLUMNS => format!("{:<1$}", row[column], width(column)),
        _ => format!("{:>1$}", row[column], width(column)),
    };
    let line = |row: &&[String; 8]| (0..row.len()).map(|column| cell(row, column)).collect::<Vec<_>>().join("  ");
    all.iter().map(line).collect()
}

/// The mean with one decimal.
fn mean(numbers: impl ExactSizeIterator<Item = u32>) -> String {
    let count = numbers.len().max(1);
    let tenths = numbers.map(|number| number as usize).sum::<usize>() * 10 / count;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use domain::ToolCall;
    use serde_json::Value;

    use super::super::product::{Observation, ObservedCall};
    use super::super::question::{Expectation, Question};
    use super::*;

    fn outcome(tool_mode: ToolMode, faults: &[&str], leaked_chars: usize) -> Outcome {
        let usage = Usage { input_tokens: 100, output_tokens: 20, cost_micros: Some(1_250), ..Usage::default() };
        let call = ToolCall { id: "c".to_owned(), name: "search_web".to_owned(), arguments: Value::Null };
        let failed = ObservedCall { call, failure: Some("failed".to_owned()) };
        let observation = Observation {
            calls: vec![failed; leaked_chars / 10],
            rounds: 2,
            first_token: Some(Duration::from_millis(1_240)),
            usage,
            ..Observation::default()
        };
        let question = Question {
            position: "own.jsonl:2".to_owned(),
            text: format!("天气\n{}", "x".repeat(70)),
            expectation: Expectation::Search,
            contains: Vec::new(),
            cites: None,
        };
        let faults = faults.iter().map(|fault| (*fault).to_owned()).collect();
        Outcome { question, observation, tool_mode, faults, leaked_chars }
    }

    #[test]
    fn report_has_row_per_model_and_format() {
        let native = [outcome(ToolMode::Native, &[], 0), outcome(ToolMode::Native, &[], 0)].to_vec();
        let prompted = vec![outcome(ToolMode::Prompted, &["no call of search_web"], 34)];
        let results = [("a".to_owned(), [native, prompted.clone()].concat()), ("long".to_owned(), prompted)];
        let question = format!("天气 {}…", "x".repeat(56));
        let line = format!("  own.jsonl:2 \"{question}\": no call of search_web, 34 characters of calls were shown");
        let expected = [
            "model  format          right  leaked  rounds  first token  tokens in/out      cost",
            "a      native    2/2 (100 %)       0     2.0        1.2 s         200/40  0.002500",
            "a      prompted    0/1 (0 %)      34     2.0        1.2 s         100/20  0.001250",
            "long   prompted    0/1 (0 %)      34     2.0        1.2 s         100/20  0.001250",
            "",
            "a, native: search 2/2",
            "a, prompted: search 0/1",
            "long, prompted: search 0/1",
            "a, prompted: 3 of the calls failed in their tools; `check` tests the search",
            "long, prompted: 3 of the calls failed in their tools; `check` tests the search",
            "",
            "Faults of a, prompted:",
            &line,
            "",
            "Faults of long, prompted:",
            &line,
        ];
        assert_eq!(render(&results), expected.join("\n"));
    }

    #[test]
    fn median_and_mean_of_no_numbers_exist() {
        assert_eq!((median(Vec::new()), mean([].into_iter())), (None, "0.0".to_owned()));
        assert_eq!(mean([1, 2].into_iter()), "1.5");
    }
}
