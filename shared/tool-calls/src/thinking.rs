mod answer;
mod frames;
mod hidden_calls;
mod reasoning;
mod tags;
mod thoughts;

use self::answer::AnswerState;
use self::frames::{Frame, MESSAGE_START, Recipient, match_recipient};
use self::hidden_calls::{HiddenCalls, HiddenStep};
use self::reasoning::{LEADING_ELEMENT, Opening, ThinkingMatch, match_in_reasoning, plain_len};
use self::tags::ThinkingTag;
use self::thoughts::Thoughts;
use crate::markers::Match;
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
    /// Whether a reply may begin with an element of reasoning that counts nowhere else.
    has_leading_element: bool,
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

    /// Also takes `<reasoning>…</reasoning>` at the very beginning for reasoning. Users may want this element in answers of
    /// other models.
    #[must_use]
    pub fn with_leading_element(self) -> Self {
        Self { has_leading_element: true, ..self }
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

    /// Whether the reply is in reasoning that has not ended.
    pub fn is_in_reasoning(&self) -> bool {
        matches!(self.state, FilterState::Reasoning { .. })
    }

    /// The reasoning arrives outside of the text: this is the answer, and an end tag in it closes nothing.
    pub fn expect_answer(&mut self) {
        self.answer.is_no_reasoning = true;
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
        let buffer = std::mem::take(&mut self.buffer);
        let mut at = 0;
        while at < buffer.len() {
            let Some(length) = self.read_next(&buffer[at..], ended, parts) else { break };
            at += length;
        }
        self.buffer = buffer;
        self.buffer.drain(..at);
    }

    /// Reads what is at the beginning of the text; returns its length, which is 0 if only the state changed, or `None` if it needs
    /// more text.
    fn read_next(&mut self, text: &str, ended: bool, parts: &mut Vec<ReplyPart>) -> Option<usize> {
        let length = if self.calls.open.is_some() {
            match self.read_hidden_call(text, ended) {
                HiddenStep::NeedMore => return None,
                HiddenStep::Thinking(length) => length,
                HiddenStep::Answer => {
                    self.state = FilterState::Answer;
                    text.len()
                }
            }
        } else {
            let plain = plain_len(text.as_bytes());
            match if plain > 0 && self.answer.has_begun { Match::None } else { self.match_at(text, ended) } {
                Match::Full(ThinkingMatch::Marker, length) => length,
                Match::Full(matched, length) => return self.apply(matched, text, length, ended, parts),
                Match::Partial => return None,
                Match::None if plain > 0 && self.answer.has_begun => plain,
                Match::None => 1 + plain_len(&text.as_bytes()[1..]),
            }
        };
        self.emit(&text[..length], parts);
        Some(length)
    }

    /// Applies a match of this length at the beginning of the text, which is not emitted.
    fn apply(
        &mut self,
        matched: ThinkingMatch,
        text: &str,
        length: usize,
        ended: bool,
        parts: &mut Vec<ReplyPart>,
    ) -> Option<usize> {
        match matched {
            ThinkingMatch::Tag(tag) => {
                let may_close_text = !tag.opens && self.is_unopened();
                if may_close_text && !ended && length == text.len() {
                    return None;
                }
                if may_close_text && self.answer.closes_text(tag, &text[length..]) {
                    parts.push(ReplyPart::TextWasThinking);
                    self.answer.restart();
                }
                self.apply_tag(tag);
                return Some(length);
            }
            ThinkingMatch::Frame(frame) => {
                self.answer.has_citations |= text.starts_with("<|START_");
                if frame == Frame::ThinkingEnd && self.is_unopened() {
                    parts.push(ReplyPart::TextWasThinking);
                    self.answer.restart();
                }
                self.apply_frame(frame);
                return Some(length);
            }
            ThinkingMatch::LeadingElement => {
                self.answer.has_begun = true;
                match self.state {
                    FilterState::Answer => self.begin_reasoning(Opening::Leading),
                    FilterState::Reasoning { .. } => self.begin_answer(),
                }
                return Some(length);
            }
            ThinkingMatch::CallHeader => {
                // As the scanner knows it, with the blank that is there or not.
                self.emit(MESSAGE_START, parts);
                self.emit(" to=", parts);
                self.answer.begin_call();
                return Some(length + "to=".len());
            }
            ThinkingMatch::CallAfterReasoning => self.apply_frame(Frame::End),
            ThinkingMatch::HiddenCall | ThinkingMatch::Marker => self.calls.open(length),
        }
        Some(0)
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
            FilterState::Answer if self.has_leading_element && !self.answer.has_begun => {
                Match::literal(text, LEADING_ELEMENT.0, ThinkingMatch::LeadingElement)
                    .or_else(|| self.answer.match_in_answer(text, ended))
            }
            FilterState::Answer => self.answer.match_in_answer(text, ended),
            FilterState::Reasoning { opened_by, after_tick } => {
                let seeks_calls = self.calls.is_enabled() && !after_tick;
                match_in_reasoning(text, opened_by, after_tick, seeks_calls, ended)
            }
        };
        matched.unless_cut(ended)
    }

    /// Whether text was emitted that an end tag at the current position may close.
    fn is_unopened(&self) -> bool {
        matches!(self.state, FilterState::Answer) && !self.answer.is_no_reasoning && self.answer.has_text
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
        self.answer.is_no_reasoning = true;
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
        push_part(text, self.is_in_reasoning(), parts);
    }
}

/// Appends text to a last part of its kind.
fn push_part(text: &str, is_thinking: bool, parts: &mut Vec<ReplyPart>) {
    match (parts.last_mut(), is_thinking) {
        (Some(ReplyPart::Thinking(last)), true) | (Some(ReplyPart::Text(last)), false) => last.push_str(text),
        (_, true) => parts.push(ReplyPart::Thinking(text.to_owned())),
        (_, false) => parts.push(ReplyPart::Text(text.to_owned())),
    }
}
