use super::{OTHER, Provider};
use crate::ToolPath::Native;
use crate::Wire;
use crate::dialect::{Dialect, LOW_TO_HIGH, MINIMAL_TO_HIGH, PLAIN, Switch};

/// Any server with Gemini's protocol.
pub(super) const ROW: Provider = Provider {
    name: "gemini",
    wire: Wire::Gemini,
    tools: &[("", Native)],
    contexts: &[("gemini-2", 1_048_576), ("gemini-3", 1_048_576)],
    dialects: &[
        // Thinking cannot be disabled completely.
        ("gemini-2.5-pro", Dialect { thinking: Switch::Budget { least: 128 }, ..PLAIN }),
        ("gemini-2.5", Dialect { thinking: Switch::Budget { least: 0 }, ..PLAIN }),
        ("gemini-3-flash", Dialect { thinking: Switch::Level { off: "minimal" }, efforts: MINIMAL_TO_HIGH, ..PLAIN }),
        ("gemini-3", Dialect { thinking: Switch::Level { off: "low" }, efforts: LOW_TO_HIGH, ..PLAIN }),
        ("", PLAIN),
    ],
    ..OTHER
};
