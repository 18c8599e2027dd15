use super::Provider;
use crate::Wire;
use crate::dialect::{Dialect, PLAIN, Switch};

/// `SiliconFlow`.
pub(super) const ROW: Provider = Provider {
    name: "siliconflow",
    wire: Wire::Openai,
    hosts: &["api.siliconflow.cn", "api.siliconflow.com"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    listing: None,
    contexts: &[],
    dialects: &[("", Dialect { thinking: Switch::Enable, ..PLAIN })],
};
