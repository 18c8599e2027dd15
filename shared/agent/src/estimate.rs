//! Measures texts: for budgets, and for providers that report no counts.

use std::ops::Add;

use domain::{Message, ToolCall, ToolSpec};

use crate::run::count::Measure;
use crate::tokens::{Family, tokens};

/// Measures messages.
pub(crate) fn messages<'a>(family: Family, messages: impl IntoIterator<Item = &'a Message>) -> Measure {
    messages.into_iter().map(|one| message(family, one)).fold(Measure::default(), Measure::add)
}

/// Measures tools that go over the wire.
pub(crate) fn tools(family: Family, tools: &[ToolSpec]) -> Measure {
    let parts = tools.iter().map(|tool| text(family, &tool.description) + text(family, &tool.parameters.to_string()));
    parts.fold(Measure::default(), Measure::add)
}

/// Measures a reply.
pub(crate) fn reply<'a>(
    family: Family,
    words: &str,
    thinking: &str,
    calls: impl IntoIterator<Item = &'a ToolCall>,
) -> Measure {
    all(family, calls).fold(text(family, words) + text(family, thinking), Measure::add)
}

/// Measures a text.
pub(crate) fn text(family: Family, text: &str) -> Measure {
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    Measure { characters: text.chars().fold(0, |count, _| count + 1), bytes, tokens: tokens(family, text) }
}

fn all<'a>(family: Family, calls: impl IntoIterator<Item = &'a ToolCall>) -> impl Iterator<Item = Measure> {
    calls.into_iter().map(move |call| text(family, &call.name) + text(family, &call.arguments.to_string()))
}

fn message(family: Family, message: &Message) -> Measure {
    // Each message costs a few tokens for its role and its borders.
    let borders = Measure { tokens: 4, ..Measure::default() };
    let content = match message {
        // Reasoning goes back to some endpoints, and with calls only.
        Message::Assistant { text: words, calls, thinking } if !calls.is_empty() => {
            all(family, calls).fold(text(family, words) + text(family, thinking), Measure::add)
        }
        Message::User { text: words } | Message::Assistant { text: words, .. } => text(family, words),
        Message::Tool(result) => text(family, &result.content),
    };
    borders + content
}
