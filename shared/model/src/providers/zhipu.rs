use super::Provider;

/// Zhipu, and Z.ai outside China.
pub(super) const ROW: Provider =
    Provider { name: "zhipu", hosts: &["open.bigmodel.cn", "api.z.ai"], usage_option: true, echo_reasoning: false };
