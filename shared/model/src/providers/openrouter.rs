use super::Provider;
use crate::listing::Listing;

/// OpenRouter.
pub(super) const ROW: Provider = Provider {
    name: "openrouter",
    hosts: &["openrouter.ai"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[],
    listing: Some(Listing::OpenRouter),
    contexts: &[],
};
