use serde_json::{Value, json};

use crate::Thinking;
use crate::params::{ResolvedParams, ThinkingControl};
use crate::wire::{Fields, WireRequest};

/// Returns the generation parameters in the fields of the endpoint's dialect.
pub(super) fn param_fields(request: WireRequest<'_>) -> Fields {
    let parameters = &request.quirks.parameters;
    let fields = switch_fields(request.sampling_fields(parameters.dialect.limit_name), parameters);
    match parameters.dialect.thinking {
        ThinkingControl::Template => {
            let kwargs = as_bool(parameters.thinking).map(|enabled| json!({ "enable_thinking": enabled }));
            fields.with("chat_template_kwargs", kwargs).with("reasoning_effort", effort(parameters))
        }
        ThinkingControl::Reasoning => fields.with("reasoning", reasoning(parameters)),
        _ => fields.with("reasoning_effort", effort(parameters)),
    }
}

/// Adds the switch of thinking at Ark and others, or at `DashScope`, to the fields of a request.
pub(in crate::wire) fn switch_fields(fields: Fields, parameters: &ResolvedParams) -> Fields {
    match parameters.dialect.thinking {
        ThinkingControl::Type { auto } => {
            let kind = match parameters.thinking {
                Some(Thinking::On) => Some("enabled"),
                Some(Thinking::Off) => Some("disabled"),
                Some(Thinking::Auto) => auto.then_some("auto"),
                None => None,
            };
            fields.with("thinking", kind.map(|kind| json!({ "type": kind })))
        }
        ThinkingControl::Enable => fields.with("enable_thinking", as_bool(parameters.thinking)),
        _ => fields,
    }
}

/// Returns the effort, which also switches thinking at some endpoints.
pub(in crate::wire) fn effort(parameters: &ResolvedParams) -> Option<&'static str> {
    match (parameters.dialect.thinking, parameters.thinking) {
        (ThinkingControl::Effort { off, .. }, Some(Thinking::Off)) => off,
        (ThinkingControl::Effort { on, .. }, Some(Thinking::On)) => parameters.effort_name().or(on),
        (ThinkingControl::Reasoning, Some(Thinking::Off)) => Some("none"),
        (ThinkingControl::Reasoning, Some(Thinking::On)) => parameters.effort_name().or(Some("medium")),
        _ => parameters.effort_name(),
    }
}

/// Returns OpenRouter's `reasoning`, which can be enabled without an effort.
fn reasoning(parameters: &ResolvedParams) -> Option<Value> {
    let is_on = parameters.thinking == Some(Thinking::On) && parameters.effort.is_none();
    if is_on { Some(json!({ "enabled": true })) } else { effort(parameters).map(|effort| json!({ "effort": effort })) }
}

/// Returns the value of a boolean switch; `Auto` is omitted, because a boolean cannot express it.
fn as_bool(thinking: Option<Thinking>) -> Option<bool> {
    match thinking? {
        Thinking::On => Some(true),
        Thinking::Off => Some(false),
        Thinking::Auto => None,
    }
}
