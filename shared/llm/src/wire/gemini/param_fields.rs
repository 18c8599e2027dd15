use crate::params::{ResolvedParams, ThinkingControl};
use crate::wire::{Fields, WireRequest};
use crate::{Effort, Thinking};

/// The thinking budget that lets the model decide.
// Source: https://ai.google.dev/gemini-api/docs/thinking, 2026-11-21.
const AUTO_BUDGET: i32 = -1;

pub(super) fn param_fields(request: WireRequest<'_>) -> Fields {
    let (parameters, params) = (&request.quirks.parameters, &request.prompt.params);
    let thinking = thinking_config(parameters);
    Fields::default()
        .with("temperature", parameters.temperature)
        .with("topP", parameters.top_p)
        .with("maxOutputTokens", parameters.max_tokens)
        .with("thinkingConfig", Some(thinking).filter(|thinking| !thinking.is_empty()))
        .with("stopSequences", request.stop_sequences())
        .with("seed", params.seed)
        .with("presencePenalty", params.presence_penalty)
        .with("frequencyPenalty", params.frequency_penalty)
}

/// Returns the thinking configuration; the wire rejects a budget together with a level.
fn thinking_config(parameters: &ResolvedParams) -> Fields {
    let off = parameters.thinking == Some(Thinking::Off);
    let fields = match parameters.dialect.thinking {
        ThinkingControl::Budget { min_tokens } if off => Fields::default().with("thinkingBudget", Some(min_tokens)),
        ThinkingControl::Budget { .. } => Fields::default().with("thinkingBudget", budget(parameters)),
        ThinkingControl::Level { off: level } if off => Fields::default().with("thinkingLevel", Some(level)),
        ThinkingControl::Level { .. } => Fields::default().with("thinkingLevel", parameters.effort_name()),
        _ => return Fields::default(),
    };
    fields.with("includeThoughts", (parameters.thinking == Some(Thinking::On)).then_some(true))
}

/// Returns the budget in tokens that Google documents for OpenAI's efforts.
// Documentation of Gemini's OpenAI compatibility, 2026-11-21.
fn budget(parameters: &ResolvedParams) -> Option<i32> {
    match (parameters.effort, parameters.thinking) {
        (Some(Effort::Minimal | Effort::Low), _) => Some(1024),
        (Some(Effort::Medium), _) => Some(8192),
        (Some(Effort::High | Effort::Max), _) => Some(24_576),
        (None, thinking) => thinking.map(|_| AUTO_BUDGET),
    }
}
