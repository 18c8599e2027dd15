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
    contexts: &[
        ("doubao-seed", 256_000),
        ("doubao-1-5-pro-256k", 256_000),
        ("doubao-1-5-pro-32k", 32_000),
        ("deepseek-", 128_000),
        ("kimi-k2", 256_000),
    ],
};
