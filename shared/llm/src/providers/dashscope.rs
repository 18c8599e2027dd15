use super::{Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN, ThinkingControl};

/// Alibaba Model Studio in its OpenAI-compatible mode.
// Source: https://help.aliyun.com/en/model-studio/qwen-function-calling, and recorded answers, 2026-11-21.
pub(super) const ROW: Provider = Provider {
    name: "dashscope",
    hosts: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    context_tokens: &[
        ("qwen-max", 32_000),
        ("qwen-plus", 128_000),
        ("qwen-turbo", 128_000),
        ("qwen-flash", 1_000_000),
        ("qwen3-max", 256_000),
        ("qwen3-coder", 256_000),
    ],
    dialects: &[("", Dialect { thinking: ThinkingControl::Enable, ..PLAIN })],
    ..UNKNOWN
};
