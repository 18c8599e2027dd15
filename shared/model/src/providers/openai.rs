use super::Provider;
use crate::ToolPath::{Native, Text};

/// OpenAI.
pub(super) const ROW: Provider = Provider {
    name: "openai",
    hosts: &["api.openai.com"],
    usage_option: true,
    echo_reasoning: false,
    // The first models that reasoned took no tools yet.
    tools: &[
        ("o1-mini", Text),
        ("o1-preview", Text),
        ("gpt-", Native),
        ("chatgpt-", Text),
        ("o1", Native),
        ("o3", Native),
        ("o4", Native),
    ],
    listing: None,
    contexts: &[
        ("gpt-5-chat", 128_000),
        ("gpt-5", 400_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4o", 128_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4", 8192),
        ("gpt-3.5-turbo", 16_385),
        ("o1-mini", 128_000),
        ("o1-preview", 128_000),
        ("o1", 200_000),
        ("o3", 200_000),
        ("o4", 200_000),
    ],
};
