//! Functionary 3.2: `>>>f`, a line break, and the arguments as JSON; `>>>all` and a line break before text.

use std::ops::ControlFlow::{Break, Continue};

use super::body::Body;
use super::candidate::{Candidate, CandidateStage, Step, Verdict};
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;

/// The recipient of text.
const ALL: &str = "all";
/// Maximum length of a recipient, in bytes.
const MAX_RECIPIENT_BYTES: usize = 128;

/// A recipient at the beginning of a text.
enum Recipient<'a> {
    /// The line may still become one.
    Open,
    /// Its name, and the length of its line without the line break.
    Line(&'a str, usize),
    None,
}

/// Reads a recipient's line. Blanks may follow the name.
fn read_line<'a>(text: &'a str, declared: &DeclaredTools) -> Recipient<'a> {
    let text = &text[..text.floor_char_boundary(MAX_RECIPIENT_BYTES + 1)];
    let length = text.find('\n');
    let line = &text[..length.unwrap_or(text.len())];
    let name = line.trim_end_matches([' ', '\t', '\r']);
    let is_known = name == ALL || declared.has(name);
    let is_open = name.len() == line.len() && (ALL.starts_with(name) || declared.has_prefix(name));
    match length {
        _ if line.len() > MAX_RECIPIENT_BYTES => Recipient::None,
        Some(length) if is_known => Recipient::Line(name, length),
        None if is_known || is_open => Recipient::Open,
        _ => Recipient::None,
    }
}

/// Matches a recipient at the beginning of a reply whose prompt ended with `>>>`.
pub(super) fn match_first(text: &str, declared: &DeclaredTools) -> Match<()> {
    match read_line(text, declared) {
        Recipient::Open => Match::Partial,
        Recipient::Line(ALL, length) => Match::Full((), length + 1),
        Recipient::Line(_, length) => match text[length + 1..].chars().next() {
            None => Match::Partial,
            Some('{') => Match::Full((), length + 1),
            Some(_) => Match::None,
        },
        Recipient::None => Match::None,
    }
}

impl Candidate {
    /// Reads a recipient up to the end of its line: a declared tool, or the user.
    pub(super) fn read_recipient(&mut self, text: &str, declared: &DeclaredTools) -> Step {
        match read_line(&text[self.at..], declared) {
            Recipient::Open => Break(Verdict::NeedMore),
            Recipient::Line(ALL, length) => Break(Verdict::Calls(Vec::new(), self.at + length + 1)),
            Recipient::Line(name, length) => {
                let at = self.at + length + 1;
                match text[at..].chars().next() {
                    None => Break(Verdict::NeedMore),
                    Some('{') => {
                        self.name = Some(name.to_owned());
                        self.at = at;
                        self.stage = CandidateStage::Body(Body::json(at, false, false));
                        Continue(())
                    }
                    Some(_) => Break(Verdict::Text),
                }
            }
            Recipient::None => Break(Verdict::Text),
        }
    }
}
