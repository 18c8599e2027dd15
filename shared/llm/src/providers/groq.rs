use super::Provider;
use crate::ToolMode::Native;
use crate::Wire;
use crate::dialect::{Dialect, LOW_TO_HIGH, LimitName, PLAIN, ReasoningEcho, ThinkingControl};

const COMPLETION: Dialect = Dialect { limit_name: LimitName::MaxCompletionTokens, ..PLAIN };

/// Groq.
pub(super) const ROW: Provider = Provider {
    name: "groq",
    wire: Wire::Openai,
    hosts: &["api.groq.com"],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Never,
    short_ids: false,
    tools: &[
        ("llama-3.1-", Native),
        ("llama-3.3-", Native),
        ("meta-llama/llama-4-", Native),
        ("moonshotai/kimi-k2", Native),
        ("openai/gpt-oss-", Native),
        ("qwen/qwen3-", Native),
    ],
    model_list: None,
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
};
