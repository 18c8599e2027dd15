//! Estimates the size of texts: for budgets, and for providers that report no token counts.

use std::ops::Add;

use domain::{Message, ToolCall, ToolSpec};

use crate::tokens::{Family, tokens};

/// The size of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextSize {
    pub(crate) characters: u64,
    pub(crate) bytes: u64,
    /// Estimated.
    pub(crate) tokens: u64,
}

impl Add for TextSize {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            characters: self.characters + other.characters,
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
        }
    }
}

/// The size of messages.
pub(crate) fn messages<'a>(family: Family, messages: impl IntoIterator<Item = &'a Message>) -> TextSize {
    messages.into_iter().map(|one| message(family, one)).fold(TextSize::default(), TextSize::add)
}

/// The size of tools as they are sent to the endpoint.
pub(crate) fn tools(family: Family, tools: &[ToolSpec]) -> TextSize {
    let parts = tools.iter().map(|tool| text(family, &tool.description) + text(family, &tool.parameters.to_string()));
    parts.fold(TextSize::default(), TextSize::add)
}

/// The size of a reply.
pub(crate) fn reply<'a>(
    family: Family,
    content: &str,
    thinking: &str,
    calls: impl IntoIterator<Item = &'a ToolCall>,
) -> TextSize {
    call_sizes(family, calls).fold(text(family, content) + text(family, thinking), TextSize::add)
}

/// The size of a text.
pub(crate) fn text(family: Family, text: &str) -> TextSize {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    TextSize { characters: text.chars().fold(0, |count, _| count + 1), bytes, tokens: tokens(family, text) }
}

fn call_sizes<'a>(family: Family, calls: impl IntoIterator<Item = &'a ToolCall>) -> impl Iterator<Item = TextSize> {
    calls.into_iter().map(move |call| text(family, &call.name) + text(family, &call.arguments.to_string()))
}

fn message(family: Family, message: &Message) -> TextSize {
    // Each message needs about four more tokens for its role and its delimiters.
    let delimiters = TextSize { tokens: 4, ..TextSize::default() };
    let size = match message {
        // Reasoning is sent back to some endpoints, and only with calls.
        Message::Assistant { text: content, calls, thinking, .. } if !calls.is_empty() => {
            call_sizes(family, calls).fold(text(family, content) + text(family, thinking), TextSize::add)
        }
        Message::User { text: content } | Message::Assistant { text: content, .. } => text(family, content),
        Message::Tool(result) => text(family, &result.content),
    };
    delimiters + size
}
