//! Selects the part of a conversation that fits into a prompt.
//!
//! The newest turns have priority. Before a turn is left out, long tool results are truncated and reasoning is dropped,
//! oldest turns first. Then whole turns are left out, oldest first, so that a call never appears without its result. The
//! newest earlier turn always stays, truncated if necessary.

use domain::{HistoryTurn, Message, ToolMessage};

use crate::estimate;
use crate::tokens::Family;
use prompts::AgentTexts;

/// Length to which a long result of an earlier turn is truncated, in bytes.
const SHORT_RESULT_BYTES: usize = 2_000;

/// Length to which it is truncated if that is still too long, in bytes.
const SHORTEST_RESULT_BYTES: usize = 400;

/// Minimum length to which other texts are truncated, in bytes; a shorter text has no use.
const MIN_TEXT_BYTES: usize = 32;

/// The first and last line of a search result; both are kept.
const SEARCH_TAGS: (&str, &str) = ("<search_results>", "\n</search_results>");

/// The model family that counts the tokens, and the texts for the model.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) family: Family,
    pub(crate) texts: &'static AgentTexts,
}

/// The earlier turns that fit into a prompt.
#[derive(Debug, PartialEq)]
pub(crate) struct SelectedHistory {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    /// How many of the oldest turns are left out.
    pub(crate) left_out: usize,
}

/// Selects the earlier turns that fit into a budget of estimated tokens.
pub(crate) fn select(history: &[HistoryTurn], budget: u64, target: Target) -> SelectedHistory {
    if budget == 0 {
        return SelectedHistory { messages: Vec::new(), left_out: history.len() };
    }
    let mut turns: Vec<SizedTurn> = history.iter().map(|turn| SizedTurn::new(turn.messages.clone(), target)).collect();
    // Each step measures each turn once and updates the sum, so that the cost is linear in the number of turns.
    let mut total = sum_of(&turns);
    let steps: [fn(&mut Message, &AgentTexts); 2] = [shorten_result, drop_thinking];
    for step in steps {
        for turn in &mut turns {
            if total <= budget {
                break;
            }
            total = total.saturating_sub(turn.tokens);
            turn.change(step, target);
            total = total.saturating_add(turn.tokens);
        }
    }
    let mut left_out = 0;
    while total > budget && left_out + 1 < turns.len() {
        total = total.saturating_sub(turns[left_out].tokens);
        left_out += 1;
    }
    let mut selected: Vec<SizedTurn> = turns.split_off(left_out);
    if let [newest] = selected.as_mut_slice()
        && newest.tokens > budget
        && !newest.truncate_to(budget, target)
    {
        selected.clear();
        left_out += 1;
    }
    SelectedHistory { messages: selected.into_iter().flat_map(|turn| turn.messages).collect(), left_out }
}

/// Truncates results of the running turn, oldest first, until all its messages fit. Other messages stay unchanged.
pub(crate) fn truncate_results(messages: &mut [Message], budget: u64, target: Target) {
    let tokens_of = |message: &Message| tokens(std::slice::from_ref(message), target.family);
    // A message is measured again only after it was truncated.
    let mut total = tokens(messages, target.family);
    for max_bytes in [SHORT_RESULT_BYTES, SHORTEST_RESULT_BYTES] {
        for message in &mut *messages {
            if total <= budget {
                return;
            }
            if matches!(message, Message::Tool(result) if result.content.len() > max_bytes) {
                let before = tokens_of(message);
                if let Message::Tool(result) = message {
                    truncate_result(result, max_bytes, target.texts);
                }
                total = total.saturating_sub(before).saturating_add(tokens_of(message));
            }
        }
    }
}

/// The number of tokens of messages, estimated.
pub(crate) fn tokens(messages: &[Message], family: Family) -> u64 {
    estimate::messages(family, messages).tokens
}

/// A turn with its number of tokens.
struct SizedTurn {
    messages: Vec<Message>,
    tokens: u64,
}

impl SizedTurn {
    fn new(messages: Vec<Message>, target: Target) -> Self {
        let tokens = tokens(&messages, target.family);
        Self { messages, tokens }
    }

    fn change(&mut self, step: impl Fn(&mut Message, &AgentTexts), target: Target) {
        self.messages.iter_mut().for_each(|message| step(message, target.texts));
        self.tokens = tokens(&self.messages, target.family);
    }

    /// Truncates all texts until the turn fits; false if too little text would remain.
    fn truncate_to(&mut self, budget: u64, target: Target) -> bool {
        self.change(|message, texts| truncate_if_result(message, SHORTEST_RESULT_BYTES, texts), target);
        let mut share = self.messages.iter().map(text_len).max().unwrap_or_default();
        while self.tokens > budget && share >= MIN_TEXT_BYTES {
            // Only the longest texts are truncated, so their share is a little smaller than in proportion.
            let part = budget.saturating_mul(95) / self.tokens.max(1);
            share = share.saturating_mul(usize::try_from(part).unwrap_or(95)) / 100;
            self.change(|message, texts| truncate_if_text(message, share, texts), target);
        }
        self.tokens <= budget
    }
}

fn sum_of(turns: &[SizedTurn]) -> u64 {
    turns.iter().map(|turn| turn.tokens).sum()
}

fn shorten_result(message: &mut Message, texts: &AgentTexts) {
    truncate_if_result(message, SHORT_RESULT_BYTES, texts);
}

fn drop_thinking(message: &mut Message, _: &AgentTexts) {
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

fn truncate_if_text(message: &mut Message, max_bytes: usize, texts: &AgentTexts) {
    if let Message::User { text } | Message::Assistant { text, .. } = message {
        truncate(text, max_bytes, texts);
    }
}

fn truncate_if_result(message: &mut Message, max_bytes: usize, texts: &AgentTexts) {
    if let Message::Tool(result) = message {
        truncate_result(result, max_bytes, texts);
    }
}

fn truncate_result(result: &mut ToolMessage, max_bytes: usize, texts: &AgentTexts) {
    let (first, last) = SEARCH_TAGS;
    if truncate(&mut result.content, max_bytes, texts) && result.content.starts_with(first) {
        result.content.push_str(last);
    }
}

/// Truncates a text to about `max_bytes` at a character boundary and appends a note; returns whether it was too long.
fn truncate(text: &mut String, max_bytes: usize, texts: &AgentTexts) -> bool {
    let note = format!("\n{}", texts.truncated);
    // A text that is hardly longer than its truncated form stays: truncation would only lengthen it.
    let is_long = text.len() > max_bytes + note.len() + SEARCH_TAGS.1.len();
    if is_long {
        text.truncate(text.floor_char_boundary(max_bytes));
        text.push_str(&note);
    }
    is_long
}

#[cfg(test)]
mod tests;
