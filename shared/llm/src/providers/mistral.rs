use super::{Provider, UNKNOWN};
use crate::params::{Dialect, PLAIN};

/// Parts of the ids of Mistral's models, also at other endpoints.
// Recorded answers of Mistral, OpenRouter and Venice, 2026-11-23.
const FAMILIES: [&str; 7] = ["mistral", "mixtral", "ministral", "magistral", "codestral", "devstral", "pixtral"];

/// Whether a model is one of Mistral's. A server with Mistral's tokenizer accepts ids of calls in its form only.
pub(super) fn is_of_mistral(model: &str) -> bool {
    let model = model.to_lowercase();
    FAMILIES.iter().any(|family| model.contains(family))
}

/// Mistral; it sends the usage in any case, and accepts ids of calls in its own form only.
// Source: recorded answers, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "mistral",
    hosts: &["api.mistral.ai"],
    usage_option: false,
    short_ids: true,
    context_tokens: &[
        ("mistral-large", 131_072),
        ("mistral-medium", 131_072),
        ("mistral-small", 131_072),
        ("ministral-", 131_072),
        ("pixtral-", 131_072),
    ],
    dialects: &[("", Dialect { max_temperature: 1, ..PLAIN })],
    ..UNKNOWN
};
