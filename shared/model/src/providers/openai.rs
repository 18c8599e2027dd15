use super::Provider;

/// OpenAI.
pub(super) const ROW: Provider =
    Provider { name: "openai", hosts: &["api.openai.com"], usage_option: true, echo_reasoning: false };
