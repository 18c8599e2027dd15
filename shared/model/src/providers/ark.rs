use super::Provider;
use crate::ToolPath::Native;
use crate::listing::Listing;

/// Volcengine's Ark, and `ModelArk` of `BytePlus` outside China. An endpoint id (`ep-…`) tells nothing of its model.
pub(super) const ROW: Provider = Provider {
    name: "ark",
    hosts: &["volces.com", "bytepluses.com"],
    usage_option: true,
    echo_reasoning: false,
    tools: &[("doubao-seed", Native), ("deepseek-v3", Native)],
    listing: Some(Listing::Ark),
};
