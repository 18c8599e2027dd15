//! What of a conversation fits a prompt.
//!
//! The newest turns come first. Before a turn is left out, long results of tools are shortened and reasoning is dropped,
//! oldest turns first; then turns go, oldest first and whole, so that a call never stands without its result. The newest
//! earlier turn stays in any case, shortened if it has to be.

use domain::{HistoryTurn, Message, ToolMessage};

use crate::estimate;
use crate::tokens::Family;

/// What stays of a long result of an earlier turn, in bytes.
const SHORT_RESULT: usize = 2_000;

/// What stays of one where even that is too much, in bytes.
const SHORTEST_RESULT: usize = 400;

/// A text of fewer bytes is not worth telling.
const LEAST_TEXT: usize = 32;

/// Stands where text was cut.
const CUT: &str = "\n（内容过长，已截断）";

/// What a search's result begins and ends with; both stay.
const SEARCH: (&str, &str) = ("<search_results>", "\n</search_results>");

/// What of the earlier turns goes into prompts.
#[derive(Debug, PartialEq)]
pub(crate) struct Kept {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    /// How many of the oldest turns are left out.
    pub(crate) left_out: usize,
}

/// The earlier turns as far as they fit, by estimate.
pub(crate) fn keep(past: &[HistoryTurn], budget: u64, family: Family) -> Kept {
    if budget == 0 {
        return Kept { messages: Vec::new(), left_out: past.len() };
    }
    let mut turns: Vec<Sized> = past.iter().map(|turn| Sized::new(turn.messages.clone(), family)).collect();
    // Each turn is measured once at each step: the sum goes along, so that the cost is linear in the turns.
    let mut total = sum(&turns);
    for step in [shorten_results, drop_thinking] {
        for turn in &mut turns {
            if total <= budget {
                break;
            }
            total = total.saturating_sub(turn.tokens);
            turn.change(step, family);
            total = total.saturating_add(turn.tokens);
        }
    }
    let mut left_out = 0;
    while total > budget && left_out + 1 < turns.len() {
        total = total.saturating_sub(turns[left_out].tokens);
        left_out += 1;
    }
    let mut kept: Vec<Sized> = turns.split_off(left_out);
    if let [newest] = kept.as_mut_slice()
        && newest.tokens > budget
        && !newest.squeeze(budget, family)
    {
        kept.clear();
        left_out += 1;
    }
    Kept { messages: kept.into_iter().flat_map(|turn| turn.messages).collect(), left_out }
}

/// The messages of the running turn with its results shortened, oldest first, until all of them fit; the rest stays.
pub(crate) fn fit(messages: &mut [Message], budget: u64, family: Family) {
    let one = |message: &Message| tokens(std::slice::from_ref(message), family);
    // A message is measured again only when it was shortened.
    let mut total = tokens(messages, family);
    for most in [SHORT_RESULT, SHORTEST_RESULT] {
        for message in &mut *messages {
            if total <= budget {
                return;
            }
            if matches!(message, Message::Tool(result) if result.content.len() > most) {
                let before = one(message);
                if let Message::Tool(result) = message {
                    shorten(result, most);
                }
                total = total.saturating_sub(before).saturating_add(one(message));
            }
        }
    }
}

/// The tokens of messages, by estimate.
pub(crate) fn tokens(messages: &[Message], family: Family) -> u64 {
    estimate::messages(family, messages).tokens
}

/// A turn and its tokens.
struct Sized {
    messages: Vec<Message>,
    tokens: u64,
}

impl Sized {
    fn new(messages: Vec<Message>, family: Family) -> Self {
        let tokens = tokens(&messages, family);
        Self { messages, tokens }
    }

    fn change(&mut self, step: fn(&mut Message), family: Family) {
        self.messages.iter_mut().for_each(step);
        self.tokens = tokens(&self.messages, family);
    }

    /// Shortens everything until the turn fits; false when nothing sensible would be left.
    fn squeeze(&mut self, budget: u64, family: Family) -> bool {
        self.change(shorten_results_more, family);
        let mut share = self.messages.iter().map(text_len).max().unwrap_or_default();
        while self.tokens > budget && share >= LEAST_TEXT {
            // The longest texts give most; a little less than in proportion, because shorter ones give nothing.
            let part = budget.saturating_mul(95) / self.tokens.max(1);
            share = share.saturating_mul(usize::try_from(part).unwrap_or(95)) / 100;
            self.messages.iter_mut().for_each(|message| shorten_text(message, share));
            self.tokens = tokens(&self.messages, family);
        }
        self.tokens <= budget
    }
}

fn sum(turns: &[Sized]) -> u64 {
    turns.iter().map(|turn| turn.tokens).sum()
}

fn shorten_results(message: &mut Message) {
    if let Message::Tool(result) = message {
        shorten(result, SHORT_RESULT);
    }
}

fn shorten_results_more(message: &mut Message) {
    if let Message::Tool(result) = message {
        shorten(result, SHORTEST_RESULT);
    }
}

fn drop_thinking(message: &mut Message) {
    if let Message::Assistant { thinking, .. } = message {
        thinking.clear();
    }
}

fn text_len(message: &Message) -> usize {
    match message {
        Message::User { text } | Message::Assistant { text, .. } => text.len(),
        Message::Tool(_) => 0,
    }
}

fn shorten_text(message: &mut Message, most: usize) {
    if let Message::User { text } | Message::Assistant { text, .. } = message {
        cut(text, most);
    }
}

fn shorten(result: &mut ToolMessage, most: usize) {
    if cut(&mut result.content, most) && result.content.starts_with(SEARCH.0) {
        result.content.push_str(SEARCH.1);
    }
}

/// Cuts a text to about `most` bytes at a character boundary and says so; whether it did.
fn cut(text: &mut String, most: usize) -> bool {
    // What is hardly longer than its cut form stays: cutting it would only add words.
    let long = text.len() > most + CUT.len() + SEARCH.1.len();
    if long {
        text.truncate(text.floor_char_boundary(most));
        text.push_str(CUT);
    }
    long
}

#[cfg(test)]
mod tests;
