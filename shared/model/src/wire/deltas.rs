use std::collections::VecDeque;

use crate::fault::Fault;
use crate::{Delta, Finish, ModelError, NativeCall, TokenUsage};

/// Most bytes of text, thinking and calls in one reply.
pub(crate) const REPLY_LIMIT: usize = 4 * 1024 * 1024;

/// The longest text of one delta, in bytes: a longer one is divided, so that the reader can yield in between.
const LONGEST_DELTA: usize = 16 * 1024;

/// The deltas that are ready to be taken; neighbours of one kind are one delta.
#[derive(Debug, Default)]
pub(crate) struct Deltas {
    /// The oldest, which mostly is the only one, stands here: a list would be one more piece of memory for each word.
    first: Option<Delta>,
    /// Empty without a first.
    others: VecDeque<Delta>,
    bytes: usize,
    /// Whether anything of the answer came since this was last looked at.
    progress: bool,
    substance: bool,
}

impl Deltas {
    /// More of the answer.
    pub(crate) fn text(&mut self, more: &str) -> Result<(), Fault> {
        if more.is_empty() {
            return Ok(());
        }
        self.substance = true;
        for more in pieces(more) {
            match self.last() {
                Some(Delta::Text(text)) if text.len() + more.len() <= LONGEST_DELTA => text.push_str(more),
                _ => self.push(Delta::Text(more.to_owned())),
            }
        }
        self.grow(more.len())
    }

    /// More of the reasoning.
    pub(crate) fn thinking(&mut self, more: &str) -> Result<(), Fault> {
        if more.is_empty() {
            return Ok(());
        }
        self.substance = true;
        for more in pieces(more) {
            match self.last() {
                Some(Delta::Thinking(text)) if text.len() + more.len() <= LONGEST_DELTA => text.push_str(more),
                _ => self.push(Delta::Thinking(more.to_owned())),
            }
        }
        self.grow(more.len())
    }

    /// A piece of a call came that is not ready to be given out.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<(), Fault> {
        self.progress |= bytes > 0;
        self.bytes += bytes;
        if self.bytes > REPLY_LIMIT { Err(Fault::last(ModelError::BadResponse)) } else { Ok(()) }
    }

    /// A complete call.
    pub(crate) fn call(&mut self, call: NativeCall) {
        self.substance = true;
        self.push(Delta::Call(call));
    }

    /// A call was cut by the output limit.
    pub(crate) fn cut_call(&mut self) {
        self.substance = true;
        self.push(Delta::CutCall);
    }

    /// The end, after what the provider counted.
    pub(crate) fn finish(&mut self, usage: Option<TokenUsage>, finish: Finish) {
        if let Some(usage) = usage.filter(|usage| *usage != TokenUsage::default()) {
            self.push(Delta::Usage(usage));
        }
        self.push(Delta::Finish(finish));
    }

    /// The oldest delta.
    pub(crate) fn pop(&mut self) -> Option<Delta> {
        std::mem::replace(&mut self.first, self.others.pop_front())
    }

    /// Whether nothing is ready.
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Whether there has been text, thinking or a call: from then on the request is not repeated.
    pub(crate) fn has_substance(&self) -> bool {
        self.substance
    }

    /// Whether there was progress since the last time this was asked.
    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progress)
    }

    fn push(&mut self, delta: Delta) {
        match self.first {
            None => self.first = Some(delta),
            Some(_) => self.others.push_back(delta),
        }
    }

    fn last(&mut self) -> Option<&mut Delta> {
        self.others.back_mut().or(self.first.as_mut())
    }
}
/// The text in parts of at most [`LONGEST_DELTA`] bytes.
fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (piece, rest) = text.split_at(text.floor_char_boundary(LONGEST_DELTA));
        text = rest;
        Some(piece).filter(|piece| !piece.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_becomes_several_deltas() {
        let (mut deltas, text) = (Deltas::default(), "汉字".repeat(10_000));
        deltas.text(&text).unwrap();
        deltas.text("x").unwrap();
        let mut told = Vec::new();
        while let Some(delta) = deltas.pop() {
            let Delta::Text(piece) = delta else { continue };
            assert!(piece.len() <= LONGEST_DELTA);
            told.push(piece);
        }
        assert_eq!((told.len(), told.concat()), (4, text + "x"));
    }
}
