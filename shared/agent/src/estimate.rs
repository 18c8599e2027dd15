//! Estimates the size of texts: for budgets, and for providers that report no token counts.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::ops::Add;
use std::sync::{LazyLock, Mutex};

use domain::{Message, ToolCall, ToolSpec};
use work::{lock, make_space};

use crate::tokens::{Family, tokens};

const MIN_REMEMBERED_BYTES: usize = 256;

/// The tokens of a picture of the size to which models reduce it.
// Width by height in pixels by 750, at most about 1,600:
// https://docs.claude.com/en/docs/build-with-claude/vision, 2026-11-27.
const PICTURE_TOKENS: u64 = 1_600;

/// Maximum number of remembered sizes; all are dropped when there are more.
const MAX_REMEMBERED: usize = 4096;

/// The sizes of texts by family, hash and length. A prompt has the texts of the prompt before it, and those of earlier
/// turns; hashing a text takes about a sixth of the instructions of counting its tokens.
static SIZES: LazyLock<Mutex<RememberedSizes>> = LazyLock::new(Mutex::default);

type RememberedSizes = HashMap<(Family, u64, usize), TextSize>;

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

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

pub(crate) fn messages<'a>(family: Family, messages: impl IntoIterator<Item = &'a Message>) -> TextSize {
    messages.into_iter().map(|one| message(family, one)).fold(TextSize::default(), TextSize::add)
}

/// The size of tools as they are sent to the endpoint.
pub(crate) fn tools(family: Family, tools: &[ToolSpec]) -> TextSize {
    let parts = tools.iter().map(|tool| text(family, &tool.description) + text(family, &tool.parameters.to_string()));
    parts.fold(TextSize::default(), TextSize::add)
}

pub(crate) fn reply<'a>(
    family: Family,
    content: &str,
    thinking: &str,
    calls: impl IntoIterator<Item = &'a ToolCall>,
) -> TextSize {
    let calls = calls.into_iter().map(|call| text(family, &call.name) + text(family, &call.arguments.to_string()));
    calls.fold(text(family, content) + text(family, thinking), TextSize::add)
}

pub(crate) fn text(family: Family, text: &str) -> TextSize {
    if text.len() < MIN_REMEMBERED_BYTES {
        return measure(family, text);
    }
    let key = (family, HASHER.hash_one(text), text.len());
    if let Some(size) = lock(&SIZES).get(&key) {
        return *size;
    }
    let size = measure(family, text);
    let mut sizes = lock(&SIZES);
    make_space(&mut sizes, MAX_REMEMBERED, |_| false);
    sizes.insert(key, size);
    size
}

fn measure(family: Family, text: &str) -> TextSize {
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    TextSize { characters: count(text.chars().count()), bytes: count(text.len()), tokens: tokens(family, text) }
}

fn message(family: Family, message: &Message) -> TextSize {
    // Each message needs about four more tokens for its role and its delimiters.
    let delimiters = TextSize { tokens: 4, ..TextSize::default() };
    let size = match message {
        // Reasoning is sent back to some endpoints, and only with calls.
        Message::Assistant { text, calls, thinking, .. } if !calls.is_empty() => reply(family, text, thinking, calls),
        Message::User { text: content, attachments } => {
            let pictures = attachments.len() as u64 * PICTURE_TOKENS;
            text(family, content) + TextSize { tokens: pictures, ..TextSize::default() }
        }
        Message::Assistant { text: content, .. } => text(family, content),
        Message::Tool(result) => text(family, &result.content),
    };
    delimiters + size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_long_texts_are_remembered() {
        let long = "两个 words ".repeat(40);
        let (measured, planted) = (text(Family::O200k, &long), TextSize { characters: 1, bytes: 2, tokens: 3 });
        assert_eq!(measured, measure(Family::O200k, &long));
        lock(&SIZES).insert((Family::O200k, HASHER.hash_one(&*long), long.len()), planted);
        assert_eq!(text(Family::O200k, &long), planted, "it is not measured again");
        assert_eq!(text(Family::Unknown, &long), measure(Family::Unknown, &long), "another family counts differently");
    }
}
