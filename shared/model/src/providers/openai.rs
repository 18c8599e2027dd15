use super::Provider;
use crate::ToolPath::{Native, Text};
use crate::dialect::{Dialect, LOW_TO_HIGH, LimitName, MINIMAL_TO_HIGH, PLAIN, Sampling, Switch};
use crate::{Effort, Wire};

/// All models of OpenAI accept the newer name of the limit.
const COMPLETION: Dialect = Dialect { limit: LimitName::MaxCompletionTokens, ..PLAIN };

/// Models that always think.
const REASONING: Dialect = Dialect {
    thinking: Switch::Effort { on: None, off: None },
    efforts: LOW_TO_HIGH,
    sampling: Sampling::Refused,
    ..COMPLETION
};

/// Models that think on request.
const SWITCHED: Dialect = Dialect {
    thinking: Switch::Effort { on: Some("medium"), off: Some("none") },
    sampling: Sampling::WithoutThinking,
    ..REASONING
};

const LOW_TO_XHIGH: &[(Effort, &str)] =
    &[(Effort::Low, "low"), (Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "xhigh")];

/// OpenAI.
pub(super) const ROW: Provider = Provider {
    name: "openai",
    wire: Wire::Openai,
    hosts: &["api.openai.com"],
    usage_option: true,
    echo_reasoning: false,
    // The first reasoning models did not support tools.
    tools: &[
        ("o1-mini", Text),
        ("o1-preview", Text),
        ("gpt-", Native),
        ("chatgpt-", Text),
        ("o1", Native),
        ("o3", Native),
        ("o4", Native),
    ],
    listing: None,
    contexts: &[
        ("gpt-5-chat", 128_000),
        ("gpt-5", 400_000),
        ("gpt-4.1", 1_047_576),
        ("gpt-4o", 128_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4", 8192),
        ("gpt-3.5-turbo", 16_385),
        ("o1-mini", 128_000),
        ("o1-preview", 128_000),
        ("o1", 200_000),
        ("o3", 200_000),
        ("o4", 200_000),
    ],
    dialects: &[
        // `GPT-5 pro` supports high effort only.
        ("gpt-5-pro", Dialect { efforts: &[(Effort::High, "high")], ..REASONING }),
        ("gpt-5-chat", COMPLETION),
        ("gpt-5-codex", REASONING),
        ("gpt-5.1", SWITCHED),
        ("gpt-5.", Dialect { efforts: LOW_TO_XHIGH, ..SWITCHED }),
        (
            "gpt-5",
            Dialect {
                thinking: Switch::Effort { on: None, off: Some("minimal") },
                efforts: MINIMAL_TO_HIGH,
                ..REASONING
            },
        ),
        ("o1-mini", Dialect { sampling: Sampling::Refused, ..COMPLETION }),
        ("o1-preview", Dialect { sampling: Sampling::Refused, ..COMPLETION }),
        ("o1", REASONING),
        ("o3", REASONING),
        ("o4", REASONING),
        ("", COMPLETION),
    ],
};
