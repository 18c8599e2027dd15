use serde::Serialize;

use crate::dialect::Switch;
use crate::parameters::Parameters;
use crate::{Effort, Thinking, Wishes};

/// The thinking budget that lets the model decide.
const AS_IT_SEES_FIT: i32 = -1;

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
    thinking_config: Option<Config>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop_sequences: &'a [String],
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
struct Config {
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

    pub(super) fn new(parameters: Parameters, wishes: &'a Wishes) -> Self {
        Self {
            temperature: parameters.temperature,
            top_p: parameters.top_p,
            max_output_tokens: parameters.limit.map(|(_, tokens)| tokens),
            thinking_config: thinking(&parameters),
            stop_sequences: &wishes.stop,
            seed: wishes.seed,
            presence_penalty: wishes.presence_penalty,
            frequency_penalty: wishes.frequency_penalty,
        }
    }
}

fn thinking(parameters: &Parameters) -> Option<Config> {
    let off = parameters.thinking == Some(Thinking::Off);
    let config = match parameters.dialect.thinking {
        Switch::Budget { least } if off => Config { thinking_budget: i32::try_from(least).ok(), ..Config::default() },
        Switch::Level { off: word } if off => Config { thinking_level: Some(word), ..Config::default() },
        Switch::Budget { .. } => Config { thinking_budget: budget(parameters), ..Config::default() },
        Switch::Level { .. } => Config { thinking_level: parameters.word(), ..Config::default() },
        _ => return None,
    };
    let config = Config { include_thoughts: parameters.thinking == Some(Thinking::On), ..config };
    Some(config).filter(|config| *config != Config::default())
}

/// Returns the budget in tokens that Google documents for OpenAI's efforts.
fn budget(parameters: &Parameters) -> Option<i32> {
    match (parameters.effort, parameters.thinking) {
        (Some(Effort::Minimal | Effort::Low), _) => Some(1024),
        (Some(Effort::Medium), _) => Some(8192),
        (Some(Effort::High | Effort::Max), _) => Some(24_576),
        (None, thinking) => thinking.map(|_| AS_IT_SEES_FIT),
    }
}
