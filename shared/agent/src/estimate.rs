//! Token counts for providers that report none.

use conversation::{Message, ToolCall};
use model::Prompt;

/// Estimates the tokens of a text: one for a CJK character, a quarter for any other, as common tokenizers come out.
pub(crate) fn tokens(text: &str) -> u64 {
    let (mut wide, mut narrow) = (0_u64, 0_u64);
    for character in text.chars() {
        // Han, kana, hangul and full-width forms all lie above this point.
        if character >= '\u{2E80}' { wide += 1 } else { narrow += 1 }
    }
    wide + narrow.div_ceil(4)
}

/// Estimates the tokens of everything that a prompt sends.
pub(crate) fn prompt_tokens(prompt: &Prompt) -> u64 {
    // Each message costs a few tokens for its role and its borders.
    let messages: u64 = prompt.messages.iter().map(|message| 4 + message_tokens(message)).sum();
    let tools: u64 =
        prompt.tools.iter().map(|tool| tokens(&tool.description) + tokens(&tool.parameters.to_string())).sum();
    tokens(&prompt.system) + messages + tools
}

/// Estimates the tokens of a reply.
pub(crate) fn reply_tokens(text: &str, thinking: &str, calls: &[ToolCall]) -> u64 {
    tokens(text) + tokens(thinking) + call_tokens(calls)
}

fn call_tokens(calls: &[ToolCall]) -> u64 {
    calls.iter().map(|call| tokens(&call.name) + tokens(&call.arguments.to_string())).sum()
}

fn message_tokens(message: &Message) -> u64 {
    match message {
        Message::User { text } => tokens(text),
        Message::Assistant { text, calls, .. } => tokens(text) + call_tokens(calls),
        Message::Tool(result) => tokens(&result.content),
    }
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
