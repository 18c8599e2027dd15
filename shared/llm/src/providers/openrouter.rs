use super::Provider;
use crate::dialect::{Dialect, PLAIN, ThinkingControl};
use crate::model_list::ModelListApi;
use crate::{Effort, Wire};

/// OpenRouter.
pub(super) const ROW: Provider = Provider {
    name: "openrouter",
    wire: Wire::Openai,
    hosts: &["openrouter.ai"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    model_list: Some(ModelListApi::OpenRouter),
    context_tokens: &[],
    dialects: &[(
        "",
        Dialect {
            thinking: ThinkingControl::Reasoning,
            effort_names: &[
                (Effort::Minimal, "minimal"),
                (Effort::Low, "low"),
                (Effort::Medium, "medium"),
                (Effort::High, "high"),
                (Effort::Max, "xhigh"),
            ],
            ..PLAIN
        },
    )],
};
