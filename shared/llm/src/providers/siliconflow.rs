use super::Provider;
use crate::Wire;
use crate::dialect::{Dialect, PLAIN, ThinkingControl};

/// `SiliconFlow`.
pub(super) const ROW: Provider = Provider {
    name: "siliconflow",
    wire: Wire::Openai,
    hosts: &["api.siliconflow.cn", "api.siliconflow.com"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    model_list: None,
    context_tokens: &[],
    dialects: &[("", Dialect { thinking: ThinkingControl::Enable, ..PLAIN })],
};
