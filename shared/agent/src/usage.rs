//! Tokens and cost of a reply: as the provider counted them, or estimated where its counts are implausible.

use domain::Usage;
use llm::{ModelConfig, Price, TokenUsage};

use crate::estimate::TextSize;
use crate::tokens::Family;

/// Maximum length of a token of any vocabulary, in characters.
const MAX_TOKEN_CHARS: u64 = 128;

/// Maximum number of characters of a prompt that a provider may not count, such as tools that it writes in its own format.
const MAX_UNCOUNTED_CHARS: u64 = 4096;

/// Maximum number of tokens in addition to the text that was sent or shown: a template, the provider's own system prompt,
/// or hidden reasoning. The largest reasoning limit of a known model is 131,072.
const MAX_HIDDEN_TOKENS: u64 = 200_000;

/// What is needed to compute the usage of a reply that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingReply {
    pub(crate) prompt: TextSize,
    pub(crate) price: Option<Price>,
    pub(crate) family: Family,
}

impl PendingReply {
    pub(crate) fn new(prompt: TextSize, model: &ModelConfig) -> Self {
        Self { prompt, price: model.options.price, family: Family::of(&model.model) }
    }

    /// The usage of the prompt and its reply.
    ///
    /// Each count is checked on its own: some providers omit one and report the other correctly.
    pub(crate) fn usage(&self, reply: TextSize, counted: Option<TokenUsage>) -> Usage {
        let counted = counted.unwrap_or_default();
        let input = Some(counted.input).filter(|input| is_plausible(self.prompt, *input, MAX_UNCOUNTED_CHARS));
        let output = Some(counted.output).filter(|output| is_plausible(reply, *output, 0));
        let tokens = TokenUsage {
            input: input.unwrap_or(self.prompt.tokens),
            cached: input.map_or(0, |input| counted.cached.min(input)),
            cache_writes: input.map_or(0, |input| counted.cache_writes.min(input.saturating_sub(counted.cached))),
            output: output.unwrap_or(reply.tokens),
        };
        Usage {
            input_tokens: tokens.input,
            cached_tokens: tokens.cached,
            output_tokens: tokens.output,
            search_credits: 0,
            estimated: input.is_none() || output.is_none(),
            cost_micros: self.price.map(|price| cost(price, tokens)),
        }
    }
}

/// Whether a text of this size can have this number of tokens.
///
/// The lower bound is the longest token of any vocabulary. The upper bound is one token per byte, which every vocabulary
/// can do, plus hidden tokens.
fn is_plausible(size: TextSize, tokens: u64, uncounted_chars: u64) -> bool {
    let enough = tokens.saturating_mul(MAX_TOKEN_CHARS).saturating_add(uncounted_chars) >= size.characters;
    let none = tokens == 0 && size.characters > 0;
    enough && !none && tokens <= size.bytes.saturating_add(MAX_HIDDEN_TOKENS)
}

/// The price of one reply in millionths, rounded up, so that a paid reply never costs zero.
fn cost(price: Price, tokens: TokenUsage) -> u64 {
    let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
    let fresh = tokens.input.saturating_sub(tokens.cached).saturating_sub(tokens.cache_writes);
    let parts = [
        part(fresh, price.input),
        part(tokens.cached, price.cached_input),
        part(tokens.cache_writes, price.cache_write),
        part(tokens.output, price.output),
    ];
    let whole = parts.into_iter().fold(0_u128, u128::saturating_add).div_ceil(1_000_000);
    u64::try_from(whole).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A prompt of 5,000 characters.
    fn pending() -> PendingReply {
        let prompt = TextSize { characters: 5000, bytes: 9000, tokens: 3000 };
        let price = Some(Price { input: 800_000, cached_input: 160_000, cache_write: 1_000_000, output: 2_000_000 });
        PendingReply { prompt, price, family: Family::Unknown }
    }

    const REPLY: TextSize = TextSize { characters: 400, bytes: 900, tokens: 250 };

    fn counted(input: u64, output: u64) -> (u64, u64, bool) {
        let usage = pending().usage(REPLY, Some(TokenUsage { input, cached: 0, cache_writes: 0, output }));
        (usage.input_tokens, usage.output_tokens, usage.estimated)
    }

    #[test]
    fn f046_plausible_counts_are_used() {
        let possible = [
            (2100, 190),
            // Hidden reasoning and the provider's own system prompt.
            (30_000, 131_072),
            // Tools in the provider's own format.
            (10, 4),
            (9000 + MAX_HIDDEN_TOKENS, 900 + MAX_HIDDEN_TOKENS),
        ];
        for (input, output) in possible {
            assert_eq!(counted(input, output), (input, output, false));
        }
    }

    #[test]
    fn f046_implausible_counts_are_replaced_one_by_one() {
        assert_eq!(counted(0, 190), (3000, 190, true));
        assert_eq!(counted(2100, 0), (2100, 250, true));
        assert_eq!(counted(7, 190), (3000, 190, true), "too few even for tokens of 128 characters");
        assert_eq!(counted(2100, 3), (2100, 250, true));
        assert_eq!(counted(9001 + MAX_HIDDEN_TOKENS, 190), (3000, 190, true), "more than one token per byte");
        assert_eq!(counted(u64::MAX, u64::MAX), (3000, 250, true));
        assert_eq!(pending().usage(REPLY, None), pending().usage(REPLY, Some(TokenUsage::default())));
    }

    #[test]
    fn f046_empty_reply_may_have_no_tokens() {
        let usage = pending()
            .usage(TextSize::default(), Some(TokenUsage { input: 2100, cached: 0, cache_writes: 0, output: 0 }));
        assert_eq!((usage.output_tokens, usage.estimated), (0, false));
    }

    #[test]
    fn cached_input_is_cheaper_and_cost_rounds_up() {
        let cost = |input, cached, output| {
            let usage = pending().usage(REPLY, Some(TokenUsage { input, cached, cache_writes: 0, output }));
            usage.cost_micros
        };
        assert_eq!(cost(2000, 0, 200), Some(1600 + 400));
        assert_eq!(cost(2000, 1500, 200), Some(400 + 240 + 400));
        assert_eq!(cost(2001, 0, 200), Some(2001), "2000.8 millionths");
        assert_eq!(cost(2000, 9000, 200), Some(320 + 400), "cached tokens cannot exceed the input");
        assert_eq!(cost(0, 9000, 0), Some(2400 + 500), "an estimate has no cache");
        assert_eq!(PendingReply { price: None, ..pending() }.usage(REPLY, None).cost_micros, None);
    }

    #[test]
    fn no_price_overflows() {
        let price = Price { input: u64::MAX, cached_input: u64::MAX, cache_write: u64::MAX, output: u64::MAX };
        assert_eq!(
            super::cost(price, TokenUsage { input: u64::MAX, cached: 1, cache_writes: 1, output: u64::MAX }),
            u64::MAX
        );
    }
}
