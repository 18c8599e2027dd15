use std::ops::ControlFlow::{Break, Continue};

use super::body::Body;
use super::candidate::{Candidate, CandidateStage, Certainty, Step, Verdict};
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
                parse_arguments(&text[start..end], name, declared).map(|call| (vec![call], true))
            }
            _ => parse_calls(&text[start..end]),
        };
        match calls {
            Some((calls, is_whole))
                if !self.is_bare() || calls.iter().all(|call| declared.accepts(&call.name, &call.arguments)) =>
            {
                if !is_whole {
                    self.fault.get_or_insert((MalformedReason::NotPython, start..end));
                }
                if !is_whole || !calls.iter().all(|call| declared.fits(&call.name, &call.arguments)) {
                    self.certainty = Certainty::Possible;
                }
                self.calls.extend(calls);
                self.calls_end = end;
                self.stage = CandidateStage::Body(Body::after_python());
                Continue(())
            }
            None if !self.calls.is_empty() => {
                self.fault.get_or_insert((MalformedReason::NotPython, start..end));
                self.stage = CandidateStage::Body(Body::after_python());
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
