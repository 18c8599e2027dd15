use super::Provider;
use crate::ToolPath::Native;
use crate::dialect::{Dialect, PLAIN, Switch};
use crate::{Effort, Wire};

/// With thinking on, the endpoint silently ignores sampling parameters.
const DIALECT: Dialect = Dialect {
    thinking: Switch::Type { auto: false },
    efforts: &[(Effort::Low, "low"), (Effort::High, "high"), (Effort::Max, "max")],
    ..PLAIN
};

/// DeepSeek; it rejects a history with calls but without their reasoning.
pub(super) const ROW: Provider = Provider {
    name: "deepseek",
    wire: Wire::Openai,
    hosts: &["api.deepseek.com"],
    usage_option: true,
    echo_reasoning: true,
    tools: &[("", Native)],
    listing: None,
    contexts: &[("deepseek-v4", 1_000_000), ("deepseek-", 128_000)],
    dialects: &[("", DIALECT)],
};
