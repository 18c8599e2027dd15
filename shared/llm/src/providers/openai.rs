use super::Provider;
use crate::ToolMode::{Native, Prompted};
use crate::dialect::{Dialect, LOW_TO_HIGH, LimitName, MINIMAL_TO_HIGH, PLAIN, SamplingSupport, ThinkingControl};
use crate::{Effort, Wire};

/// All models of OpenAI accept the newer name of the limit.
const COMPLETION: Dialect = Dialect { limit_name: LimitName::MaxCompletionTokens, ..PLAIN };

/// Models that always think.
const REASONING: Dialect = Dialect {
    thinking: ThinkingControl::Effort { on: None, off: None },
    effort_names: LOW_TO_HIGH,
    sampling: SamplingSupport::Unsupported,
    stop_sequences: false,
    ..COMPLETION
};

/// The first models that always think; their effort is fixed.
const FIRST_REASONING: Dialect =
    Dialect { sampling: SamplingSupport::Unsupported, stop_sequences: false, ..COMPLETION };

/// Models that think on request.
const SWITCHED: Dialect = Dialect {
    thinking: ThinkingControl::Effort { on: Some("medium"), off: Some("none") },
    sampling: SamplingSupport::WithoutThinking,
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
        ("o1-mini", Prompted),
        ("o1-preview", Prompted),
        ("gpt-", Native),
        ("chatgpt-", Prompted),
        ("o1", Native),
        ("o3", Native),
        ("o4", Native),
    ],
    model_list: None,
    context_tokens: &[
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
        ("gpt-5-pro", Dialect { effort_names: &[(Effort::High, "high")], ..REASONING }),
        ("gpt-5-chat", COMPLETION),
        ("gpt-5-codex", REASONING),
        ("gpt-5.1", SWITCHED),
        ("gpt-5.", Dialect { effort_names: LOW_TO_XHIGH, ..SWITCHED }),
        (
            "gpt-5",
            Dialect {
                thinking: ThinkingControl::Effort { on: None, off: Some("minimal") },
                effort_names: MINIMAL_TO_HIGH,
                ..REASONING
            },
        ),
        ("o1-mini", FIRST_REASONING),
        ("o1-preview", FIRST_REASONING),
        ("o1", REASONING),
        ("o3", REASONING),
        ("o4", REASONING),
        ("", COMPLETION),
    ],
};
