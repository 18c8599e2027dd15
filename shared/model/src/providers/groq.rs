use super::Provider;
use crate::ToolPath::Native;

/// Groq.
pub(super) const ROW: Provider = Provider {
    name: "groq",
    hosts: &["api.groq.com"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[
        ("llama-3.1-", Native),
        ("llama-3.3-", Native),
        ("meta-llama/llama-4-", Native),
        ("moonshotai/kimi-k2", Native),
        ("openai/gpt-oss-", Native),
        ("qwen/qwen3-", Native),
    ],
    listing: None,
    contexts: &[
        ("llama-3.1-", 131_072),
        ("llama-3.3-", 131_072),
        ("meta-llama/llama-4-", 131_072),
        ("moonshotai/kimi-k2", 131_072),
        ("openai/gpt-oss-", 131_072),
        ("qwen/qwen3-", 131_072),
    ],
};
