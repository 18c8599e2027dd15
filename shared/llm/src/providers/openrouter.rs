use super::Provider;
use crate::dialect::{Dialect, PLAIN, ReasoningEcho, ThinkingControl};
use crate::model_list::ModelListApi;
use crate::{Effort, Wire};

const DIALECT: Dialect = Dialect {
    thinking: ThinkingControl::Reasoning,
    effort_names: &[
        (Effort::Minimal, "minimal"),
        (Effort::Low, "low"),
        (Effort::Medium, "medium"),
        (Effort::High, "high"),
        (Effort::Max, "xhigh"),
    ],
    ..PLAIN
};

/// OpenRouter.
pub(super) const ROW: Provider = Provider {
    name: "openrouter",
    wire: Wire::Openai,
    hosts: &["openrouter.ai"],
    usage_option: true,
    echo_reasoning: ReasoningEcho::Never,
    short_ids: false,
    tools: &[],
    model_list: Some(ModelListApi::OpenRouter),
    context_tokens: &[],
    dialects: &[("anthropic/", Dialect { cache_control: true, ..DIALECT }), ("", DIALECT)],
};
