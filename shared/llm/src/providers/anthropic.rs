use super::{Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN, ThinkingControl};
use crate::{Effort, Wire};

const BUDGET: Dialect = Dialect {
    thinking: ThinkingControl::Budget { min_tokens: 1024 },
    max_temperature: 1,
    cache_control: true,
    ..PLAIN
};

const ADAPTIVE: Dialect = Dialect {
    thinking: ThinkingControl::Adaptive,
    effort_names: &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "max")],
    max_temperature: 1,
    cache_control: true,
    ..PLAIN
};

/// Any server with Anthropic's protocol.
// Source: recorded answers, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "anthropic",
    wire: Wire::Anthropic,
    context_tokens: &[("claude-", 200_000)],
    dialects: &[
        ("claude-3-7", BUDGET),
        ("claude-3", Dialect { max_temperature: 1, cache_control: true, ..PLAIN }),
        ("claude-haiku-4", BUDGET),
        ("claude-opus-4-6", ADAPTIVE),
        ("claude-opus-4-7", ADAPTIVE),
        ("claude-opus-4-8", ADAPTIVE),
        ("claude-opus-4", BUDGET),
        ("claude-sonnet-4-6", ADAPTIVE),
        ("claude-sonnet-4", BUDGET),
        ("claude-", ADAPTIVE),
        ("", Dialect { max_temperature: 1, ..PLAIN }),
    ],
    native_tools: true,
    ..UNKNOWN
};
