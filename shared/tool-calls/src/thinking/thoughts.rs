//! The labels of `ReAct`: `Thought:` before reasoning, and `Final Answer:` before the answer.

use super::{ReplyPart, push_part};
use crate::markers::Match;
use crate::scanner::prose::ACTION;

const THOUGHT: &str = "Thought:";
const ANSWER: &str = "Final Answer:";
/// Maximum number of blanks before a label.
const MAX_BLANKS: usize = 8;

/// Divides the text of a reply at its labels, which count only at the beginning of a line and are not shown.
pub(super) struct Thoughts {
    pub(super) in_thought: bool,
    begins_line: bool,
    /// Whether white space is dropped: it follows a label.
    drops_space: bool,
    /// The beginning of a line that may become a label.
    held: String,
}

impl Default for Thoughts {
    fn default() -> Self {
        Self { in_thought: false, begins_line: true, drops_space: false, held: String::new() }
    }
}

impl Thoughts {
    /// Whether text without a line break passes unchanged.
    pub(super) fn is_inert(&self) -> bool {
        !self.in_thought && !self.begins_line && !self.drops_space
    }

    /// Takes text and appends what is certain by now; at the end of the reply all of it is.
    pub(super) fn push(&mut self, text: &str, ended: bool, parts: &mut Vec<ReplyPart>) {
        let text = std::mem::take(&mut self.held) + text;
        let mut rest = text.as_str();
        while !rest.is_empty() {
            if self.drops_space {
                rest = rest.trim_start();
                self.drops_space = rest.is_empty();
            }
            match if self.begins_line { match_label(rest) } else { Match::None } {
                Match::Full(label, length) => {
                    (self.in_thought, self.begins_line) = (label == THOUGHT, false);
                    if label == ACTION {
                        push_part(ACTION, self.in_thought, parts);
                    } else {
                        self.drops_space = true;
                    }
                    rest = &rest[length..];
                }
                Match::Partial if !ended => {
                    rest.clone_into(&mut self.held);
                    return;
                }
                Match::Partial | Match::None => {
                    let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
                    push_part(&rest[..line], self.in_thought, parts);
                    self.begins_line = rest[..line].ends_with('\n');
                    rest = &rest[line..];
                }
            }
        }
    }
}

/// Matches a label at the beginning of a line, with the blanks before it.
fn match_label(line: &str) -> Match<&'static str> {
    let text = line.trim_start_matches([' ', '\t']);
    let blanks = line.len() - text.len();
    let labels = [THOUGHT, ANSWER, ACTION];
    match labels.into_iter().find(|label| text.starts_with(label)) {
        _ if blanks > MAX_BLANKS => Match::None,
        Some(label) => Match::Full(label, blanks + label.len()),
        None if labels.into_iter().any(|label| label.starts_with(text)) => Match::Partial,
        None => Match::None,
    }
}
