use super::{ModelListApi, Provider, UNKNOWN};
use crate::params::{Dialect, MINIMAL_TO_HIGH, PLAIN, ReasoningEcho, ThinkingControl};

/// `max_tokens` limits the answer without its reasoning; it is rejected together with `max_completion_tokens`.
const THINKING: Dialect = Dialect { thinking: ThinkingControl::Type { auto: true }, max_temperature: 1, ..PLAIN };

/// Volcengine's Ark, and `ModelArk` of `BytePlus` outside China. An endpoint id (`ep-…`) does not identify its model.
// Source: documentation, SDK and issue threads of Ark, 2026-11-21.
pub(super) const ROW: Provider = Provider {
    name: "ark",
    hosts: &["volces.com", "bytepluses.com"],
    echo_reasoning: ReasoningEcho::Turn,
    model_list: Some(ModelListApi::Ark),
    context_tokens: &[
        ("doubao-seed", 256_000),
        ("doubao-1-5-pro-256k", 256_000),
        ("doubao-1-5-pro-32k", 32_000),
        ("deepseek-", 128_000),
        ("kimi-k2", 256_000),
    ],
    dialects: &[
        // The older models do not support effort.
        ("doubao-seed-1-6", THINKING),
        ("doubao-1-5", THINKING),
        ("deepseek-", THINKING),
        ("", Dialect { effort_names: MINIMAL_TO_HIGH, ..THINKING }),
    ],
    ..UNKNOWN
};
