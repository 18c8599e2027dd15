use llm::ToolMode;

use super::judge;
use super::leaks;
use super::observation::Observation;
use super::question::Question;

/// A question, what was observed, and what is right about it.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) question: Question,
    pub(super) observation: Observation,
    /// How the model was given tools.
    pub(super) tool_mode: ToolMode,
    /// What is not right; empty if all calls are.
    pub(super) faults: Vec<String>,
    /// Characters of calls in the shown text.
    pub(super) leaked_chars: usize,
}

impl Outcome {
    /// Judges what was observed; `default_mode` is that of a model that was not called.
    pub(super) fn new(question: &Question, observation: Observation, default_mode: ToolMode) -> Self {
        Self {
            tool_mode: observation.tool_mode.unwrap_or(default_mode),
            faults: judge::faults(question, &observation),
            leaked_chars: leaks::count_leaked_chars(&observation.text, &judge::TOOLS),
            question: question.clone(),
            observation,
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        judge::is_answered(&self.observation)
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
