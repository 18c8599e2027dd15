//! What the text of a call's JSON shows before or after it is read.

use serde_json::Value;

use crate::json::{JsonScan, ScanStep};
use crate::json_calls;
use crate::markers::{CLOSERS, Markers, Match, OPENERS};
use crate::repair::repair;

/// The readable items of a list, and whether there are others.
pub(super) fn readable_items(text: &str) -> Option<(Vec<Value>, bool)> {
    let inside = text.trim().strip_prefix('[')?;
    let (mut items, mut fault, mut at) = (Vec::new(), false, 0);
    while let Some(found) = inside[at..].find('{') {
        let (start, mut scan) = (at + found, JsonScan::default());
        let mut position = start;
        let end = loop {
            match scan.advance(inside, position) {
                ScanStep::End(end) => break end,
                ScanStep::Foreign(foreign) => position = scan.skip_foreign(foreign),
                ScanStep::NeedMore(_) | ScanStep::EarlyCheck(_) => return Some((items, true)),
            }
        };
        let value = scan.take().or_else(|| repair(&inside[start..end]));
        fault |= value.is_none();
        items.extend(value);
        at = end;
    }
    Some((items, fault))
}

/// Whether a text in braces is no JSON, as in prose about calls: `{JSON}`, and has no blank unless it may be long.
pub(super) fn is_placeholder(text: &str, may_be_long: bool) -> bool {
    !has_json_signs(text) && (may_be_long || !text.trim().contains(char::is_whitespace))
}

/// Maximum length of the brackets with which such a call begins, with white space, in bytes.
const MAX_OPENING_BYTES: usize = 64;

/// Matches the beginning of a call that is written as Python's dictionary: `[{'name'`.
pub(super) fn match_python(text: &str) -> Match<()> {
    let opening = &text[..text.floor_char_boundary(MAX_OPENING_BYTES)];
    let begin = opening.len() - opening.trim_start_matches(['[', '{', ' ', '\n']).len();
    let Some(key) = text[begin..].strip_prefix('\'') else { return Match::None };
    match key.split_once('\'') {
        Some((key, _)) if json_calls::NAME_KEYS.contains(&key) => Match::Full((), begin + key.len() + 2),
        None if json_calls::NAME_KEYS.into_iter().any(|name| name.starts_with(key)) => Match::Partial,
        _ => Match::None,
    }
}

/// Where a call ends that another one follows, in the text of one that seemed to contain both: before its end marker, or
/// before the control token that opens the next one.
pub(super) fn end_before_next_call(text: &str) -> Option<usize> {
    let closer = CLOSERS.find(text, 0).ok().and_then(|(at, _, end)| {
        let rest = text[end..].trim_start();
        let follows = |markers: Markers| matches!(markers.match_prefix(rest), Match::Full(..));
        (follows(OPENERS) || follows(CLOSERS)).then_some(at)
    });
    let opener =
        OPENERS.find(text, 0).ok().and_then(|(at, _, end)| text[at..end].contains(['|', '｜', ']']).then_some(at));
    closer.into_iter().chain(opener).min()
}

/// Whether a text in braces has what JSON is made of.
pub(super) fn has_json_signs(text: &str) -> bool {
    text.contains([':', '：', '"', '“', '\''])
}
