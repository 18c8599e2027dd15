use super::{OTHER, Provider};
use crate::ToolPath::Native;
use crate::dialect::{Dialect, PLAIN, Switch};
use crate::{Effort, Wire};

const BUDGET: Dialect = Dialect { thinking: Switch::Budget { least: 1024 }, hottest: 1, ..PLAIN };

const ADAPTIVE: Dialect = Dialect {
    thinking: Switch::Adaptive,
    efforts: &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "max")],
    hottest: 1,
    ..PLAIN
};

/// Any server with Anthropic's protocol.
pub(super) const ROW: Provider = Provider {
    name: "anthropic",
    wire: Wire::Anthropic,
    tools: &[("", Native)],
    contexts: &[("claude-", 200_000)],
    dialects: &[
        ("claude-3", BUDGET),
        ("claude-haiku-4", BUDGET),
        ("claude-opus-4-6", ADAPTIVE),
        ("claude-opus-4-7", ADAPTIVE),
        ("claude-opus-4-8", ADAPTIVE),
        ("claude-opus-4", BUDGET),
        ("claude-sonnet-4-6", ADAPTIVE),
        ("claude-sonnet-4", BUDGET),
        ("claude-", ADAPTIVE),
        ("", Dialect { hottest: 1, ..PLAIN }),
    ],
    ..OTHER
};
