use super::Provider;
use crate::dialect::{Dialect, PLAIN, Switch};
use crate::listing::Listing;
use crate::{Effort, Wire};

/// OpenRouter.
pub(super) const ROW: Provider = Provider {
    name: "openrouter",
    wire: Wire::Openai,
    hosts: &["openrouter.ai"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    listing: Some(Listing::OpenRouter),
    contexts: &[],
    dialects: &[(
        "",
        Dialect {
            thinking: Switch::Reasoning,
            efforts: &[
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
