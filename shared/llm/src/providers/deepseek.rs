use super::{Provider, UNKNOWN};
use crate::Effort;
use crate::params::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};

/// With thinking on, the endpoint silently ignores sampling parameters.
const DIALECT: Dialect = Dialect {
    thinking: ThinkingControl::Type { auto: false },
    effort_names: &[(Effort::Low, "low"), (Effort::High, "high"), (Effort::Max, "max")],
    ..PLAIN
};

/// DeepSeek; it rejects a history with calls but without their reasoning.
// Source: https://api-docs.deepseek.com/, and recorded answers, 2026-11-21.
pub(super) const ROW: Provider = Provider {
    name: "deepseek",
    hosts: &["api.deepseek.com"],
    echo_reasoning: ReasoningEcho::Always,
    context_tokens: &[("deepseek-v4", 1_000_000), ("deepseek-", 128_000)],
    dialects: &[("", DIALECT)],
    native_tools: true,
    ..UNKNOWN
};
