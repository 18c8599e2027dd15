use super::opening::nest;
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{CLOSERS, Match};
use crate::scanner::attributes::SECTION;
use crate::scanner::candidate::{Candidate, Reader, Step, Verdict};

pub(in crate::scanner) struct TurnEnd;

impl Reader for TurnEnd {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, _declared: &DeclaredTools) -> Step {
        let at = candidate.space.end(text, candidate.at);
        let rest = &text[at..];
        if let Some((_, length)) = CLOSERS.match_prefix(rest).or_wait(Verdict::NeedMore)? {
            return candidate.read_with(at + length, Self);
        }
        Match::literal(rest, SECTION, ()).or_text()?;
        // If no call follows, all tokens of the run are text, so that none is read twice.
        candidate.marker_len = at;
        nest(candidate, Role::Wrapper, SECTION, at)
    }

    fn finish(&mut self, _candidate: &mut Candidate, _text: &str, _declared: &DeclaredTools) -> Verdict {
        Verdict::Residue
    }
}
