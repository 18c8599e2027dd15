use super::Provider;
use crate::ToolPath::Native;

/// DeepSeek: a history with calls but without their reasoning is refused.
pub(super) const ROW: Provider = Provider {
    name: "deepseek",
    hosts: &["api.deepseek.com"],
    usage_option: true,
    echo_reasoning: true,
    tools: &[("", Native)],
    listing: None,
    contexts: &[("deepseek-v4", 1_000_000), ("deepseek-", 128_000)],
};
