use std::ops::ControlFlow::Continue;

use super::body::Body;
use super::candidate::{Candidate, CandidateStage, Step, Verdict};
use super::gemma::{GemmaBrackets, parse_arguments};
use crate::declared_tools::DeclaredTools;
use crate::segment::{JsonFault, MalformedReason};

impl Candidate {
    /// Begins the arguments; the name before them has been read.
    pub(super) fn begin_gemma(&mut self, at: usize) -> Step {
        self.at = at;
        self.stage = CandidateStage::Gemma { brackets: GemmaBrackets::default(), start: at };
        Continue(())
    }

    /// Reads arguments that began at `start`; `end` is their end, or the position up to which they were read.
    pub(super) fn read_gemma(
        &mut self,
        text: &str,
        start: usize,
        end: Result<usize, usize>,
        declared: &DeclaredTools,
    ) -> Step {
        self.at = end.unwrap_or_else(|at| at);
        let Ok(end) = end else { return Step::Break(Verdict::NeedMore) };
        let name = self.name.take().unwrap_or_default();
        if let Some(call) = parse_arguments(&text[start..end], name, declared) {
            self.calls.push(call);
            self.calls_end = end;
            self.stage = CandidateStage::Body(Body::tail());
        } else {
            let reason = MalformedReason::NotJson(JsonFault::Unreadable);
            self.stage = CandidateStage::Body(Body::unreadable(reason));
        }
        Continue(())
    }
}
