use super::Provider;
use crate::ToolPath::Native;

/// Moonshot: thinking models refuse calls without their reasoning, as those of DeepSeek do.
pub(super) const ROW: Provider = Provider {
    name: "moonshot",
    hosts: &["api.moonshot.cn", "api.moonshot.ai"],
    usage_option: true,
    echo_reasoning: true,
    tools: &[("kimi-", Native), ("moonshot-v1-", Native)],
    listing: None,
};
