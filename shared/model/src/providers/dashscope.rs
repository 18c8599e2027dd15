use super::Provider;

/// Alibaba Model Studio in its OpenAI-compatible mode.
pub(super) const ROW: Provider = Provider {
    name: "dashscope",
    hosts: &["dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com", "dashscope-us.aliyuncs.com"],
    usage_option: true,
    echo_reasoning: false,
};
