use serde_json::{Value, json};

use crate::params::{ResolvedParams, ThinkingControl};
use crate::wire::Fields;
use crate::{Effort, Thinking};

/// The default limit, because the wire requires one; every available model accepts it.
// Price map in the wheel of litellm 1.108.7, 2026-11-28: at Anthropic, every model accepts 64,000 tokens.
const MAX_TOKENS: u32 = 8192;

/// The position in the conversation, which determines whether thinking may be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::wire) enum ReplyContext {
    UserMessage,
    /// The model must call a tool: the wire does not allow that together with thinking.
    ForcedCall,
    /// The prompt ends with a tool result. With a budget, the wire requires the thinking before the call.
    ToolResult,
    /// The same, and the thinking before the call is sent.
    SignedToolResult,
}

/// Returns the fields of the generation parameters, and whether thinking is on, so that earlier thinking may be sent.
pub(in crate::wire) fn param_fields(parameters: &ResolvedParams, context: ReplyContext) -> (Fields, bool) {
    let limit = parameters.max_tokens;
    let (thinking, budget) = thinking_field(parameters, limit, context).unzip();
    let budget = budget.unwrap_or_default();
    let thinks = budget > 0;
    let fields = Fields::default()
        // Thinking counts towards the limit.
        .with("max_tokens", Some(limit.unwrap_or(MAX_TOKENS + budget)))
        // The wire allows no sampling parameters with thinking.
        .with("temperature", parameters.temperature.filter(|_| !thinks))
        .with("top_p", parameters.top_p.filter(|_| !thinks))
        .with("thinking", thinking)
        .with("output_config", parameters.effort_name().map(|effort| json!({ "effort": effort })));
    (fields, thinks)
}

/// Returns the field, and the tokens that thinking may take.
fn thinking_field(parameters: &ResolvedParams, limit: Option<u32>, context: ReplyContext) -> Option<(Value, u32)> {
    match (parameters.dialect.thinking, parameters.thinking, parameters.effort) {
        (ThinkingControl::Budget { .. } | ThinkingControl::Adaptive, Some(Thinking::Off), _) => {
            Some((json!({ "type": "disabled" }), 0))
        }
        (ThinkingControl::Budget { .. }, None, None) => None,
        (ThinkingControl::Budget { min_tokens }, ..)
            if matches!(context, ReplyContext::UserMessage | ReplyContext::SignedToolResult) =>
        {
            with_budget(parameters.effort, limit, min_tokens)
        }
        (ThinkingControl::Adaptive, Some(_), _) if context != ReplyContext::ForcedCall => {
            Some((json!({ "type": "adaptive" }), adaptive_tokens(parameters.effort)))
        }
        _ => None,
    }
}

/// Returns the tokens that are kept for adaptive thinking, which has no budget of its own. With the answer's, they stay
/// below the limit of every model that thinks so, 64,000 tokens.
// Price map in the wheel of litellm 1.108.7, 2026-11-28: 64,000 at Vertex, 128,000 at Anthropic.
fn adaptive_tokens(effort: Option<Effort>) -> u32 {
    match effort {
        Some(Effort::Minimal | Effort::Low) => 8192,
        Some(Effort::Medium) | None => 16_384,
        Some(Effort::High) => 24_576,
        Some(Effort::Max) => 49_152,
    }
}

/// Enables thinking with a budget of at most half of the limit.
fn with_budget(effort: Option<Effort>, limit: Option<u32>, min_tokens: u32) -> Option<(Value, u32)> {
    let wanted = match effort {
        Some(Effort::Minimal) => min_tokens,
        Some(Effort::Low) => 2048,
        Some(Effort::Medium) | None => 4096,
        Some(Effort::High) => 12_288,
        Some(Effort::Max) => 20_480,
    };
    let budget = limit.map_or(wanted, |limit| wanted.min(limit / 2));
    (budget >= min_tokens).then(|| (json!({ "type": "enabled", "budget_tokens": budget }), budget))
}
