use super::{Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};

const THINKING: Dialect = Dialect { thinking: ThinkingControl::Type { auto: false }, max_temperature: 1, ..PLAIN };

/// Zhipu, and Z.ai outside China.
// Source: recorded answers of Z.ai, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "zhipu",
    hosts: &["open.bigmodel.cn", "api.z.ai"],
    echo_reasoning: ReasoningEcho::Turn,
    context_tokens: &[("glm-4.5", 128_000), ("glm-4.6", 200_000), ("glm-4.7", 200_000), ("glm-5", 200_000)],
    dialects: &[
        ("glm-4.5", THINKING),
        ("glm-4.6", THINKING),
        ("glm-4.7", THINKING),
        ("glm-5", THINKING),
        ("", Dialect { max_temperature: 1, ..PLAIN }),
    ],
    ..UNKNOWN
};
