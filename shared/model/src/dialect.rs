//! How endpoints are told what an operator chose for a model: facts without logic, for the providers' rows.

use crate::Effort;

/// What the models of one family take beside the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    /// How thinking is switched.
    pub(crate) thinking: Switch,
    /// The words for effort, the least first; empty where none is known.
    pub(crate) efforts: &'static [(Effort, &'static str)],
    /// What the limit of a reply is called, on OpenAI's wire.
    pub(crate) limit: LimitName,
    /// Whether `temperature` and `top_p` are taken.
    pub(crate) sampling: Sampling,
    /// The highest temperature.
    pub(crate) hottest: u8,
}

/// How thinking is switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Switch {
    /// In no known way.
    Unknown,
    /// By words for effort alone: `reasoning_effort`.
    Effort {
        /// For a model that does not think by itself.
        on: Option<&'static str>,
        /// For a model that can be kept from thinking.
        off: Option<&'static str>,
    },
    /// `thinking: {"type": "enabled"}` or `disabled`.
    Type {
        /// Whether `auto` is a type too.
        auto: bool,
    },
    /// `enable_thinking`.
    Enable,
    /// `chat_template_kwargs: {"enable_thinking"}`.
    Template,
    /// `reasoning: {"enabled"}` or `{"effort"}`, of which `none` is one.
    Reasoning,
    /// Ollama's `think`.
    Think,
    /// A number of tokens to think with, on Anthropic's and on Gemini's wire.
    Budget {
        /// The smallest that is taken.
        least: u32,
    },
    /// Anthropic's `thinking: {"type": "adaptive"}`, with the effort in `output_config`.
    Adaptive,
    /// Gemini's `thinkingLevel`, of which this word stands for none.
    Level {
        /// The least level.
        off: &'static str,
    },
}

/// What the limit of a reply is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitName {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

/// Whether `temperature` and `top_p` are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// Yes.
    Taken,
    /// Only while thinking is switched off.
    WithoutThinking,
    /// No.
    Refused,
}

/// The words that most endpoints know.
pub(crate) const LOW_TO_HIGH: &[(Effort, &str)] =
    &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

/// The same with one below.
pub(crate) const MINIMAL_TO_HIGH: &[(Effort, &str)] =
    &[(Effort::Minimal, "minimal"), (Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high")];

/// What nearly every endpoint takes; how thinking is switched is not known.
pub(crate) const PLAIN: Dialect = Dialect {
    thinking: Switch::Unknown,
    efforts: &[],
    limit: LimitName::MaxTokens,
    sampling: Sampling::Taken,
    hottest: 2,
};
