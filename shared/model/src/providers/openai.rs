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
};
