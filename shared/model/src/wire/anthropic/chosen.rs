use serde::Serialize;

use crate::dialect::Switch;
use crate::parameters::Parameters;
use crate::{Effort, Thinking};

/// The default limit, because the wire requires one; every available model accepts it.
const MAX_TOKENS: u32 = 8192;

/// The generation parameters of a request.
#[derive(Serialize)]
pub(super) struct Chosen {
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<How>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Output>,
}

#[derive(Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum How {
    Enabled { budget_tokens: u32 },
    Adaptive,
    Disabled,
}

#[derive(Serialize)]
struct Output {
    effort: &'static str,
}

/// The position in the conversation, which determines whether thinking may be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Question,
    /// The model must call a tool: the wire does not allow that together with thinking.
    ForcedCall,
    /// The prompt ends with a tool result. With a budget, the wire requires the earlier thinking with its signature, which
    /// is not stored.
    Result,
}

impl Chosen {
    /// Converts the parameters to the fields of the wire.
    pub(super) fn new(parameters: &Parameters, at: At) -> Self {
        let limit = parameters.limit.map(|(_, tokens)| tokens);
        let thinking = how(parameters, limit, at);
        let thinks = thinking.filter(|how| *how != How::Disabled);
        let room = if let Some(How::Enabled { budget_tokens }) = thinks { budget_tokens } else { 0 };
        Self {
            // Thinking counts towards the limit.
            max_tokens: limit.unwrap_or(MAX_TOKENS + room),
            // The wire allows no sampling parameters with thinking.
            temperature: parameters.temperature.filter(|_| thinks.is_none()),
            top_p: parameters.top_p.filter(|_| thinks.is_none()),
            thinking,
            output_config: parameters.word().map(|effort| Output { effort }),
        }
    }
}

fn how(parameters: &Parameters, limit: Option<u32>, at: At) -> Option<How> {
    match (parameters.dialect.thinking, parameters.thinking, parameters.effort) {
        (Switch::Budget { .. } | Switch::Adaptive, Some(Thinking::Off), _) => Some(How::Disabled),
        (Switch::Budget { .. }, None, None) => None,
        (Switch::Budget { least }, ..) if at == At::Question => enabled(parameters.effort, limit, least),
        (Switch::Adaptive, Some(_), _) if at != At::ForcedCall => Some(How::Adaptive),
        _ => None,
    }
}

/// Enables thinking with a budget of at most half of the limit.
fn enabled(effort: Option<Effort>, limit: Option<u32>, least: u32) -> Option<How> {
    let wanted = match effort {
        Some(Effort::Minimal) => least,
        Some(Effort::Low) => 2048,
        Some(Effort::Medium) | None => 4096,
        Some(Effort::High) => 12_288,
        Some(Effort::Max) => 20_480,
    };
    let budget_tokens = limit.map_or(wanted, |limit| wanted.min(limit / 2));
    (budget_tokens >= least).then_some(How::Enabled { budget_tokens })
}
