use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The operator's options for one model; the provider decides on fields that are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The provider's name if the address does not determine it: `vllm`, `lmstudio` and so on.
    pub provider: Option<&'static str>,
    /// From 0 to 2; some providers accept no more than 1.
    pub temperature: Option<f64>,
    /// From 0 to 1.
    pub top_p: Option<f64>,
    /// The maximum length of a reply, in tokens.
    pub max_tokens: Option<u32>,
    /// Whether the model thinks before it answers.
    pub thinking: Option<Thinking>,
    /// The effort of thinking.
    pub effort: Option<Effort>,
    /// Whether its replies begin in reasoning that only their end tag shows; `None` if that is to be found out.
    pub thinking_open: Option<bool>,
    /// The context size in tokens: prompt and reply together.
    pub context_tokens: Option<u64>,
    /// Whether the model takes pictures; `None` if that is to be found out.
    pub images: Option<bool>,
    /// The price of tokens.
    pub price: Option<Price>,
    /// Overrides `MODEL_FIRST_BYTE_SECONDS`.
    pub first_byte_timeout: Option<Duration>,
}

/// Whether a model thinks before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thinking {
    /// Always.
    On,
    /// Never.
    Off,
    /// The model decides.
    Auto,
}

/// The effort of thinking, in increasing order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// The lowest effort.
    Minimal,
    /// Low effort.
    Low,
    /// Medium effort.
    Medium,
    /// High effort.
    High,
    /// The highest effort.
    Max,
}

/// The price of a million tokens, in millionths of a currency unit; all models share the currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// For tokens read.
    pub input: u64,
    /// For tokens read from the provider's cache; defaults to `input`.
    pub cached_input: u64,
    /// For tokens read and written to the provider's cache; defaults to `input`.
    pub cache_write: u64,
    /// For tokens written, reasoning included.
    pub output: u64,
}
