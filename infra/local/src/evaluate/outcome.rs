use std::time::Duration;

use domain::Usage;
use llm::ToolMode;

use super::judge;
use super::leaks;
use super::observation::Observation;
use super::question::{Expectation, Question};

/// The result of a question.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    /// File and line of the question.
    pub(super) position: String,
    pub(super) question: String,
    pub(super) expectation: Expectation,
    /// How the model was given tools.
    pub(super) tool_mode: ToolMode,
    pub(super) is_answered: bool,
    /// What is not right; empty if all calls are.
    pub(super) faults: Vec<String>,
    /// Calls that failed in the tool.
    pub(super) tool_failures: usize,
    /// Characters of calls in the shown text.
    pub(super) leaked_chars: usize,
    pub(super) rounds: u32,
    pub(super) first_token: Option<Duration>,
    pub(super) usage: Usage,
}

impl Outcome {
    /// Judges what was observed; `default_mode` is that of a model that was not called.
    pub(super) fn new(question: &Question, observation: &Observation, default_mode: ToolMode) -> Self {
        Self {
            position: question.position.clone(),
            question: question.text.clone(),
            expectation: question.expectation,
            tool_mode: observation.tool_mode.unwrap_or(default_mode),
            is_answered: judge::is_answered(observation),
            faults: judge::faults(question, observation),
            tool_failures: judge::count_tool_failures(observation),
            leaked_chars: leaks::count_leaked_chars(&observation.text, &judge::TOOLS),
            rounds: observation.rounds,
            first_token: observation.first_token,
            usage: observation.usage,
        }
    }

    pub(super) fn is_right(&self) -> bool {
        self.faults.is_empty()
    }

    /// What happened, in one line: `right`, or the faults; then the leaked characters, if any.
    pub(super) fn summary(&self) -> String {
        let mut parts = self.faults.clone();
        if parts.is_empty() {
            parts.push("right".to_owned());
        }
        match self.leaked_chars {
            0 => {}
            1 => parts.push("1 character of a call was shown".to_owned()),
            count => parts.push(format!("{count} characters of calls were shown")),
        }
        parts.join(", ")
    }
}
