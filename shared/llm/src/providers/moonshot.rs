use super::{Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};

/// Moonshot; like DeepSeek, its thinking models reject calls without their reasoning.
// Source: https://platform.moonshot.cn/docs/api/tool_use, and recorded answers, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "moonshot",
    hosts: &["api.moonshot.cn", "api.moonshot.ai"],
    echo_reasoning: ReasoningEcho::Always,
    context_tokens: &[
        ("moonshot-v1-8k", 8192),
        ("moonshot-v1-32k", 32_768),
        ("moonshot-v1-128k", 131_072),
        ("kimi-k2-0711", 131_072),
        ("kimi-k2", 262_144),
    ],
    dialects: &[
        // These models either never think or always do.
        ("moonshot-v1", Dialect { max_temperature: 1, ..PLAIN }),
        ("kimi-k2-", Dialect { max_temperature: 1, ..PLAIN }),
        ("kimi-", Dialect { thinking: ThinkingControl::Type { auto: false }, max_temperature: 1, ..PLAIN }),
    ],
    ..UNKNOWN
};
