use super::{Provider, UNKNOWN};
use crate::params::{Dialect, LOW_TO_HIGH, MAX_COMPLETION_TOKENS, PLAIN, ThinkingControl};

const COMPLETION: Dialect = Dialect { limit_name: MAX_COMPLETION_TOKENS, ..PLAIN };

/// Groq.
// Source: recorded answers, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "groq",
    hosts: &["api.groq.com"],
    context_tokens: &[
        ("llama-3.1-", 131_072),
        ("llama-3.3-", 131_072),
        ("meta-llama/llama-4-", 131_072),
        ("moonshotai/kimi-k2", 131_072),
        ("openai/gpt-oss-", 131_072),
        ("qwen/qwen3-", 131_072),
    ],
    dialects: &[
        (
            "openai/gpt-oss-",
            Dialect {
                thinking: ThinkingControl::Effort { on: None, off: None },
                effort_names: LOW_TO_HIGH,
                ..COMPLETION
            },
        ),
        (
            "qwen/qwen3-",
            Dialect { thinking: ThinkingControl::Effort { on: Some("default"), off: Some("none") }, ..COMPLETION },
        ),
        ("", COMPLETION),
    ],
    ..UNKNOWN
};
