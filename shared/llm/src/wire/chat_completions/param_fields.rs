use serde::Serialize;

use crate::Thinking;
use crate::dialect::{LimitName, ThinkingControl};
use crate::resolved_params::ResolvedParams;

/// The generation parameters in the fields of the endpoint's dialect; absent ones are omitted.
#[derive(Default, Serialize)]
pub(crate) struct ParamFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<ThinkingType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) enable_thinking: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateKwargs>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
}

/// The type of thinking.
#[derive(Serialize)]
pub(crate) struct ThinkingType {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct TemplateKwargs {
    enable_thinking: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Reasoning {
    Enabled(bool),
    Effort(&'static str),
}

impl From<ResolvedParams> for ParamFields {
    fn from(parameters: ResolvedParams) -> Self {
        let limit = |wanted| parameters.limit.filter(|(name, _)| *name == wanted).map(|(_, tokens)| tokens);
        let fields = Self {
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            max_tokens: limit(LimitName::MaxTokens),
            max_completion_tokens: limit(LimitName::MaxCompletionTokens),
            reasoning_effort: parameters.effort_name(),
            ..Self::default()
        };
        fields.with_thinking(parameters)
    }
}

impl ParamFields {
    /// Returns the effort, in whichever field it is.
    pub(crate) fn effort(&self) -> Option<&'static str> {
        match self.reasoning {
            Some(Reasoning::Effort(effort)) => Some(effort),
            Some(Reasoning::Enabled(_)) => Some("medium"),
            None => self.reasoning_effort,
        }
    }

    fn with_thinking(self, parameters: ResolvedParams) -> Self {
        let thinking = parameters.thinking;
        let enabled = as_bool(thinking);
        match parameters.dialect.thinking {
            ThinkingControl::Effort { on, off } => {
                Self { reasoning_effort: effort_field(&parameters, on, off), ..self }
            }
            ThinkingControl::Type { auto } => {
                let kind = match thinking {
                    Some(Thinking::On) => Some("enabled"),
                    Some(Thinking::Off) => Some("disabled"),
                    Some(Thinking::Auto) => auto.then_some("auto"),
                    None => None,
                };
                Self { thinking: kind.map(|kind| ThinkingType { kind }), ..self }
            }
            ThinkingControl::Enable => Self { enable_thinking: enabled, ..self },
            ThinkingControl::Template => {
                Self { chat_template_kwargs: enabled.map(|enable_thinking| TemplateKwargs { enable_thinking }), ..self }
            }
            ThinkingControl::Reasoning => {
                Self { reasoning: reasoning_field(&parameters), reasoning_effort: None, ..self }
            }
            // For other wires.
            ThinkingControl::Unknown
            | ThinkingControl::Think
            | ThinkingControl::Budget { .. }
            | ThinkingControl::Adaptive
            | ThinkingControl::Level { .. } => self,
        }
    }
}

/// Returns the value of a boolean switch; `Auto` is omitted, because a boolean cannot express it.
fn as_bool(thinking: Option<Thinking>) -> Option<bool> {
    match thinking? {
        Thinking::On => Some(true),
        Thinking::Off => Some(false),
        Thinking::Auto => None,
    }
}

fn effort_field(
    parameters: &ResolvedParams,
    on: Option<&'static str>,
    off: Option<&'static str>,
) -> Option<&'static str> {
    match parameters.thinking {
        Some(Thinking::Off) => off,
        Some(Thinking::On) => parameters.effort_name().or(on),
        _ => parameters.effort_name(),
    }
}

fn reasoning_field(parameters: &ResolvedParams) -> Option<Reasoning> {
    match parameters.thinking {
        Some(Thinking::Off) => Some(Reasoning::Effort("none")),
        Some(Thinking::On) if parameters.effort.is_none() => Some(Reasoning::Enabled(true)),
        _ => parameters.effort_name().map(Reasoning::Effort),
    }
}
