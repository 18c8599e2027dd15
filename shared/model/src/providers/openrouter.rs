use super::Provider;

/// OpenRouter.
pub(super) const ROW: Provider =
    Provider { name: "openrouter", hosts: &["openrouter.ai"], usage_option: true, echo_reasoning: false };
