use super::Provider;
use crate::ToolMode::Native;
use crate::dialect::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};
use crate::{Effort, Wire};

/// With thinking on, the endpoint silently ignores sampling parameters.
const DIALECT: Dialect = Dialect {
    thinking: ThinkingControl::Type { auto: false },
    effort_names: &[(Effort::Low, "low"), (Effort::High, "high"), (Effort::Max, "max")],
    ..PLAIN
};

/// DeepSeek; it rejects a history with calls but without their reasoning.
pub(super) const ROW: Provider = Provider {
    name: "deepseek",
    wire: Wire::Openai,
    hosts: &["api.deepseek.com"],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Always,
    short_ids: false,
    tools: &[("", Native)],
    model_list: None,
    context_tokens: &[("deepseek-v4", 1_000_000), ("deepseek-", 128_000)],
    dialects: &[("", DIALECT)],
};
