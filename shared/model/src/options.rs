use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What an operator chooses for one model; what is `None` is left to the provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The row of particulars that holds, where the address does not tell it: `vllm`, `lmstudio` and so on.
    pub provider: Option<&'static str>,
    /// How the next token is chosen, and how many may be.
    pub sampling: Sampling,
    /// Whether the model thinks before it answers.
    pub thinking: Option<Thinking>,
    /// How hard it thinks.
    pub effort: Option<Effort>,
    /// The tokens that a prompt and its reply may have together.
    pub context_tokens: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
    /// Instead of `MODEL_FIRST_BYTE_SECONDS`.
    pub first_byte: Option<Duration>,
}

/// How the next token is chosen, and how many may be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// From 0 to 2; some providers accept no more than 1.
    pub temperature: Option<f64>,
    /// From 0 to 1.
    pub top_p: Option<f64>,
    /// The longest reply, in tokens.
    pub max_tokens: Option<u32>,
}

/// Whether a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Always.
    On,
    /// Never.
    Off,
    /// As it sees fit.
    Auto,
}

/// How hard a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Hardly.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// As much as it can.
    Max,
}

/// What tokens cost, in millionths of a currency for a million of them; the currency is the same for all models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// For tokens read.
    pub input: u64,
    /// For tokens read from the provider's cache; the same as `input` unless it is said.
    pub cached_input: u64,
    /// For tokens written, reasoning included.
    pub output: u64,
}
