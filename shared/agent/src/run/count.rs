//! What a reply consumed and costs: as the provider counted it, or as it is estimated where that cannot be believed.

use domain::Usage;
use llm::{ModelConfig, Price, Prompt, TokenUsage};

use super::Run;
use crate::estimate;
use crate::step::Round;
use crate::tokens::Family;

/// The longest token of any vocabulary, in characters.
const LONGEST_TOKEN: u64 = 128;

/// Characters of a prompt that a provider may leave out of its count, such as tools that it writes in its own form.
const UNCOUNTED: u64 = 4096;

/// Tokens that may come on top of what was sent or shown: a template and the provider's own words, or reasoning that is
/// hidden. No model that is known thinks longer than 131,072.
const HIDDEN: u64 = 200_000;

/// A prompt that is being answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    /// What it holds.
    pub(crate) prompt: Measure,
    /// What the model that answers it costs.
    pub(crate) price: Option<Price>,
    /// How the model counts.
    pub(crate) family: Family,
}

/// A text by its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Measure {
    pub(crate) characters: u64,
    pub(crate) bytes: u64,
    /// Estimated.
    pub(crate) tokens: u64,
}

impl Asked {
    pub(crate) fn new(prompt: Measure, model: &ModelConfig) -> Self {
        Self { prompt, price: model.options.price, family: Family::of(&model.model) }
    }

    /// What the prompt and its reply consumed.
    ///
    /// Each count is judged by itself: some providers leave out one and tell the truth about the other.
    pub(crate) fn usage(&self, written: Measure, counted: Option<TokenUsage>) -> Usage {
        let counted = counted.unwrap_or_default();
        let input = Some(counted.input).filter(|input| self.prompt.may_be(*input, UNCOUNTED));
        let output = Some(counted.output).filter(|output| written.may_be(*output, 0));
        let believed = TokenUsage {
            input: input.unwrap_or(self.prompt.tokens),
            cached: input.map_or(0, |input| counted.cached.min(input)),
            output: output.unwrap_or(written.tokens),
        };
        Usage {
            input_tokens: believed.input,
            output_tokens: believed.output,
            search_credits: 0,
            estimated: input.is_none() || output.is_none(),
            cost_micros: self.price.map(|price| cost(price, believed)),
        }
    }
}

impl Measure {
    /// Whether a text of this size may have as many tokens.
    ///
    /// A token is at most so long, and every vocabulary can spell a text byte by byte; the rest is what nobody shows.
    fn may_be(self, tokens: u64, uncounted: u64) -> bool {
        let enough = tokens.saturating_mul(LONGEST_TOKEN).saturating_add(uncounted) >= self.characters;
        let none = tokens == 0 && self.characters > 0;
        enough && !none && tokens <= self.bytes.saturating_add(HIDDEN)
    }
}

impl std::ops::Add for Measure {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            characters: self.characters + other.characters,
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
        }
    }
}

/// The price of one reply in millionths, rounded up: what was paid for is never counted as nothing.
fn cost(price: Price, tokens: TokenUsage) -> u64 {
    let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
    let fresh = tokens.input.saturating_sub(tokens.cached);
    let parts = [part(fresh, price.input), part(tokens.cached, price.cached_input), part(tokens.output, price.output)];
    let whole = parts.into_iter().fold(0_u128, u128::saturating_add).div_ceil(1_000_000);
    u64::try_from(whole).unwrap_or(u64::MAX)
}

impl Run<'_> {
    /// Measures a prompt of this turn for the model that is asked now.
    pub(super) fn measure(&self, prompt: &Prompt) -> Measure {
        let words = self.system_measure(&prompt.system) + estimate::messages(self.family(), &prompt.messages);
        if prompt.tools.is_empty() { words } else { words + self.tools_measure() }
    }

    /// Measures the words that stand before all messages.
    pub(super) fn system_measure(&self, system: &str) -> Measure {
        self.measured.system(self.family(), system)
    }

    /// Measures the tools as they go over the wire.
    pub(super) fn tools_measure(&self) -> Measure {
        self.measured.tools(self.family(), &self.specs)
    }

    pub(super) fn family(&self) -> Family {
        Family::of(&self.model().config().model)
    }

    /// Adds what a reply consumed; of one that broke off, an estimate of what came.
    pub(super) fn count(&self, round: Option<&Round>) {
        let mut draft = self.events.draft();
        match (round, draft.asked) {
            (Some(round), Some(asked)) => {
                let (text, thinking) = draft.reply();
                let usage = asked.usage(
                    estimate::reply(asked.family, &text, &thinking, round.calls.iter().chain(&round.callers)),
                    round.usage,
                );
                draft.usage.join(usage);
            }
            _ => draft.usage = draft.taken(),
        }
        draft.asked = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 5,000 characters to read, 400 written.
    fn asked() -> Asked {
        let prompt = Measure { characters: 5000, bytes: 9000, tokens: 3000 };
        let price = Some(Price { input: 800_000, cached_input: 160_000, output: 2_000_000 });
        Asked { prompt, price, family: Family::Unknown }
    }

    const WRITTEN: Measure = Measure { characters: 400, bytes: 900, tokens: 250 };

    fn counted(input: u64, output: u64) -> (u64, u64, bool) {
        let usage = asked().usage(WRITTEN, Some(TokenUsage { input, cached: 0, output }));
        (usage.input_tokens, usage.output_tokens, usage.estimated)
    }

    #[test]
    fn f046_counts_that_can_be_true_are_believed() {
        let possible = [
            (2100, 190),
            // Hidden reasoning and a provider's own words.
            (30_000, 131_072),
            // Tools in a form of its own.
            (10, 4),
            (9000 + HIDDEN, 900 + HIDDEN),
        ];
        for (input, output) in possible {
            assert_eq!(counted(input, output), (input, output, false));
        }
    }

    #[test]
    fn f046_counts_that_cannot_be_true_are_replaced_one_by_one() {
        assert_eq!(counted(0, 190), (3000, 190, true));
        assert_eq!(counted(2100, 0), (2100, 250, true));
        assert_eq!(counted(7, 190), (3000, 190, true), "not even tokens of 128 characters");
        assert_eq!(counted(2100, 3), (2100, 250, true));
        assert_eq!(counted(9001 + HIDDEN, 190), (3000, 190, true), "more than one a byte");
        assert_eq!(counted(u64::MAX, u64::MAX), (3000, 250, true));
        assert_eq!(asked().usage(WRITTEN, None), asked().usage(WRITTEN, Some(TokenUsage::default())));
    }

    #[test]
    fn f046_a_reply_without_a_word_may_have_no_tokens() {
        let usage = asked().usage(Measure::default(), Some(TokenUsage { input: 2100, cached: 0, output: 0 }));
        assert_eq!((usage.output_tokens, usage.estimated), (0, false));
    }

    #[test]
    fn what_came_from_a_cache_has_its_own_price_and_a_reply_is_rounded_up() {
        let cost = |input, cached, output| {
            let usage = asked().usage(WRITTEN, Some(TokenUsage { input, cached, output }));
            usage.cost_micros
        };
        assert_eq!(cost(2000, 0, 200), Some(1600 + 400));
        assert_eq!(cost(2000, 1500, 200), Some(400 + 240 + 400));
        assert_eq!(cost(2001, 0, 200), Some(2001), "2000.8 millionths");
        assert_eq!(cost(2000, 9000, 200), Some(320 + 400), "no more can come from a cache than was read");
        assert_eq!(cost(0, 9000, 0), Some(2400 + 500), "an estimate has no cache");
        assert_eq!(Asked { price: None, ..asked() }.usage(WRITTEN, None).cost_micros, None);
    }

    #[test]
    fn no_price_overflows() {
        let price = Price { input: u64::MAX, cached_input: u64::MAX, output: u64::MAX };
        assert_eq!(super::cost(price, TokenUsage { input: u64::MAX, cached: 1, output: u64::MAX }), u64::MAX);
    }
}
