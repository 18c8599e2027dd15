use super::Provider;

/// Groq.
pub(super) const ROW: Provider =
    Provider { name: "groq", hosts: &["api.groq.com"], usage_option: true, echo_reasoning: false };
