use serde::Serialize;

use crate::dialect::ThinkingControl;
use crate::resolved_params::ResolvedParams;
use crate::wire::WireRequest;
use crate::{Effort, Thinking};

/// The thinking budget that lets the model decide.
const AUTO_BUDGET: i32 = -1;

/// The generation parameters of a request.
#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Generation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
}

/// The thinking configuration; the wire rejects a budget together with a level.
#[derive(Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_budget: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<&'static str>,
    /// Whether the response includes thoughts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
}

impl<'a> Generation<'a> {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn new(request: WireRequest<'a>) -> Self {
        let (parameters, params) = (request.quirks.parameters, &request.prompt.params);
        Self {
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            max_output_tokens: parameters.limit.map(|(_, tokens)| tokens),
            thinking_config: thinking_config(&parameters),
            stop_sequences: request.stop_sequences(),
            seed: params.seed,
            presence_penalty: params.presence_penalty,
            frequency_penalty: params.frequency_penalty,
        }
    }
}

fn thinking_config(parameters: &ResolvedParams) -> Option<ThinkingConfig> {
    let off = parameters.thinking == Some(Thinking::Off);
    let config = match parameters.dialect.thinking {
        ThinkingControl::Budget { min_tokens } if off => {
            ThinkingConfig { thinking_budget: i32::try_from(min_tokens).ok(), ..ThinkingConfig::default() }
        }
        ThinkingControl::Level { off: level } if off => {
            ThinkingConfig { thinking_level: Some(level), ..ThinkingConfig::default() }
        }
        ThinkingControl::Budget { .. } => {
            ThinkingConfig { thinking_budget: budget(parameters), ..ThinkingConfig::default() }
        }
        ThinkingControl::Level { .. } => {
            ThinkingConfig { thinking_level: parameters.effort_name(), ..ThinkingConfig::default() }
        }
        _ => return None,
    };
    let config = ThinkingConfig { include_thoughts: parameters.thinking == Some(Thinking::On), ..config };
    Some(config).filter(|config| *config != ThinkingConfig::default())
}

/// Returns the budget in tokens that Google documents for OpenAI's efforts.
fn budget(parameters: &ResolvedParams) -> Option<i32> {
    match (parameters.effort, parameters.thinking) {
        (Some(Effort::Minimal | Effort::Low), _) => Some(1024),
        (Some(Effort::Medium), _) => Some(8192),
        (Some(Effort::High | Effort::Max), _) => Some(24_576),
        (None, thinking) => thinking.map(|_| AUTO_BUDGET),
    }
}
