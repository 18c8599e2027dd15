use super::{ModelListApi, Provider, UNKNOWN};
use crate::Effort;
use crate::params::{Dialect, PLAIN, ThinkingControl};

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
// Source: https://openrouter.ai/docs, and recorded answers, 2026-11-21.
pub(super) const ROW: Provider = Provider {
    name: "openrouter",
    hosts: &["openrouter.ai"],
    model_list: Some(ModelListApi::OpenRouter),
    dialects: &[("anthropic/", Dialect { cache_control: true, ..DIALECT }), ("", DIALECT)],
    ..UNKNOWN
};
