use super::Provider;
use crate::ToolMode::Native;
use crate::Wire;
use crate::dialect::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};

/// Alibaba Model Studio in its OpenAI-compatible mode.
pub(super) const ROW: Provider = Provider {
    name: "dashscope",
    wire: Wire::Openai,
    hosts: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Never,
    short_ids: false,
    tools: &[
        ("qwen-max", Native),
        ("qwen-plus", Native),
        ("qwen-turbo", Native),
        ("qwen-flash", Native),
        ("qwen3-max", Native),
        ("qwen3-coder", Native),
    ],
    model_list: None,
    context_tokens: &[
        ("qwen-max", 32_000),
        ("qwen-plus", 128_000),
        ("qwen-turbo", 128_000),
        ("qwen-flash", 1_000_000),
        ("qwen3-max", 256_000),
        ("qwen3-coder", 256_000),
    ],
    dialects: &[("", Dialect { thinking: ThinkingControl::Enable, ..PLAIN })],
};
