//! Selects the part of a conversation that fits into a prompt.
//!
//! The newest turns have priority. Before a turn is left out, long tool results are truncated and reasoning is dropped,
//! oldest turns first. Then whole turns are left out, oldest first, so that a call never appears without its result. The
//! newest earlier turn always stays, truncated if necessary. The results of the running turn share what is left.

use domain::{HistoryTurn, Message, ToolMessage};

use crate::estimate;
use crate::tokens::{self, Family};
use prompts::AgentTexts;

/// Length to which a long result of an earlier turn is truncated, in bytes.
pub(crate) const SHORT_RESULT_BYTES: usize = 2_000;

/// Length to which it is truncated if that is still too long, in bytes.
const SHORTEST_RESULT_BYTES: usize = 400;

/// Minimum length to which other texts are truncated, in bytes; a shorter text has no use.
const MIN_TEXT_BYTES: usize = 32;

/// Maximum length of a note and a last line after a truncated text, in bytes.
const MAX_NOTE_BYTES: usize = 64;

/// The first and last line of a search result; both are kept.
const SEARCH_TAGS: (&str, &str) = ("<search_results>", "\n</search_results>");

/// The model family that counts the tokens, and the texts for the model.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) family: Family,
    pub(crate) texts: &'static AgentTexts,
    /// Tokens around a result and its call where they are written as text.
    pub(crate) result_frame_tokens: u64,
}

#[derive(Debug, PartialEq)]
pub(crate) struct SelectedHistory {
    /// Oldest first.
    pub(crate) messages: Vec<Message>,
    /// How many of the oldest turns are left out.
    pub(crate) left_out: usize,
}

pub(crate) fn select(history: &[HistoryTurn], budget: u64, target: Target) -> SelectedHistory {
    if budget == 0 {
        return SelectedHistory { messages: Vec::new(), left_out: history.len() };
    }
    let mut turns: Vec<SizedTurn> = history.iter().map(|turn| SizedTurn::new(turn.messages.clone(), target)).collect();
    // Each step measures each turn once and updates the sum, so that the cost is linear in the number of turns.
    let mut total: u64 = turns.iter().map(|turn| turn.tokens).sum();
    let steps: [fn(&mut Message, &AgentTexts); 2] =
        [|message, texts| truncate_if_result(message, SHORT_RESULT_BYTES, texts), drop_thinking];
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

/// Truncates the longest results of the running turn until all its messages fit. These results keep the same number of
/// tokens each, and other messages stay unchanged.
pub(crate) fn share_among_results(messages: &mut [Message], budget: u64, target: Target) {
    let total = tokens(messages, target);
    if total <= budget {
        return;
    }
    let sizes: Vec<u64> = messages.iter().map(|message| content_tokens(message, target)).collect();
    let others = total.saturating_sub(sizes.iter().sum());
    let share = equal_share(&sizes, budget.saturating_sub(others));
    for (message, size) in messages.iter_mut().zip(sizes) {
        if let Message::Tool(result) = message
            && size > share
        {
            truncate_to_tokens(result, share, target);
        }
    }
}

/// The largest share with which all sizes together stay within `available` if each is limited to it.
fn equal_share(sizes: &[u64], available: u64) -> u64 {
    let mut ascending: Vec<u64> = sizes.iter().copied().filter(|size| *size > 0).collect();
    ascending.sort_unstable();
    let mut rest = available;
    for (size, count) in ascending.iter().zip((1..=ascending.len() as u64).rev()) {
        if *size > rest / count {
            return rest / count;
        }
        rest -= size;
    }
    u64::MAX
}

/// The number of tokens of the content of a result, estimated; 0 for other messages.
fn content_tokens(message: &Message, target: Target) -> u64 {
    match message {
        Message::Tool(result) => estimate::text(target.family, &result.content).tokens,
        Message::User { .. } | Message::Assistant { .. } => 0,
    }
}

pub(crate) fn result_tokens(messages: &[Message], target: Target) -> u64 {
    messages.iter().map(|message| content_tokens(message, target)).sum()
}

pub(crate) fn tokens(messages: &[Message], target: Target) -> u64 {
    let results = messages.iter().filter(|message| matches!(message, Message::Tool(_))).count() as u64;
    estimate::messages(target.family, messages).tokens + results.saturating_mul(target.result_frame_tokens)
}

struct SizedTurn {
    messages: Vec<Message>,
    tokens: u64,
}

impl SizedTurn {
    fn new(messages: Vec<Message>, target: Target) -> Self {
        let tokens = tokens(&messages, target);
        Self { messages, tokens }
    }

    fn change(&mut self, step: impl Fn(&mut Message, &AgentTexts), target: Target) {
        self.messages.iter_mut().for_each(|message| step(message, target.texts));
        self.tokens = tokens(&self.messages, target);
    }

    /// Truncates all texts until the turn fits; false if too little text would remain.
    fn truncate_to(&mut self, budget: u64, target: Target) -> bool {
        self.change(|message, texts| truncate_if_result(message, SHORTEST_RESULT_BYTES, texts), target);
        let text_len = |message: &Message| match message {
            Message::User { text, .. } | Message::Assistant { text, .. } => text.len(),
            Message::Tool(_) => 0,
        };
        let mut share = self.messages.iter().map(text_len).max().unwrap_or_default();
        while self.tokens > budget && share >= MIN_TEXT_BYTES {
            // Only the longest texts are truncated, so their share is a little smaller than in proportion.
            let part = budget.saturating_mul(95) / self.tokens.max(1);
            share = share.saturating_mul(usize::try_from(part).unwrap_or(95)) / 100;
            let shorten = |message: &mut Message, texts: &AgentTexts| {
                if let Message::User { text, .. } | Message::Assistant { text, .. } = message {
                    truncate(text, share, texts);
                }
            };
            self.change(shorten, target);
        }
        self.tokens <= budget
    }
}

fn drop_thinking(message: &mut Message, _: &AgentTexts) {
    if let Message::Assistant { thinking, provider_data, .. } = message {
        thinking.clear();
        *provider_data = None;
    }
}

fn truncate_if_result(message: &mut Message, max_bytes: usize, texts: &AgentTexts) {
    if let Message::Tool(result) = message {
        truncate_result(result, max_bytes, texts);
    }
}

/// Truncates a result to about `max_bytes`; one of a search keeps its last line.
pub(crate) fn truncate_result(result: &mut ToolMessage, max_bytes: usize, texts: &AgentTexts) {
    let (first, last) = SEARCH_TAGS;
    if truncate(&mut result.content, max_bytes, texts) && result.content.starts_with(first) {
        result.content.push_str(last);
    }
}

/// Truncates a result to this many tokens, the note on it included, but not below the shortest length.
fn truncate_to_tokens(result: &mut ToolMessage, max_tokens: u64, target: Target) {
    let (first, last) = SEARCH_TAGS;
    let is_search = result.content.starts_with(first);
    let end = format!("\n{}{}", target.texts.truncated, if is_search { last } else { "" });
    // One more token, because the texts are counted separately.
    let max_tokens = max_tokens.saturating_sub(estimate::text(target.family, &end).tokens + 1);
    let bytes = tokens::fitting_bytes(target.family, &result.content, max_tokens).max(SHORTEST_RESULT_BYTES);
    if bytes < result.content.len() {
        result.content.truncate(result.content.floor_char_boundary(bytes));
        result.content.push_str(&end);
    }
}

/// Truncates a text to about `max_bytes` at a character boundary and appends a note; returns whether it was too long.
pub(crate) fn truncate(text: &mut String, max_bytes: usize, texts: &AgentTexts) -> bool {
    let note = format!("\n{}", texts.truncated);
    // A text that is hardly longer than its truncated form stays, also one that was truncated in another language.
    let is_long = text.len() > max_bytes + MAX_NOTE_BYTES;
    if is_long {
        text.truncate(text.floor_char_boundary(max_bytes));
        text.push_str(&note);
    }
    is_long
}

#[cfg(test)]
mod tests;
