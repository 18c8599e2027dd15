use std::ops::ControlFlow::{Break, Continue};

use super::body::Body;
use super::candidate::{Candidate, CandidateStage, Step, Verdict};
use super::pythonic::{parse_arguments, parse_calls};
use crate::declared_tools::DeclaredTools;
use crate::segment::MalformedReason;

impl Candidate {
    /// Reads a list, or the arguments after a name, that began at `start`; `end` is its end, or the position up to which it was read.
    pub(super) fn read_python(
        &mut self,
        text: &str,
        start: usize,
        end: Result<usize, usize>,
        declared: &DeclaredTools,
    ) -> Step {
        self.at = end.unwrap_or_else(|at| at);
        let Ok(end) = end else { return Break(Verdict::NeedMore) };
        let calls = match self.name.take() {
            Some(name) if text[start..].starts_with('(') => {
                parse_arguments(&text[start..end], name, declared).map(|call| vec![call])
            }
            _ => parse_calls(&text[start..end]),
        };
        match calls {
            Some(calls)
                if !self.is_bare() || calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) =>
            {
                self.calls = calls;
                self.calls_end = end;
                self.stage = CandidateStage::Body(Body::tail());
                Continue(())
            }
            None if !self.is_bare() => {
                self.stage = CandidateStage::Body(Body::unreadable(MalformedReason::NotPython));
                Continue(())
            }
            _ => Break(Verdict::Text),
        }
    }
}
