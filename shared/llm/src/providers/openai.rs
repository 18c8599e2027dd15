use super::{Provider, UNKNOWN};
use crate::Effort;
use crate::params::{
    Dialect, LOW_TO_HIGH, MAX_COMPLETION_TOKENS, MINIMAL_TO_HIGH, PLAIN, SamplingSupport, ThinkingControl,
};

/// All models of OpenAI accept the newer name of the limit.
pub(super) const COMPLETION: Dialect = Dialect { limit_name: MAX_COMPLETION_TOKENS, ..PLAIN };

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

pub(super) const SWITCHED_TO_XHIGH: Dialect = Dialect { effort_names: LOW_TO_XHIGH, ..SWITCHED };

/// Models that think harder and longer; they always think.
const PRO: Dialect = Dialect {
    effort_names: &[(Effort::Medium, "medium"), (Effort::High, "high"), (Effort::Max, "xhigh")],
    ..REASONING
};

/// Parts of the ids of models that only the Responses API has.
// Source: https://github.com/openai/openai-python, `src/openai/types/shared/responses_model.py`, 2026-11-28.
const RESPONSES_ONLY: &[&str] = &["pro", "codex", "research", "cyber", "daybreak"];

/// The first version of `GPT` whose tools need the Responses API: chat completions reject them while the model thinks.
// Source: https://github.com/pipecat-ai/pipecat/issues/4043, 2026-11-25.
const FIRST_VERSION_WITH_RESPONSES: (u32, u32) = (5, 4);

/// Whether a model, or its tools, need the Responses API.
pub(super) fn needs_responses(model: &str) -> bool {
    let model = model.to_lowercase();
    let is_listed = model.split('-').any(|part| RESPONSES_ONLY.contains(&part));
    // The id of a fine-tuned model contains names of the operator's own.
    let is_new = version(&model).is_some_and(|version| version >= FIRST_VERSION_WITH_RESPONSES);
    (is_listed || is_new) && !model.starts_with("ft:")
}

/// Returns major and minor version of an id such as `gpt-5.4-mini`.
fn version(model: &str) -> Option<(u32, u32)> {
    let version = model.strip_prefix("gpt-")?.split('-').next()?;
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// OpenAI.
// Source: https://platform.openai.com/docs/guides/function-calling, and recorded answers, 2026-11-23.
pub(super) const ROW: Provider = Provider {
    name: "openai",
    hosts: &["api.openai.com"],
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
        ("codex-", 200_000),
    ],
    dialects: &[
        // `GPT-5 pro` supports high effort only.
        ("gpt-5-pro", Dialect { effort_names: &[(Effort::High, "high")], ..REASONING }),
        ("gpt-5-chat", COMPLETION),
        ("gpt-5-codex", REASONING),
        ("gpt-5.1-codex-max", Dialect { effort_names: LOW_TO_XHIGH, ..REASONING }),
        ("gpt-5.1-codex", REASONING),
        ("gpt-5.2-codex", Dialect { effort_names: LOW_TO_XHIGH, ..REASONING }),
        ("gpt-5.3-codex", Dialect { effort_names: LOW_TO_XHIGH, ..REASONING }),
        ("gpt-5.2-pro", PRO),
        ("gpt-5.4-pro", PRO),
        ("gpt-5.5-pro", PRO),
        ("gpt-5.1", SWITCHED),
        ("gpt-5.", SWITCHED_TO_XHIGH),
        ("gpt-6", SWITCHED_TO_XHIGH),
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
        ("codex-", REASONING),
        ("", COMPLETION),
    ],
    ..UNKNOWN
};
