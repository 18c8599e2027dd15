use super::Provider;
use crate::Wire;
use crate::dialect::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};

/// `SiliconFlow`.
pub(super) const ROW: Provider = Provider {
    name: "siliconflow",
    wire: Wire::Openai,
    hosts: &["api.siliconflow.cn", "api.siliconflow.com"],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Never,
    short_ids: false,
    tools: &[],
    model_list: None,
    context_tokens: &[],
    dialects: &[("", Dialect { thinking: ThinkingControl::Enable, ..PLAIN })],
};
