mod answer;
mod frames;
mod hidden_calls;
mod tags;
mod thoughts;

use self::answer::AnswerState;
use self::frames::{Frame, MESSAGE_START, Recipient, match_frame, match_recipient};
use self::hidden_calls::HiddenCalls;
use self::tags::{ThinkingTag, match_tag};
use self::thoughts::Thoughts;
use crate::markers::{Match, OPENERS};
use crate::scanner::CallScanner;

/// A part of the raw model text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyPart {
    /// Part of the answer (calls included).
    Text(String),
    /// Part of the reasoning, without its tags.
    Thinking(String),
    /// All text of the reply so far was reasoning: the reply began in it and only closed it.
    TextWasThinking,
}

/// Removes `<think>…</think>` and related elements, and the control tokens of reasoning channels, from text that arrives
/// in chunks.
///
/// An opening tag counts anywhere except in inline code, in a fence, in a call's wrapper, and on a line that begins
/// like JSON: there it is quoted. The first end tag without an opening one shows that the text before it was reasoning,
/// unless blanks on both sides show that prose names it; it is hidden in any case. Inside reasoning every end tag counts unless it has backticks on both sides. The filter
/// holds back only a possible prefix of a tag. It drops white space directly after an opening tag, and after an end tag
/// with no text before it; everything else is kept as written.
///
/// [`Self::with_calls_of`] also finds calls that end a reply inside of unclosed reasoning: these are text.
#[derive(Default)]
pub struct ThinkingFilter {
    buffer: String,
    state: FilterState,
    answer: AnswerState,
    calls: HiddenCalls,
    /// Divides the answer at its labels, if it has any.
    thoughts: Option<Thoughts>,
    /// Whether white space at the current position is dropped.
    trim: bool,
}

#[derive(Default)]
enum FilterState {
    #[default]
    Answer,
    Reasoning {
        opened_by: Opening,
        /// Whether a backtick directly precedes the current position.
        after_tick: bool,
    },
}

/// What opened the reasoning, and therefore ends it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// An element; in an outer one the inner one may be nested.
    Tag { outer: bool },
    /// A frame's tokens.
    Frame,
    /// The end of the prompt.
    Prompt,
}

/// A match at the current position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThinkingMatch {
    Tag(ThinkingTag),
    Frame(Frame),
    /// The header of a call whose beginning was in the prompt.
    CallHeader,
    /// A call's marker, which is text as a whole.
    Marker,
    /// A call's opening marker in reasoning.
    HiddenCall,
    /// A control token that opens a call, and with it ends the reasoning of a frame.
    CallAfterReasoning,
}

impl ThinkingFilter {
    /// Also finds calls of this scanner's tools in reasoning that has no end.
    #[must_use]
    pub fn with_calls_of(self, scanner: &CallScanner) -> Self {
        Self { calls: HiddenCalls::new(scanner.declared_tools()), ..self }
    }

    /// Also moves what follows `Thought:` to the reasoning, and drops `Final Answer:`, for models that are taught `ReAct`.
    #[must_use]
    pub fn with_thoughts(self) -> Self {
        Self { thoughts: Some(Thoughts::default()), ..self }
    }

    /// Begins in reasoning, as models do whose prompt ends with its opening tag.
    #[must_use]
    pub fn with_open_thinking(self) -> Self {
        let state = FilterState::Reasoning { opened_by: Opening::Prompt, after_tick: false };
        Self { state, trim: true, ..self }
    }

    /// Whether the reply began in reasoning that has not ended.
    pub fn is_in_open_thinking(&self) -> bool {
        matches!(self.state, FilterState::Reasoning { opened_by: Opening::Prompt, .. })
    }

    /// Whether the last label was `Thought:`, so that no answer follows.
    pub fn is_in_thought(&self) -> bool {
        self.thoughts.as_ref().is_some_and(|thoughts| thoughts.in_thought)
    }

    /// The reasoning arrives outside of the text: this is the answer, and an end tag in it closes nothing.
    pub fn expect_answer(&mut self) {
        self.answer.may_be_reasoning = false;
        if self.is_in_open_thinking() && !self.answer.has_begun {
            self.state = FilterState::Answer;
        }
    }

    /// Takes more text and returns the parts that are certain by now.
    pub fn push(&mut self, text: &str) -> Vec<ReplyPart> {
        let mut parts = Vec::new();
        self.push_into(text, &mut parts);
        parts
    }

    /// Takes more text and appends the parts that are certain by now. Text is appended to a last part of its kind.
    pub fn push_into(&mut self, text: &str, parts: &mut Vec<ReplyPart>) {
        self.buffer.push_str(text);
        self.run_with_thoughts(false, parts);
    }

    /// Fast path for text that continues a line of the answer and starts nothing, as in typical deltas. On `true` the
    /// whole text is answer text and the caller emits it unchanged; on `false` nothing was consumed.
    pub fn try_passthrough(&mut self, text: &str) -> bool {
        // White space is dropped only if no text precedes it on its line.
        let passes = self.buffer.is_empty()
            && matches!(self.state, FilterState::Answer)
            && self.answer.code.is_inert(text)
            && self.thoughts.as_ref().is_none_or(Thoughts::is_inert);
        if passes {
            self.answer.set_last(text);
        }
        passes
    }

    /// Ends the reply and returns the held parts.
    pub fn finish(mut self) -> Vec<ReplyPart> {
        let mut parts = Vec::new();
        self.run_with_thoughts(true, &mut parts);
        parts
    }

    fn run_with_thoughts(&mut self, ended: bool, parts: &mut Vec<ReplyPart>) {
        let Some(mut thoughts) = self.thoughts.take() else { return self.run(ended, parts) };
        let mut found = Vec::new();
        self.run(ended, &mut found);
        for part in found {
            match part {
                ReplyPart::Text(text) => thoughts.push(&text, false, parts),
                ReplyPart::Thinking(text) => parts.push(ReplyPart::Thinking(text)),
                ReplyPart::TextWasThinking => {
                    thoughts = Thoughts::default();
                    parts.push(ReplyPart::TextWasThinking);
                }
            }
        }
        if ended {
            thoughts.push("", true, parts);
        }
        self.thoughts = Some(thoughts);
    }

    fn run(&mut self, ended: bool, parts: &mut Vec<ReplyPart>) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while at < buffer.len() {
            if self.calls.is_open() {
                match self.read_hidden_call(&buffer[at..], ended) {
                    HiddenStep::NeedMore => break,
                    HiddenStep::Thinking(length) => {
                        self.emit(&buffer[at..at + length], parts);
                        at += length;
                    }
                    HiddenStep::Answer => {
                        self.state = FilterState::Answer;
                        self.emit(&buffer[at..], parts);
                        at = buffer.len();
                    }
                }
                continue;
            }
            let plain = plain_len(&buffer.as_bytes()[at..]);
            if plain > 0 && self.answer.has_begun {
                self.emit(&buffer[at..at + plain], parts);
                at += plain;
                continue;
            }
            let length = match self.match_at(&buffer[at..], ended) {
                Match::Full(ThinkingMatch::Tag(tag), length) => {
                    let is_closed = ended || at + length < buffer.len();
                    if self.may_close_text(tag) && !is_closed {
                        break;
                    }
                    if self.may_close_text(tag) && self.answer.closes_text(tag, &buffer[at + length..]) {
                        parts.push(ReplyPart::TextWasThinking);
                        self.answer.restart();
                    }
                    self.apply_tag(tag);
                    at += length;
                    continue;
                }
                Match::Full(ThinkingMatch::Frame(frame), length) => {
                    self.answer.has_citations |= buffer[at..].starts_with("<|START_");
                    if frame == Frame::ThinkingEnd && self.is_unopened() {
                        parts.push(ReplyPart::TextWasThinking);
                        self.answer.restart();
                    }
                    self.apply_frame(frame);
                    at += length;
                    continue;
                }
                Match::Full(ThinkingMatch::CallHeader, length) => {
                    // As the scanner knows it, with the blank that is there or not.
                    self.emit(MESSAGE_START, parts);
                    self.emit(" to=", parts);
                    self.answer.begin_call();
                    at += length + "to=".len();
                    continue;
                }
                Match::Full(ThinkingMatch::CallAfterReasoning, _) => {
                    self.apply_frame(Frame::End);
                    continue;
                }
                Match::Full(ThinkingMatch::HiddenCall, length) => {
                    self.calls.open(length);
                    continue;
                }
                Match::Full(ThinkingMatch::Marker, length) => length,
                Match::Partial => break,
                Match::None => 1 + plain_len(&buffer.as_bytes()[at + 1..]),
            };
            self.emit(&buffer[at..at + length], parts);
            at += length;
        }
        buffer.drain(..at);
        self.buffer = buffer;
    }

    fn match_at(&mut self, text: &str, ended: bool) -> Match<ThinkingMatch> {
        let matched = match self.state {
            FilterState::Answer if !self.answer.has_begun && text.starts_with([' ', 't']) => {
                match_recipient(text).map(|recipient| match recipient {
                    Recipient::Message(frame) => ThinkingMatch::Frame(frame),
                    Recipient::Call => ThinkingMatch::CallHeader,
                })
            }
            _ if !text.starts_with(['<', '[']) => Match::None,
            FilterState::Answer => self.answer.match_in_answer(text, ended),
            FilterState::Reasoning { opened_by, after_tick } => {
                let seeks_calls = self.calls.is_enabled() && !after_tick;
                match_in_reasoning(text, opened_by, after_tick, seeks_calls, ended)
            }
        };
        if matched == Match::Partial && ended { Match::None } else { matched }
    }

    /// Reads a wrapper in reasoning and the text after it.
    fn read_hidden_call(&mut self, text: &str, ended: bool) -> HiddenStep {
        let FilterState::Reasoning { opened_by, .. } = self.state else { return HiddenStep::Answer };
        loop {
            let at = self.calls.read_up_to();
            if at == text.len() {
                return match self.calls.finish_if(ended) {
                    None => HiddenStep::NeedMore,
                    Some(Ok(())) => HiddenStep::Answer,
                    Some(Err(marker_len)) => HiddenStep::Thinking(marker_len),
                };
            }
            match match_in_reasoning(&text[at..], opened_by, text[..at].ends_with('`'), false, ended) {
                Match::Full(matched, _) if matched.ends_reasoning(opened_by) => {
                    self.calls.close();
                    return HiddenStep::Thinking(at);
                }
                Match::Partial if !ended => return HiddenStep::NeedMore,
                _ => {}
            }
            let next = at + 1 + plain_len(&text.as_bytes()[at + 1..]);
            if let Some(marker_len) = self.calls.read(text, next) {
                return HiddenStep::Thinking(marker_len);
            }
        }
    }

    /// Whether text was emitted that an end tag at the current position may close.
    fn is_unopened(&self) -> bool {
        matches!(self.state, FilterState::Answer) && self.answer.may_be_reasoning && self.answer.has_text
    }

    fn may_close_text(&self, tag: ThinkingTag) -> bool {
        !tag.opens && self.is_unopened()
    }

    fn apply_tag(&mut self, tag: ThinkingTag) {
        self.answer.has_begun = true;
        match &mut self.state {
            // Opened again, or the inner element: still the same reasoning.
            FilterState::Reasoning { opened_by, after_tick } if !ThinkingMatch::Tag(tag).ends_reasoning(*opened_by) => {
                *after_tick = false;
                if *opened_by == Opening::Prompt {
                    *opened_by = Opening::Tag { outer: !tag.inner };
                }
            }
            _ if tag.opens => self.begin_reasoning(Opening::Tag { outer: !tag.inner }),
            _ => self.begin_answer(),
        }
    }

    fn apply_frame(&mut self, frame: Frame) {
        (self.answer.has_begun, self.answer.is_framed) = (true, true);
        match (frame, &self.state) {
            (Frame::Thinking, FilterState::Answer | FilterState::Reasoning { opened_by: Opening::Prompt, .. }) => {
                self.begin_reasoning(Opening::Frame);
            }
            (Frame::Thinking, FilterState::Reasoning { .. }) | (Frame::End, FilterState::Answer) => {}
            (Frame::Answer | Frame::ThinkingEnd, _) | (Frame::End, FilterState::Reasoning { .. }) => {
                self.begin_answer();
            }
        }
    }

    fn begin_reasoning(&mut self, opened_by: Opening) {
        self.state = FilterState::Reasoning { opened_by, after_tick: false };
        self.answer.may_be_reasoning = false;
        self.trim = true;
    }

    fn begin_answer(&mut self) {
        self.state = FilterState::Answer;
        self.trim = !self.answer.has_text;
    }

    fn emit(&mut self, text: &str, parts: &mut Vec<ReplyPart>) {
        self.answer.has_begun = true;
        let text = if self.trim { text.trim_start() } else { text };
        if text.is_empty() {
            return;
        }
        self.trim = false;
        match &mut self.state {
            FilterState::Answer => {
                self.answer.has_text = true;
                self.answer.code.advance_text(text);
                self.answer.set_last(text);
            }
            FilterState::Reasoning { after_tick, .. } => *after_tick = text.ends_with('`'),
        }
        match (parts.last_mut(), &self.state) {
            (Some(ReplyPart::Text(last)), FilterState::Answer)
            | (Some(ReplyPart::Thinking(last)), FilterState::Reasoning { .. }) => {
                last.push_str(text);
            }
            (_, FilterState::Answer) => parts.push(ReplyPart::Text(text.to_owned())),
            (_, FilterState::Reasoning { .. }) => parts.push(ReplyPart::Thinking(text.to_owned())),
        }
    }
}

/// The result of reading a wrapper in reasoning.
enum HiddenStep {
    NeedMore,
    /// So many bytes are reasoning.
    Thinking(usize),
    /// The rest of the reply is the answer.
    Answer,
}

impl ThinkingMatch {
    /// Whether it ends reasoning that was opened like this.
    fn ends_reasoning(self, opened_by: Opening) -> bool {
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
fn plain_len(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| matches!(byte, b'<' | b'[')).unwrap_or(bytes.len())
}

fn match_in_reasoning(
    text: &str,
    opened_by: Opening,
    after_tick: bool,
    seeks_calls: bool,
    ended: bool,
) -> Match<ThinkingMatch> {
    let matched = match opened_by {
        Opening::Tag { .. } => match_tag_in_reasoning(text, after_tick, ended),
        Opening::Frame => match_frame_in_reasoning(text, ended),
        Opening::Prompt => match match_frame_in_reasoning(text, ended) {
            Match::None => match_tag_in_reasoning(text, after_tick, ended),
            matched => matched,
        },
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
    match match_frame(text, false, false) {
        Match::Full(frame, length) => Match::Full(ThinkingMatch::Frame(frame), length),
        Match::Partial if !ended => Match::Partial,
        Match::Partial | Match::None => Match::None,
    }
}

fn match_tag_in_reasoning(text: &str, after_tick: bool, ended: bool) -> Match<ThinkingMatch> {
    let (tag, length) = match match_tag(text) {
        Match::Full(tag, length) => (tag, length),
        Match::Partial => return Match::Partial,
        Match::None => return Match::None,
    };
    match text[length..].chars().next() {
        Some('`') if after_tick && !tag.opens => Match::None,
        None if after_tick && !tag.opens && !ended => Match::Partial,
        _ => Match::Full(ThinkingMatch::Tag(tag), length),
    }
}
