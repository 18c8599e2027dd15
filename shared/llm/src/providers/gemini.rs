use super::{Provider, UNKNOWN};
use crate::Wire;
use crate::params::{Dialect, LOW_TO_HIGH, MINIMAL_TO_HIGH, PLAIN, ThinkingControl};

/// Models that reject calls without a signature.
const SIGNED: Dialect = Dialect { signatures: true, ..PLAIN };

/// Any server with Gemini's protocol.
// Source: https://ai.google.dev/gemini-api/docs, and recorded answers, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "gemini",
    wire: Wire::Gemini,
    context_tokens: &[("gemini-2", 1_048_576), ("gemini-3", 1_048_576)],
    dialects: &[
        // Thinking cannot be disabled completely.
        ("gemini-2.5-pro", Dialect { thinking: ThinkingControl::Budget { min_tokens: 128 }, ..PLAIN }),
        ("gemini-2.5", Dialect { thinking: ThinkingControl::Budget { min_tokens: 0 }, ..PLAIN }),
        (
            "gemini-3-flash",
            Dialect { thinking: ThinkingControl::Level { off: "minimal" }, effort_names: MINIMAL_TO_HIGH, ..SIGNED },
        ),
        ("gemini-3", Dialect { thinking: ThinkingControl::Level { off: "low" }, effort_names: LOW_TO_HIGH, ..SIGNED }),
        ("", PLAIN),
    ],
    native_tools: true,
    ..UNKNOWN
};
