use serde::Serialize;

use crate::dialect::Switch;
use crate::parameters::Parameters;
use crate::{Effort, Thinking};

/// The wire demands a limit; this one is taken by every model that is still served.
const MAX_TOKENS: u32 = 8192;

/// What the operator chose.
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

/// Where the model stands, which decides whether it may be told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Question,
    /// It must call: that and thinking exclude each other.
    ForcedCall,
    /// A call of its own was answered. With a budget, what it thought before that would have to come back with its
    /// signature, which is not kept.
    Result,
}

impl Chosen {
    /// In the words of the wire.
    pub(super) fn new(parameters: &Parameters, at: At) -> Self {
        let limit = parameters.limit.map(|(_, tokens)| tokens);
        let thinking = how(parameters, limit, at);
        let thinks = thinking.filter(|how| *how != How::Disabled);
        let room = if let Some(How::Enabled { budget_tokens }) = thinks { budget_tokens } else { 0 };
        Self {
            // What is thought counts.
            max_tokens: limit.unwrap_or(MAX_TOKENS + room),
            // A model that thinks chooses its words by itself.
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

/// Thinking with a budget, which must leave room for the answer.
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
