//! Ordinary text: where a call may begin.

use super::fence::{closing, reply_fence};
use crate::code::Code;
use crate::markers::{CLOSERS, Look, OPENERS, Role};

/// The scanner's context besides the text itself.
#[derive(Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub(super) struct Around {
    /// Whether tools are declared, without which no ambiguous form is a call.
    pub(super) tools: bool,
    /// Whether `Action:` begins a call.
    pub(super) actions: bool,
    /// Whether there are unconfirmed calls.
    pub(super) waiting: bool,
    /// Whether no text was shown since the last call or the beginning.
    pub(super) fresh: bool,
    /// Whether an end marker at this position would be the rest of a call.
    pub(super) residue: bool,
    /// Before this position no bracket begins a call.
    pub(super) bare_from: usize,
    /// Whether the text is complete.
    pub(super) ended: bool,
}

/// The event after the scanned text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing, or a possible start of something.
    Nothing,
    /// Visible text that changes the context.
    Text,
    /// A marker of this role and length that opens a call.
    Opener(Role, usize),
    /// A marker of this role and length that belongs to a call before it.
    Closer(Role, usize),
    /// A bracket with which a call may begin.
    Bracket,
    /// `functools`, of this length, before a bracket.
    Functools(usize),
    /// `Action:`, of this length.
    Action(usize),
    /// A code fence of this many backticks and this length that may hold a call.
    Fence(usize, usize),
    /// The end of that fence, of this length.
    FenceEnd(usize),
    /// An incomplete marker of this length at the end of the text.
    Half(usize),
}

/// Bytes at which a construct may begin in the middle of a line.
static SPECIAL: [bool; 256] = {
    let mut table = [false; 256];
    table[b'\n' as usize] = true;
    table[b'`' as usize] = true;
    table[b'<' as usize] = true;
    table[b'[' as usize] = true;
    table
};

const FUNCTOOLS: &str = "functools[";
const ACTION: &str = "Action:";

/// Skips text up to the next event; returns the length of that text.
pub(super) fn scan(code: &mut Code, text: &str, around: Around) -> (usize, Found) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'`' {
            code.end_run(Some(bytes[at]));
        }
        match found(code, &text[at..], at, around) {
            Look::Is(found, _) => return (at, found),
            Look::Short => return (at, short(code, &text[at..], around)),
            Look::No => {}
        }
        code.pass(bytes[at]);
        let before = at;
        at += 1;
        if code.is_plain() {
            at += bytes[at..].iter().position(|&byte| SPECIAL[byte as usize]).unwrap_or(bytes.len() - at);
        }
        let changed = around.fresh || around.waiting;
        if changed && !text[before..at].trim().is_empty() {
            return (at, Found::Text);
        }
    }
    (at, Found::Nothing)
}

fn found(code: &Code, rest: &str, at: usize, around: Around) -> Look<Found> {
    let byte = rest.as_bytes()[0];
    let plain = !matches!(byte, b'<' | b'[') && (!code.line_start() || byte.is_ascii_whitespace());
    if plain || !open(code, around) {
        return Look::No;
    }
    let marker = if matches!(byte, b'<' | b'[') { marker(code, rest, around) } else { Look::No };
    match marker {
        Look::No if code.line_start() => at_line_start(code, rest, at, around),
        marker => marker,
    }
}

/// Whether calls are possible at the current position: not in code, except in a fence that may hold one.
fn open(code: &Code, around: Around) -> bool {
    code.fence().is_none() || (code.tentative() && around.waiting)
}

fn brackets(at: usize, around: Around) -> bool {
    around.tools && at >= around.bare_from
}

fn at_line_start(code: &Code, rest: &str, at: usize, around: Around) -> Look<Found> {
    match rest.as_bytes()[0] {
        b'{' | b'[' if brackets(at, around) => Look::Is(Found::Bracket, 1),
        b'`' if !code.in_run() => fence(code, rest, around),
        b'f' => word(rest, FUNCTOOLS, Found::Functools(FUNCTOOLS.len() - 1)),
        b'A' if around.actions => word(rest, ACTION, Found::Action(ACTION.len())),
        _ => Look::No,
    }
}

fn fence(code: &Code, rest: &str, around: Around) -> Look<Found> {
    match code.fence() {
        Some(ticks) => match closing(rest, ticks) {
            Look::Is((), length) => Look::Is(Found::FenceEnd(length), length),
            Look::Short => Look::Short,
            Look::No => Look::No,
        },
        None if !around.tools => Look::No,
        None => match reply_fence(rest) {
            Look::Is(ticks, length) => Look::Is(Found::Fence(ticks, length), length),
            Look::Short => Look::Short,
            Look::No => Look::No,
        },
    }
}

fn marker(code: &Code, rest: &str, around: Around) -> Look<Found> {
    let closer = if around.residue && !code.in_line() { CLOSERS.look(rest) } else { Look::No };
    match (OPENERS.look(rest), closer) {
        (Look::Is(role, length), _) => Look::Is(Found::Opener(role, length), length),
        (_, Look::Is(role, length)) => Look::Is(Found::Closer(role, length), length),
        (Look::Short, _) | (_, Look::Short) => Look::Short,
        (Look::No, Look::No) => Look::No,
    }
}

/// Resolves a partial match at the end of the text.
fn short(code: &Code, rest: &str, around: Around) -> Found {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    match code.fence() {
        _ if !around.ended => Found::Nothing,
        Some(wanted) if code.line_start() && ticks >= wanted => Found::FenceEnd(rest.len()),
        _ => Found::Half(rest.len()),
    }
}

fn word(rest: &str, wanted: &str, found: Found) -> Look<Found> {
    if rest.starts_with(wanted) {
        return Look::Is(found, wanted.len());
    }
    if wanted.starts_with(rest) { Look::Short } else { Look::No }
}
