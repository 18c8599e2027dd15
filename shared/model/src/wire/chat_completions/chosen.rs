use serde::Serialize;

use crate::Thinking;
use crate::dialect::{LimitName, Switch};
use crate::parameters::Parameters;

/// The generation parameters in the fields of the endpoint's dialect; absent ones are omitted.
#[derive(Default, Serialize)]
pub(super) struct Chosen {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Typed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Template>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

#[derive(Serialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Template {
    enable_thinking: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Reasoning {
    Enabled(bool),
    Effort(&'static str),
}

impl From<Parameters> for Chosen {
    fn from(parameters: Parameters) -> Self {
        let limit = |wanted| parameters.limit.filter(|(name, _)| *name == wanted).map(|(_, tokens)| tokens);
        let sampled = Self {
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            max_tokens: limit(LimitName::MaxTokens),
            max_completion_tokens: limit(LimitName::MaxCompletionTokens),
            reasoning_effort: parameters.word(),
            ..Self::default()
        };
        sampled.thinking(parameters)
    }
}

impl Chosen {
    fn thinking(self, parameters: Parameters) -> Self {
        let thinking = parameters.thinking;
        let switched = switched(thinking);
        match parameters.dialect.thinking {
            Switch::Effort { on, off } => Self { reasoning_effort: by_effort(&parameters, on, off), ..self },
            Switch::Type { auto } => {
                let kind = match thinking {
                    Some(Thinking::On) => Some("enabled"),
                    Some(Thinking::Off) => Some("disabled"),
                    Some(Thinking::Auto) => auto.then_some("auto"),
                    None => None,
                };
                Self { thinking: kind.map(|kind| Typed { kind }), ..self }
            }
            Switch::Enable => Self { enable_thinking: switched, ..self },
            Switch::Template => {
                Self { chat_template_kwargs: switched.map(|enable_thinking| Template { enable_thinking }), ..self }
            }
            Switch::Reasoning => Self { reasoning: reasoning(&parameters), reasoning_effort: None, ..self },
            // For other wires.
            Switch::Unknown | Switch::Think | Switch::Budget { .. } | Switch::Adaptive | Switch::Level { .. } => self,
        }
    }
}

/// Returns the value of a boolean switch; `Auto` is omitted, because a boolean cannot express it.
fn switched(thinking: Option<Thinking>) -> Option<bool> {
    match thinking? {
        Thinking::On => Some(true),
        Thinking::Off => Some(false),
        Thinking::Auto => None,
    }
}

fn by_effort(parameters: &Parameters, on: Option<&'static str>, off: Option<&'static str>) -> Option<&'static str> {
    match parameters.thinking {
        Some(Thinking::Off) => off,
        Some(Thinking::On) => parameters.word().or(on),
        _ => parameters.word(),
    }
}

fn reasoning(parameters: &Parameters) -> Option<Reasoning> {
    match parameters.thinking {
        Some(Thinking::Off) => Some(Reasoning::Effort("none")),
        Some(Thinking::On) if parameters.effort.is_none() => Some(Reasoning::Enabled(true)),
        _ => parameters.word().map(Reasoning::Effort),
    }
}
