//! Ordinary text: where a call may begin.

pub(crate) use super::attributes::SECTION;
use super::attributes::space_len;
use super::candidate::{CandidateKind, Reader};
use super::fence::{match_closing, match_reply_fence};
use super::name::name_len;
use super::open_candidate::OpenCandidate;
use super::readers::action::Action;
use super::readers::elements::FunctionElements;
use super::readers::opening::{Payload, ToolTag};
use super::readers::recipient::Recipient;
use super::tool_tag::{match_name_line, match_tool_tag, name_at};
use crate::code::CodeTracker;
use crate::declared_tools::DeclaredTools;
use crate::marker_role::Role;
use crate::markers::{IN_PROSE, Match, OPENERS};
use crate::result_block::{self, ResultBlock};

/// The scanner's context besides the text itself.
#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
pub(super) struct ScanContext<'a> {
    pub(super) declared: &'a DeclaredTools,
    pub(super) allow_actions: bool,
    pub(super) has_unconfirmed: bool,
    /// Whether no text was shown since the last call or the beginning.
    pub(super) no_text_shown: bool,
    /// Whether an end marker at this position would be the rest of a call.
    pub(super) after_open_call: bool,
    /// Before this position no bracket begins a call.
    pub(super) bare_from: usize,
    /// Before this position an imitated result must begin its line; `None` if none is recognised.
    pub(super) results_from: Option<usize>,
    pub(super) is_end: bool,
}

pub(super) enum ProseEvent {
    /// Nothing, or a possible start of something.
    Nothing,
    /// Visible text that changes the context.
    ContextChanged,
    /// A marker of this role and length that opens a call.
    Opener(Role, usize),
    /// A marker of this role and length that belongs to a call before it.
    Closer(Role, usize),
    /// A marker of this length that ends the model's turn, if nothing follows it.
    TurnEnd(usize),
    /// Anything else with which a call may begin.
    Candidate(Box<OpenCandidate>),
    ResultBlock(ResultBlock),
    /// A code fence of this many backticks and this length that may hold a call.
    Fence(usize, usize),
    /// The end of that fence, of this length.
    FenceEnd(usize),
    /// An incomplete marker of this length at the end of the text.
    PartialMarker(usize),
}

/// Bytes at which a construct may begin in the middle of a line.
static IN_LINE: [bool; 256] = table(b"<[]{>");
/// The same, and those that end a line or change whether it is in code.
static SPECIAL: [bool; 256] = table(b"<[]{>\n`");
/// Bytes at which a construct may begin at the beginning of a line.
static LINE_START: [bool; 256] = table(b"<[]{>`fA");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let (mut table, mut at) = ([false; 256], 0);
    while at < bytes.len() {
        table[bytes[at] as usize] = true;
        at += 1;
    }
    table
}

const BARS: [char; 3] = ['|', '｜', '‖'];
pub(crate) const FUNCTOOLS: [&str; 3] = ["functools[", "functools{\"", "functools{'"];
/// What Functionary 3.2 writes before a recipient.
pub(crate) const RECIPIENT: &str = ">>>";
/// What `ReAct` writes before a tool's name.
pub(crate) const ACTION: &str = "Action:";

/// Skips text up to the next event; returns the length of that text.
pub(super) fn scan_text(code: &mut CodeTracker, text: &str, context: &ScanContext<'_>) -> (usize, ProseEvent) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'`' {
            code.end_run(Some(bytes[at]));
        }
        if may_begin(code, bytes[at], context) {
            match match_at(code, &text[at..], at, context) {
                Match::Full(found, _) => return (at, found),
                Match::Partial => return (at, resolve_partial(code, &text[at..], context)),
                Match::None => {}
            }
        }
        code.advance(bytes[at]);
        let before = at;
        at += 1;
        if code.is_plain() {
            at += bytes[at..].iter().position(|&byte| SPECIAL[byte as usize]).unwrap_or(bytes.len() - at);
        }
        let changed = context.no_text_shown || context.has_unconfirmed;
        if changed && !text[before..at].trim().is_empty() {
            return (at, ProseEvent::ContextChanged);
        }
    }
    (at, ProseEvent::Nothing)
}

/// Whether anything but text may begin with this byte.
fn may_begin(code: &CodeTracker, byte: u8, context: &ScanContext<'_>) -> bool {
    let is_possible = if code.is_line_start {
        LINE_START[byte as usize] || context.declared.has_first_byte(byte)
    } else {
        IN_LINE[byte as usize]
    };
    // In code there is no call, except in a fence that may hold one.
    is_possible && (code.fence().is_none() || code.fence_may_hold_call() && context.has_unconfirmed)
}

// Not inlined, because the loop over plain text is then a third longer.
#[inline(never)]
fn match_at(code: &CodeTracker, rest: &str, at: usize, context: &ScanContext<'_>) -> Match<ProseEvent> {
    let byte = rest.as_bytes()[0];
    let marker = if matches!(byte, b'<' | b'[' | b']') { match_marker(code, rest, at, context) } else { Match::None };
    if marker.is_found() || code.is_line_start {
        return marker.or_else(|| match_at_line_start(code, rest, at, context));
    }
    if !allows_brackets(at, context) || code.is_in_inline_code() {
        return Match::None;
    }
    let may_hold_call = || code.fence().is_none() && !code.is_json_line();
    match byte {
        b'{' if may_open_json(rest) && may_hold_call() => Match::Full(open(CandidateKind::InlineJson, Payload, 0), 1),
        b'[' if may_open_list(rest, context.declared) && may_hold_call() => {
            Match::Full(open(CandidateKind::InlineJson, Payload, 0), 1)
        }
        b'<' => match_tag(rest, context),
        b'>' => match_recipient(rest),
        _ => Match::None,
    }
}

fn allows_brackets(at: usize, context: &ScanContext<'_>) -> bool {
    !context.declared.is_empty() && at >= context.bare_from
}

/// Whether a bracket may open JSON: most braces in code hold a name without quotes.
fn may_open_json(rest: &str) -> bool {
    let inside = &rest[1..];
    let is_name = inside[space_len(inside)..].starts_with(|c: char| c.is_ascii_alphanumeric());
    !(is_name && rest.starts_with('{'))
}

/// Whether a bracket may open a list of calls, as `[f(q="a")]` or as JSON. Most brackets in prose are links.
fn may_open_list(rest: &str, declared: &DeclaredTools) -> bool {
    let inside = &rest[1..];
    let inside = &inside[space_len(inside)..];
    let name = &inside[..name_len(inside)];
    inside.starts_with('{') || inside.is_empty() || !name.is_empty() && declared.has_prefix(name)
}

fn open(kind: CandidateKind, reader: impl Reader + 'static, marker_len: usize) -> ProseEvent {
    ProseEvent::Candidate(Box::new(OpenCandidate::new(kind, reader, marker_len)))
}

fn match_tag(rest: &str, context: &ScanContext<'_>) -> Match<ProseEvent> {
    match_tool_tag(rest, context.declared).map(|_| open(CandidateKind::Function, ToolTag, 1))
}

fn match_recipient(rest: &str) -> Match<ProseEvent> {
    Match::literal(rest, RECIPIENT, ()).map(|()| open(CandidateKind::Action, Recipient, RECIPIENT.len()))
}

fn match_at_line_start(code: &CodeTracker, rest: &str, at: usize, context: &ScanContext<'_>) -> Match<ProseEvent> {
    let matched = match rest.as_bytes()[0] {
        byte @ (b'{' | b'[') if allows_brackets(at, context) && may_open_json(rest) => {
            let is_list = byte == b'[' && context.no_text_shown;
            Match::Full(open(if is_list { CandidateKind::List } else { CandidateKind::Json }, Payload, 0), 1)
        }
        b'>' if allows_brackets(at, context) => match_recipient(rest),
        b'`' if !code.is_in_run() => match_fence(code, rest, context),
        b'<' if allows_brackets(at, context) => match_tag(rest, context),
        b'f' => {
            let functools = FUNCTOOLS.map(|text| Match::literal(rest, text, "functools"));
            let functools = functools.into_iter().find(Match::is_found).unwrap_or(Match::None);
            let open = |marker| Box::new(OpenCandidate::from_marker(Role::Wrapper, marker, false));
            functools.or_else(|| Match::literal(rest, SECTION, SECTION)).map(open).map(ProseEvent::Candidate)
        }
        b'A' if context.allow_actions => {
            Match::literal(rest, ACTION, ()).map(|()| open(CandidateKind::Action, Action, ACTION.len()))
        }
        _ => Match::None,
    };
    if matched.is_found() || !allows_brackets(at, context) || code.is_in_inline_code() {
        return matched;
    }
    let name_line = match_name_line(rest, context.declared).and_then(|name, length| {
        let elements = FunctionElements::after_name_line(name.to_owned());
        Match::Full(open(CandidateKind::Function, elements, length), length)
    });
    let name = name_at(rest);
    // `f(`, with which a reply begins that is nothing but a call as in source code (R7).
    let is_plain = || {
        let begins_reply = context.no_text_shown && code.fence().is_none();
        begins_reply && context.declared.has(name) && rest[name.len()..].starts_with('(')
    };
    if name_line.is_found() || !is_plain() {
        return name_line;
    }
    Match::Full(ProseEvent::Candidate(Box::new(OpenCandidate::plain_call(name))), name.len())
}

fn match_fence(code: &CodeTracker, rest: &str, context: &ScanContext<'_>) -> Match<ProseEvent> {
    match code.fence() {
        Some(ticks) => {
            match_closing(rest, ticks).and_then(|(), length| Match::Full(ProseEvent::FenceEnd(length), length))
        }
        None if context.declared.is_empty() => Match::None,
        None => match_reply_fence(rest).and_then(|ticks, length| Match::Full(ProseEvent::Fence(ticks, length), length)),
    }
}

fn match_marker(code: &CodeTracker, rest: &str, at: usize, context: &ScanContext<'_>) -> Match<ProseEvent> {
    let markers = if code.is_in_inline_code() { OPENERS } else { IN_PROSE };
    // Without a call before it an end tag is ordinary markup.
    if rest.starts_with("</") && !context.after_open_call {
        return match_result_block(code, rest, at, context);
    }
    let marker = markers.match_prefix(rest).and_then(|role, length| {
        let event = match role {
            role if OPENERS.contains(role) => ProseEvent::Opener(role, length),
            role if context.after_open_call => ProseEvent::Closer(role, length),
            // Of the ends of a call that is not there only control tokens are no prose.
            Role::Close | Role::FunctionEnd if !rest[..length].contains(BARS) => return Match::None,
            _ => ProseEvent::TurnEnd(length),
        };
        Match::Full(event, length)
    });
    marker.or_else(|| match_result_block(code, rest, at, context))
}

fn match_result_block(code: &CodeTracker, rest: &str, at: usize, context: &ScanContext<'_>) -> Match<ProseEvent> {
    let is_possible = context.results_from.is_some_and(|from| at >= from || code.is_line_start);
    if !is_possible || code.is_in_inline_code() {
        return Match::None;
    }
    result_block::match_opening(rest).map(ProseEvent::ResultBlock)
}

/// Resolves a partial match at the end of the text.
fn resolve_partial(code: &CodeTracker, rest: &str, context: &ScanContext<'_>) -> ProseEvent {
    let ticks = rest.len() - rest.trim_start_matches('`').len();
    match code.fence() {
        _ if !context.is_end => ProseEvent::Nothing,
        Some(wanted) if code.is_line_start && ticks >= wanted => ProseEvent::FenceEnd(rest.len()),
        _ => ProseEvent::PartialMarker(rest.len()),
    }
}
