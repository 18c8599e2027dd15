//! The end of a reply in an opening marker, or directly after it.

use super::candidate::{Candidate, CandidateStage, Verdict};
use crate::segment::MalformedReason;

/// With more opening markers in a row the text is no call.
const MAX_NESTED: usize = 2;

impl Candidate {
    /// Decides a candidate in or directly after whose opening marker the reply ends. At the beginning of a line it is a call
    /// that the model did not continue; within a line it is prose about the marker.
    pub(super) fn finish_opening(&self, text: &str) -> Verdict {
        // Another tag was begun on the next line.
        let continues = text[self.payload..].strip_prefix('\n').is_some_and(|rest| rest.starts_with('<'));
        let is_marked = self.begins_line() || self.nested > 0 || self.is_control_token || continues;
        let is_opening = match &self.stage {
            CandidateStage::WrapperTag
            | CandidateStage::FunctionTag { .. }
            | CandidateStage::Payload
            | CandidateStage::Named { .. } => true,
            CandidateStage::Elements(elements) => !elements.is_in_tool_tag(),
            _ => false,
        };
        if self.is_bare() || !is_marked || !is_opening || self.nested > MAX_NESTED {
            return Verdict::Text;
        }
        let content = &text[self.payload..];
        match content.chars().next() {
            _ if content.trim().is_empty() => Verdict::Residue,
            Some(' ' | '\t') => Verdict::Text,
            _ => Verdict::Unreadable(MalformedReason::UnknownFormat, text.len()),
        }
    }
}
