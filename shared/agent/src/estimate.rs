//! Token counts for providers that report none.

use std::ops::Add;

use conversation::{Message, ToolCall};
use model::Prompt;

use crate::run::count::Measure;

/// Estimates the tokens of a text: one for a CJK character, a quarter for any other, as common tokenizers come out.
fn tokens(text: &str) -> u64 {
    let (mut wide, mut narrow) = (0_u64, 0_u64);
    for character in text.chars() {
        // Han, kana, hangul and full-width forms all lie above this point.
        if character >= '\u{2E80}' { wide += 1 } else { narrow += 1 }
    }
    wide + narrow.div_ceil(4)
}

/// Measures everything that a prompt sends.
pub(crate) fn prompt(prompt: &Prompt) -> Measure {
    let tools = prompt.tools.iter().map(|tool| text(&tool.description) + text(&tool.parameters.to_string()));
    let parts = prompt.messages.iter().map(message).chain(tools);
    parts.fold(text(&prompt.system), Measure::add)
}

/// Measures a reply.
pub(crate) fn reply(words: &str, thinking: &str, calls: &[ToolCall]) -> Measure {
    all(calls).fold(text(words) + text(thinking), Measure::add)
}

fn text(text: &str) -> Measure {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    Measure { characters: text.chars().fold(0, |count, _| count + 1), bytes, tokens: tokens(text) }
}

fn all(calls: &[ToolCall]) -> impl Iterator<Item = Measure> {
    calls.iter().map(|call| text(&call.name) + text(&call.arguments.to_string()))
}

fn message(message: &Message) -> Measure {
    // Each message costs a few tokens for its role and its borders.
    let borders = Measure { tokens: 4, ..Measure::default() };
    let content = match message {
        Message::User { text: words } => text(words),
        Message::Assistant { text: words, calls, .. } => all(calls).fold(text(words), Measure::add),
        Message::Tool(result) => text(&result.content),
    };
    borders + content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_counts_by_character_and_english_by_four() {
        assert_eq!(tokens("今天天气"), 4);
        assert_eq!(tokens("abcdefgh"), 2);
        assert_eq!(tokens(""), 0);
    }
}
