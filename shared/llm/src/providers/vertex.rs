use super::{Provider, UNKNOWN};

/// The open models of Vertex AI, whose ids begin with their publisher.
// Source: price map in the wheel of litellm 1.108.7, 2026-11-26.
pub(super) const ROW: Provider = Provider {
    name: "vertex",
    hosts: &["aiplatform.googleapis.com"],
    context_tokens: &[
        ("deepseek-ai/deepseek-v4", 1_048_576),
        ("deepseek-ai/deepseek-v3", 163_840),
        ("meta/llama-3", 128_000),
        ("meta/llama-4", 1_000_000),
        ("moonshotai/kimi-k2", 256_000),
        ("openai/gpt-oss-", 131_072),
        ("qwen/qwen3-", 262_144),
        ("zai-org/glm-4", 200_000),
    ],
    native_tools: true,
    ..UNKNOWN
};
