use std::ops::ControlFlow::{Break, Continue};

use super::body::Body;
use super::candidate::{Candidate, CandidateStage, Step, Verdict};
use super::pythonic::parse_calls;
use crate::declared_tools::DeclaredTools;

impl Candidate {
    /// Reads a list that began at `start`; `end` is its end, or the position up to which it was read.
    pub(super) fn read_python(
        &mut self,
        text: &str,
        start: usize,
        end: Result<usize, usize>,
        declared: &DeclaredTools,
    ) -> Step {
        self.at = end.unwrap_or_else(|at| at);
        let Ok(end) = end else { return Break(Verdict::NeedMore) };
        match parse_calls(&text[start..end]) {
            Some(calls)
                if !self.is_bare() || calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) =>
            {
                self.calls = calls;
                self.calls_end = end;
                self.stage = CandidateStage::Body(Body::tail());
                Continue(())
            }
            None if !self.is_bare() => {
                self.stage = CandidateStage::Body(Body::unreadable("the list of calls cannot be read"));
                Continue(())
            }
            _ => Break(Verdict::Text),
        }
    }
}
