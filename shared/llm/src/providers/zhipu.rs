use super::Provider;
use crate::ToolMode::Native;
use crate::Wire;
use crate::dialect::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};

const THINKING: Dialect = Dialect { thinking: ThinkingControl::Type { auto: false }, max_temperature: 1, ..PLAIN };

/// Zhipu, and Z.ai outside China.
pub(super) const ROW: Provider = Provider {
    name: "zhipu",
    wire: Wire::Openai,
    hosts: &["open.bigmodel.cn", "api.z.ai"],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Turn,
    short_ids: false,
    tools: &[("glm-4.5", Native), ("glm-4.6", Native), ("glm-4.7", Native), ("glm-5", Native)],
    model_list: None,
    context_tokens: &[("glm-4.5", 128_000), ("glm-4.6", 200_000), ("glm-4.7", 200_000), ("glm-5", 200_000)],
    dialects: &[
        ("glm-4.5", THINKING),
        ("glm-4.6", THINKING),
        ("glm-4.7", THINKING),
        ("glm-5", THINKING),
        ("", Dialect { max_temperature: 1, ..PLAIN }),
    ],
};
