use serde::Serialize;

/// Anthropic's mark of a position up to which a prompt is cached, for five minutes after its last use.
///
/// At most four positions may be marked. A provider ignores them in prompts below its minimum, 512 to 4,096 tokens.
// No source noted, known since 2026-11-23.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(crate) enum CacheControl {
    /// The only type.
    Ephemeral,
}

impl CacheControl {
    pub(crate) fn mark(cached: bool) -> Option<Self> {
        cached.then_some(Self::Ephemeral)
    }
}
