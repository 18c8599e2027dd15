use std::collections::VecDeque;

use domain::ReasoningItem;

use crate::errors::AttemptError;
use crate::wire::Phase;
use crate::wire::tool_calls::{CallAssembler, CallFragment};
use crate::{Delta, Finish, ModelError, NativeCall, TokenUsage};

/// The maximum size of text, thinking and calls in one reply, in bytes.
pub(crate) const MAX_REPLY_BYTES: usize = 4 * 1024 * 1024;

/// The maximum text of one delta, in bytes: a longer text is split, so that the reader can yield in between.
const MAX_DELTA_BYTES: usize = 16 * 1024;

/// A reply as far as it is decoded: its queued deltas, adjacent ones of one kind merged, and what its end needs.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the reply")]
pub(crate) struct DeltaQueue {
    deltas: VecDeque<Delta>,
    bytes: usize,
    /// Whether a part of the answer has arrived since the last `take_progress`.
    has_progress: bool,
    /// Whether text, thinking or a call has arrived: from then on the request is not retried.
    pub(crate) has_content: bool,
    pub(super) has_text: bool,
    has_call: bool,
    /// The text and the signature of the current block of thinking.
    thinking: (String, String),
    pub(super) calls: CallAssembler,
    pub(super) usage: Option<TokenUsage>,
    pub(super) finish: Option<Finish>,
    /// Whether the rest of the response is ignored.
    pub(super) is_done: bool,
}

impl DeltaQueue {
    pub(crate) fn push_text(&mut self, more: &str) -> Result<(), AttemptError> {
        self.has_text |= !more.is_empty();
        for more in split_text(more) {
            match self.deltas.back_mut() {
                Some(Delta::Text(text)) if text.len() + more.len() <= MAX_DELTA_BYTES => text.push_str(more),
                _ => self.push_content(Delta::Text(more.to_owned())),
            }
        }
        self.count_bytes(more.len())
    }

    pub(crate) fn push_thinking(&mut self, more: &str) -> Result<(), AttemptError> {
        for more in split_text(more) {
            match self.deltas.back_mut() {
                Some(Delta::Thinking(text)) if text.len() + more.len() <= MAX_DELTA_BYTES => text.push_str(more),
                _ => self.push_content(Delta::Thinking(more.to_owned())),
            }
        }
        self.count_bytes(more.len())
    }

    /// Adds to a block of thinking, which the provider must receive back with its signature.
    pub(super) fn push_signed_thinking(&mut self, text: &str, signature: &str) -> Result<(), AttemptError> {
        self.thinking.0.push_str(text);
        self.thinking.1.push_str(signature);
        self.push_thinking(text)?;
        self.count_bytes(signature.len())
    }

    /// Appends the block of thinking that has ended, if it has a signature.
    pub(super) fn end_thinking(&mut self) {
        let (text, signature) = std::mem::take(&mut self.thinking);
        if !signature.is_empty() {
            self.push_reasoning(ReasoningItem::Thinking { text, signature });
        }
    }

    /// Counts bytes towards [`MAX_REPLY_BYTES`], and as progress.
    pub(crate) fn count_bytes(&mut self, bytes: usize) -> Result<(), AttemptError> {
        self.has_progress |= bytes > 0;
        self.bytes += bytes;
        if self.bytes > MAX_REPLY_BYTES { Err(AttemptError::fatal(ModelError::BadResponse)) } else { Ok(()) }
    }

    /// Adds a fragment of a call, which is pushed at the end.
    pub(super) fn add_call(&mut self, fragment: &CallFragment<'_>) -> Result<(), AttemptError> {
        self.calls.add(fragment);
        self.count_bytes(fragment.id.len() + fragment.name.len() + fragment.arguments.len() + fragment.signature.len())
    }

    pub(crate) fn push_call(&mut self, call: NativeCall) {
        self.has_call = true;
        self.push_content(Delta::Call(call));
    }

    /// Appends a call that arrived whole, unless it has no name.
    pub(crate) fn push_whole_call(
        &mut self,
        id: &str,
        name: &str,
        arguments: &str,
        signature: &str,
    ) -> Result<(), AttemptError> {
        if name.trim().is_empty() {
            return Ok(());
        }
        let call = NativeCall::new(id, name, arguments);
        self.push_call(NativeCall { signature: signature.to_owned(), ..call });
        self.count_bytes(name.len() + arguments.len())
    }

    /// Appends a part of the reasoning that the provider must receive back.
    pub(crate) fn push_reasoning(&mut self, item: ReasoningItem) {
        self.deltas.push_back(Delta::Reasoning(Box::new(item)));
    }

    /// Appends the end of the response: the pending calls, the token usage and the finish.
    ///
    /// # Errors
    /// No finish has arrived.
    pub(super) fn push_end(&mut self) -> Result<(), AttemptError> {
        let finish = self.finish.ok_or_else(|| AttemptError::transient(ModelError::Disconnected))?;
        self.end_thinking();
        let (calls, has_dropped) = self.calls.take(matches!(finish, Finish::Length | Finish::ContentFilter));
        for call in calls {
            self.push_call(call);
        }
        if has_dropped && finish == Finish::Length {
            self.push_content(Delta::CutCall);
        }
        if let Some(usage) = self.usage.filter(|usage| *usage != TokenUsage::default()) {
            self.deltas.push_back(Delta::Usage(usage));
        }
        self.push_finish(finish);
        Ok(())
    }

    /// Appends the finish, which agrees with the calls.
    pub(crate) fn push_finish(&mut self, finish: Finish) {
        self.deltas.push_back(Delta::Finish(match finish {
            Finish::Stop | Finish::ToolCalls if self.has_call => Finish::ToolCalls,
            Finish::Stop | Finish::ToolCalls => Finish::Stop,
            cut => cut,
        }));
    }

    pub(crate) fn pop(&mut self) -> Option<Delta> {
        self.deltas.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.deltas.is_empty()
    }

    pub(super) fn phase(&self) -> Phase {
        match self.finish {
            _ if self.is_done => Phase::Done,
            Some(_) => Phase::Finished,
            None => Phase::Open,
        }
    }

    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.has_progress)
    }

    fn push_content(&mut self, delta: Delta) {
        self.has_content = true;
        self.deltas.push_back(delta);
    }
}

/// Splits the text into parts of at most [`MAX_DELTA_BYTES`] bytes.
fn split_text(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(MAX_DELTA_BYTES));
        text = rest;
        Some(piece).filter(|piece| !piece.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_split_into_deltas() {
        let (mut deltas, text) = (DeltaQueue::default(), "汉字".repeat(10_000));
        deltas.push_text(&text).unwrap();
        deltas.push_text("x").unwrap();
        let mut texts = Vec::new();
        while let Some(delta) = deltas.pop() {
            let Delta::Text(piece) = delta else { continue };
            assert!(piece.len() <= MAX_DELTA_BYTES);
            texts.push(piece);
        }
        assert_eq!((texts.len(), texts.concat()), (4, text + "x"));
    }
}
