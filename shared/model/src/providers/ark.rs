use super::Provider;

/// Volcengine's Ark, and `ModelArk` of `BytePlus` outside China.
pub(super) const ROW: Provider =
    Provider { name: "ark", hosts: &["volces.com", "bytepluses.com"], usage_option: true, echo_reasoning: false };
