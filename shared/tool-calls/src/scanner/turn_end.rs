//! Text after the end of the model's turn.

use std::ops::ControlFlow::{Break, Continue};

use super::candidate::{Candidate, Step, Verdict};
use super::prose::SECTION;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match};

impl Candidate {
    /// Reads after the end of the turn: white space and other such tokens.
    pub(super) fn read_after_turn_end(&mut self, text: &str) -> Step {
        let at = self.space.end(text, self.at);
        let rest = &text[at..];
        match CLOSERS.match_prefix(rest) {
            Match::Full(_, length) => {
                self.at = at + length;
                Continue(())
            }
            Match::Partial => Break(Verdict::NeedMore),
            Match::None if rest.starts_with(SECTION) => {
                // If no call follows, all tokens of the run are text, so that none is read twice.
                self.marker_len = at;
                self.nest(Self::from_marker(Role::Wrapper, SECTION, true), at + SECTION.len())
            }
            Match::None if SECTION.starts_with(rest) => Break(Verdict::NeedMore),
            Match::None => Break(Verdict::Text),
        }
    }
}
