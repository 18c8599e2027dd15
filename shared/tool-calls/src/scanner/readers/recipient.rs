use std::ops::ControlFlow::Break;

use super::body::Body;
use crate::declared_tools::DeclaredTools;
use crate::markers::Match;
use crate::scanner::candidate::{Candidate, Reader, Step, Verdict};

/// The recipient of text.
const ALL: &str = "all";
const MAX_RECIPIENT_BYTES: usize = 128;

/// Matches a recipient and the line break after it, before the arguments of its call. Blanks may follow the name.
pub(in crate::scanner) fn match_recipient<'a>(text: &'a str, declared: &DeclaredTools) -> Match<&'a str> {
    let window = &text[..text.floor_char_boundary(MAX_RECIPIENT_BYTES + 1)];
    let length = window.find('\n');
    let line = &window[..length.unwrap_or(window.len())];
    let name = line.trim_end_matches([' ', '\t', '\r']);
    let is_known = name == ALL || declared.has(name);
    let is_open = name.len() == line.len() && (ALL.starts_with(name) || declared.has_prefix(name));
    match length {
        _ if line.len() > MAX_RECIPIENT_BYTES => Match::None,
        Some(length) if is_known => match text[length + 1..].chars().next() {
            Some(next) if name != ALL && next != '{' => Match::None,
            None if name != ALL => Match::Partial,
            _ => Match::Full(name, length + 1),
        },
        None if is_known || is_open => Match::Partial,
        _ => Match::None,
    }
}

/// Reads as Functionary 3.2 writes after `>>>`: `f`, a line break, and the arguments as JSON; `all` and a line break before text.
pub(in crate::scanner) struct Recipient;

impl Reader for Recipient {
    fn advance(&mut self, candidate: &mut Candidate, text: &str, declared: &DeclaredTools) -> Step {
        let (name, length) = match_recipient(&text[candidate.at..], declared).or_text()?;
        let at = candidate.at + length;
        if name == ALL {
            return Break(Verdict::Calls(Vec::new(), at));
        }
        candidate.name = Some(name.to_owned());
        candidate.read_with(at, Body::json(at, false, false))
    }
}
