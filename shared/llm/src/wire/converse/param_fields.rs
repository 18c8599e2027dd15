use serde_json::{Map, Value, json};

use crate::Thinking;
use crate::params::{ResolvedParams, ThinkingControl};
use crate::wire::anthropic::{param_fields as anthropic_fields, reply_context};
use crate::wire::{Fields, WireRequest};

/// Returns the fields of the generation parameters, and whether earlier reasoning may be sent.
pub(super) fn param_fields(request: WireRequest<'_>) -> (Map<String, Value>, bool) {
    let parameters = &request.quirks.parameters;
    let (mut limit, mut temperature, mut top_p) = (parameters.max_tokens, parameters.temperature, parameters.top_p);
    let is_anthropic =
        matches!(parameters.dialect.thinking, ThinkingControl::Budget { .. } | ThinkingControl::Adaptive);
    let (additional, thinks) = if is_anthropic {
        let (fields, thinks) = anthropic_fields(parameters, reply_context(request));
        let Fields(mut fields) = fields;
        limit = fields.remove("max_tokens").and_then(|tokens| u32::try_from(tokens.as_u64()?).ok());
        temperature = fields.remove("temperature").and_then(|value| value.as_f64());
        top_p = fields.remove("top_p").and_then(|value| value.as_f64());
        (fields, thinks)
    } else {
        (reasoning_fields(parameters), true)
    };
    let inference = Fields::default()
        .with("maxTokens", limit)
        .with("temperature", temperature)
        .with("topP", top_p)
        .with("stopSequences", request.stop_sequences());
    let groups = [("inferenceConfig", inference.0), ("additionalModelRequestFields", additional)];
    let fields = groups.into_iter().filter(|(_, fields)| !fields.is_empty());
    (fields.map(|(name, fields)| (name.to_owned(), Value::Object(fields))).collect(), thinks)
}

/// Returns the model's own parameters of reasoning: those of OpenAI's models, else those of Amazon's.
fn reasoning_fields(parameters: &ResolvedParams) -> Map<String, Value> {
    let (control, thinking, effort) = (parameters.dialect.thinking, parameters.thinking, parameters.effort_name());
    let fields = match (control, thinking) {
        (ThinkingControl::Effort { off, .. }, Some(Thinking::Off)) => Fields::default().with("reasoning_effort", off),
        (ThinkingControl::Effort { on, .. }, _) => {
            Fields::default().with("reasoning_effort", effort.or(on.filter(|_| thinking == Some(Thinking::On))))
        }
        (ThinkingControl::Type { .. }, Some(Thinking::On)) => {
            let mut config = json!({ "type": "enabled" });
            if let Some(effort) = effort {
                config["maxReasoningEffort"] = effort.into();
            }
            Fields::default().with("reasoningConfig", Some(config))
        }
        _ => Fields::default(),
    };
    fields.0
}
