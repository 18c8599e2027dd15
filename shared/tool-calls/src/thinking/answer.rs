//! The answer, in which reasoning may begin.

use super::frames::{Frame, NEXT_MESSAGE, match_citation, match_frame};
use super::reasoning::ThinkingMatch;
use super::tags::{ThinkingTag, match_tag};
use crate::code::CodeTracker;
use crate::markers::{CLOSERS, Match, OPENERS};

#[expect(clippy::struct_excessive_bools, reason = "facts that have nothing to do with each other")]
#[derive(Default)]
pub(super) struct AnswerState {
    pub(super) code: CodeTracker,
    pub(super) has_text: bool,
    /// Whether anything precedes the current position in the reply.
    pub(super) has_begun: bool,
    in_call: bool,
    /// Whether prose follows the wrapper's marker, so that an end tag may still show that all of it was reasoning.
    is_mentioned: bool,
    /// Whether its citations have tags.
    pub(super) has_citations: bool,
    /// Whether the reply has frames, so that their end tokens are no text.
    pub(super) is_framed: bool,
    /// Whether its text is no reasoning: the reply has had reasoning, or a call.
    pub(super) is_no_reasoning: bool,
    after_blank: bool,
}

impl AnswerState {
    /// Records the end of emitted text.
    pub(super) fn set_last(&mut self, text: &str) {
        self.after_blank = matches!(text.as_bytes().last(), Some(b' ' | b'\t'));
    }

    /// Whether an end tag before `rest` closes the text so far: prose that names the tag has blanks on both sides. Of the
    /// numbered elements only the end tag leaks often, within a line of the answer.
    pub(super) fn closes_text(&self, tag: ThinkingTag, rest: &str) -> bool {
        let begins_line = self.code.is_line_start;
        begins_line || !(tag.numbered || self.after_blank && rest.starts_with([' ', '\t']))
    }

    /// Begins the answer again, after text that was reasoning.
    pub(super) fn restart(&mut self) {
        let (is_framed, has_citations) = (self.is_framed, self.has_citations);
        *self = Self { has_begun: true, is_framed, has_citations, is_no_reasoning: true, ..Self::default() };
    }

    pub(super) fn begin_call(&mut self) {
        (self.in_call, self.is_no_reasoning) = (true, true);
    }

    /// Matches what begins at the current position of the answer.
    pub(super) fn match_in_answer(&mut self, text: &str, ended: bool) -> Match<ThinkingMatch> {
        self.code.end_run(text.bytes().next());
        if self.code.is_in_inline_code() || self.code.fence().is_some() {
            return Match::None;
        }
        let frame = self.match_frame(text, ended).unless_cut(ended).map(ThinkingMatch::Frame);
        if frame.is_found() {
            return frame;
        }
        if self.is_mentioned && !self.is_no_reasoning {
            match match_tag(text) {
                Match::Full(tag, length) if !tag.opens => return Match::Full(ThinkingMatch::Tag(tag), length),
                Match::Partial if !ended => return Match::Partial,
                _ => {}
            }
        }
        let markers = if self.in_call { CLOSERS } else { OPENERS };
        let marker = match markers.match_prefix(text) {
            Match::Full(_, length) => {
                let may_be_prose = !self.in_call && !self.code.is_line_start && is_plain_tag(&text[..length]);
                let is_mention = if may_be_prose { is_mention(&text[length..]) } else { Some(false) };
                if is_mention.is_none() && !ended {
                    return Match::Partial;
                }
                self.in_call = !self.in_call;
                self.is_mentioned = self.in_call && is_mention == Some(true);
                self.is_no_reasoning |= !self.is_mentioned;
                return Match::Full(ThinkingMatch::Marker, length);
            }
            Match::Partial => Match::Partial,
            Match::None => Match::None,
        };
        match match_tag(text) {
            _ if self.in_call => marker,
            Match::Full(tag, _) if tag.opens && self.code.is_json_line() => Match::None,
            Match::Full(tag, length) => Match::Full(ThinkingMatch::Tag(tag), length),
            Match::Partial => Match::Partial,
            Match::None => marker,
        }
    }

    fn match_frame(&self, text: &str, ended: bool) -> Match<Frame> {
        if self.in_call || self.code.is_json_line() {
            return Match::None;
        }
        let citation = if self.has_citations && text.starts_with('<') { match_citation(text) } else { Match::None };
        if citation.is_found() {
            return citation;
        }
        match match_frame(text, !self.has_text, self.is_framed) {
            // The prompt opened the reasoning, and another message follows it.
            Match::Full(Frame::End, length) if !self.is_framed && self.has_text => {
                let next = Match::literal(&text[length..], NEXT_MESSAGE, ());
                next.and_then(|(), _| Match::Full(Frame::ThinkingEnd, length))
            }
            Match::Full(frame, length) if HEADINGS.iter().any(|heading| text.starts_with(heading)) => {
                match text[length..].chars().next() {
                    Some('\n') if self.code.is_line_start => Match::Full(frame, length),
                    None if self.code.is_line_start && !ended => Match::Partial,
                    _ => Match::None,
                }
            }
            matched => matched,
        }
    }
}

/// Frames that are headings, which count only on a line of their own.
const HEADINGS: [&str; 2] = ["[BEGIN FINAL RESPONSE]", "[END FINAL RESPONSE]"];

/// Whether a marker is an element's tag as prose may mention it, and no control token.
fn is_plain_tag(marker: &str) -> bool {
    marker.starts_with('<') && !marker.contains(['|', '｜'])
}

/// Whether prose continues after a marker, which is then only mentioned; `None` if more text is needed.
fn is_mention(text: &str) -> Option<bool> {
    let mut chars = text.chars();
    match chars.next()? {
        '.' | ',' | ';' | ')' | '。' | '，' | '、' | '；' | '）' => Some(true),
        ' ' => chars.next().map(char::is_alphabetic),
        _ => Some(false),
    }
}
