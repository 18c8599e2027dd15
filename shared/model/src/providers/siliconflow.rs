use super::Provider;

/// `SiliconFlow`.
pub(super) const ROW: Provider = Provider {
    name: "siliconflow",
    hosts: &["api.siliconflow.cn", "api.siliconflow.com"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    listing: None,
    contexts: &[],
};
