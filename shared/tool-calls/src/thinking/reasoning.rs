//! What may end reasoning, or be a call in it.

use super::frames::{Frame, match_frame};
use super::tags::{ThinkingTag, match_tag};
use crate::markers::{Match, OPENERS};

/// Encloses the reasoning of `gpt-oss` at Bedrock, at the beginning of the text.
// Code of litellm 1.108.7, 2026-11-26.
pub(super) const LEADING_ELEMENT: (&str, &str) = ("<reasoning>", "</reasoning>");

/// What opened the reasoning, and therefore ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// An element; in an outer one the inner one may be nested.
    Tag {
        outer: bool,
    },
    Frame,
    /// The element that only begins a reply.
    Leading,
    /// The end of the prompt.
    Prompt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingMatch {
    Tag(ThinkingTag),
    Frame(Frame),
    /// The start or the end of the element that only begins a reply.
    LeadingElement,
    /// The header of a call whose beginning was in the prompt.
    CallHeader,
    /// A call's marker, which is text as a whole.
    Marker,
    /// A call's opening marker in reasoning.
    HiddenCall,
    /// A control token that opens a call, and with it ends the reasoning of a frame.
    CallAfterReasoning,
}

impl ThinkingMatch {
    pub(super) fn ends_reasoning(self, opened_by: Opening) -> bool {
        match (self, opened_by) {
            (Self::Tag(tag), Opening::Tag { outer }) => !(tag.opens || tag.inner && outer),
            (Self::Tag(tag), Opening::Prompt) => !tag.opens && !tag.inner,
            (Self::Frame(frame), Opening::Frame | Opening::Prompt) => frame != Frame::Thinking,
            (Self::CallAfterReasoning, _) => true,
            _ => false,
        }
    }
}

/// The number of bytes before the first one that may begin a tag or a marker.
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| matches!(byte, b'<' | b'[')).unwrap_or(bytes.len())
}

/// Matches what begins at the current position of reasoning that was opened like this.
pub(super) fn match_in_reasoning(
    text: &str,
    opened_by: Opening,
    after_tick: bool,
    seeks_calls: bool,
    ended: bool,
) -> Match<ThinkingMatch> {
    let matched = match opened_by {
        Opening::Tag { .. } => match_tag_in_reasoning(text, after_tick, ended),
        Opening::Frame => match_frame_in_reasoning(text, ended),
        Opening::Leading => Match::literal(text, LEADING_ELEMENT.1, ThinkingMatch::LeadingElement),
        Opening::Prompt => {
            match_frame_in_reasoning(text, ended).or_else(|| match_tag_in_reasoning(text, after_tick, ended))
        }
    };
    if matches!(matched, Match::Full(..)) || (matched == Match::Partial && !ended) {
        return matched;
    }
    let is_token = text.starts_with("<|");
    match OPENERS.match_prefix(text) {
        Match::Full(_, length) if opened_by == Opening::Frame && is_token => {
            Match::Full(ThinkingMatch::CallAfterReasoning, length)
        }
        Match::Full(_, length) if seeks_calls => Match::Full(ThinkingMatch::HiddenCall, length),
        Match::Partial if seeks_calls || opened_by == Opening::Frame => Match::Partial,
        _ => Match::None,
    }
}

fn match_frame_in_reasoning(text: &str, ended: bool) -> Match<ThinkingMatch> {
    match_frame(text, false, false).map(ThinkingMatch::Frame).unless_cut(ended)
}

fn match_tag_in_reasoning(text: &str, after_tick: bool, ended: bool) -> Match<ThinkingMatch> {
    match_tag(text).and_then(|tag, length| match text[length..].chars().next() {
        Some('`') if after_tick && !tag.opens => Match::None,
        None if after_tick && !tag.opens && !ended => Match::Partial,
        _ => Match::Full(ThinkingMatch::Tag(tag), length),
    })
}
