//! Recognises messages that reject a parameter of the request.

use crate::errors::CompatFix;

const UNSUPPORTED_PHRASES: &[&str] =
    &["unsupported", "not support", "unrecognized", "unknown", "unexpected", "not permitted", "deprecated"];

/// Phrases for an invalid value. Endpoints also use them for a number that is too large.
const INVALID_PHRASES: &[&str] =
    &["not valid", "invalid", "only", "not one of", "restricted to", "must be", "can't be"];

/// Phrases for a list that is too long.
const TOO_MANY_PHRASES: &[&str] = &["too many", "too long", "at most", "maximum", "up to", "array_above_max_length"];

/// Names of parameters with the phrases that reject them; the first match wins.
///
/// A message that rejects sampling or the effort may mention thinking as the reason, but not the other way round. A
/// message that rejects one type of thinking mentions the effort as the alternative.
const PARAMETERS: &[(&str, CompatFix, &[&[&str]])] = &[
    // https://github.com/Vali-98/ChatterUI/issues/564, 2026-11-26.
    ("top_p", CompatFix::NoTopP, &[&["both be specified", "both `temperature` and"]]),
    // https://github.com/QwenLM/qwen-code/issues/921, 2026-11-26.
    ("temperature", CompatFix::NoTemperature, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    // https://github.com/aandrew-me/tgpt/issues/333, 2026-11-26.
    ("top_p", CompatFix::NoTopP, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    // Bedrock: quoted in public code, 2026-11-28.
    ("topp", CompatFix::NoTopP, &[UNSUPPORTED_PHRASES]),
    // https://github.com/teilomillet/gollm/issues/33, 2026-11-26.
    ("max_tokens", CompatFix::SwapLimitName, &[UNSUPPORTED_PHRASES]),
    // https://github.com/1Panel-dev/MaxKB/issues/2912, 2026-11-26.
    ("max_completion_tokens", CompatFix::SwapLimitName, &[UNSUPPORTED_PHRASES]),
    // https://github.com/lidge-jun/opencodex/pull/65, 2026-11-26.
    ("thinking.type", CompatFix::NoThinking, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    // https://github.com/anthropics/claude-code/issues/30010, 2026-11-26.
    ("effort", CompatFix::NoEffort, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    // https://github.com/anthropics/anthropic-sdk-csharp/issues/132, 2026-11-26.
    ("output_config", CompatFix::NoEffort, &[UNSUPPORTED_PHRASES]),
    // https://github.com/ollama/ollama/issues/17837, 2026-11-26.
    ("think value", CompatFix::NoEffort, &[INVALID_PHRASES]),
    // https://github.com/anthropics/claude-code/issues/29531, 2026-11-26.
    ("thinking", CompatFix::NoThinking, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    // https://github.com/TutteInstitute/toponymy/pull/148, 2026-11-26.
    ("chat_template_kwargs", CompatFix::NoThinking, &[UNSUPPORTED_PHRASES]),
    // https://github.com/pjq/sap-ai-core-llm-proxy/issues/22, 2026-11-26.
    ("reasoning", CompatFix::NoThinking, &[UNSUPPORTED_PHRASES]),
    // https://github.com/huggingface/smolagents/issues/1671, 2026-11-26.
    ("'stop'", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    // https://github.com/huggingface/text-generation-inference, `router/src/validation.rs`, 2026-11-28.
    ("`stop`", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    // Mistral: quoted in public code, 2026-11-28; its paths: https://github.com/partITech/php-mistral/issues/76.
    ("body.stop\n", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    // https://github.com/BittnerPierre/AI-Agent-Casebook/issues/133, 2026-11-28.
    ("\nstop\n", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    // https://github.com/lidge-jun/opencodex/issues/5278, 2026-11-26.
    ("parameter stop", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    // https://github.com/BerriAI/litellm/issues/12635, 2026-11-26.
    ("model: stop", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES]),
    // https://github.com/MegaGrindStone/mcp-web-ui/issues/5, 2026-11-26.
    ("stop sequence", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    // https://github.com/BerriAI/litellm/issues/3286, 2026-11-26.
    ("stop_sequences", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    // Perplexity: quoted in public code, langchain-ai/langchain, 2026-11-28.
    ("stop word", CompatFix::NoStopMarkers, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
];

/// Returns the change that helps if a message in lower case rejects a parameter.
pub(super) fn fix_of_message(text: &str) -> Option<CompatFix> {
    let rejects = |phrases: &[&[&str]]| phrases.iter().copied().flatten().any(|phrase| text.contains(phrase));
    PARAMETERS.iter().find(|(name, _, phrases)| text.contains(name) && rejects(phrases)).map(|(_, fix, _)| *fix)
}

#[cfg(test)]
mod tests {
    use super::super::meaning::{fix, permanent};
    use super::super::refusals::meaning;
    use super::*;
    use crate::ModelError;

    #[test]
    fn rejected_parameters_are_recognised_across_endpoints() {
        for (text, expected) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                fix(CompatFix::SwapLimitName),
            ),
            (
                "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
                fix(CompatFix::SwapLimitName),
            ),
            ("invalid temperature: only 1 is allowed for this model", fix(CompatFix::NoTemperature)),
            ("`temperature` is deprecated for this model.", fix(CompatFix::NoTemperature)),
            (
                "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
                fix(CompatFix::NoTopP),
            ),
            (
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
                fix(CompatFix::NoTopP),
            ),
            ("`reasoning_effort` must be one of `none` or `default`", fix(CompatFix::NoEffort)),
            (
                "'reasoning_effort' : value is not one of the allowed values ['none','default']",
                fix(CompatFix::NoEffort),
            ),
            ("property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?", fix(CompatFix::NoEffort)),
            ("Model grok-4 does not support parameter reasoningEffort.", fix(CompatFix::NoEffort)),
            ("Invalid combination of reasoning_effort and thinking type: high + disabled", fix(CompatFix::NoEffort)),
            ("This model does not support the effort parameter", fix(CompatFix::NoEffort)),
            ("Unsupported thinking type for the current model: disabled", fix(CompatFix::NoThinking)),
            (
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\".",
                fix(CompatFix::NoThinking),
            ),
            ("The thinking budget (52428) is invalid.", fix(CompatFix::NoThinking)),
            ("Unable to submit request because Thinking can't be disabled for this model.", fix(CompatFix::NoThinking)),
            ("The value of the enable_thinking parameter is restricted to True.", fix(CompatFix::NoThinking)),
            ("Thinking mode does not support this tool_choice", fix(CompatFix::NoForcedChoice)),
            ("Unsupported parameter: 'stop' is not supported with this model.", fix(CompatFix::NoStopMarkers)),
            ("Argument not supported on this model: stop", fix(CompatFix::NoStopMarkers)),
            ("Model grok-4 does not support parameter stop.", fix(CompatFix::NoStopMarkers)),
            ("Invalid 'stop': array too long. Expected an array with maximum length 1.", fix(CompatFix::NoStopMarkers)),
            ("at most 2 stop sequences are allowed", fix(CompatFix::NoStopMarkers)),
            (
                "Function tools with reasoning_effort are not supported for this model.",
                permanent(ModelError::ToolsUnsupported),
            ),
            (
                "This model's maximum context length is 8192 tokens; lower max_tokens, which is unsupported.",
                permanent(ModelError::ContextTooLong),
            ),
        ] {
            assert_eq!(meaning(400, &[], &text.to_lowercase()), Some(expected), "{text}");
        }
        for text in [
            "max_tokens is too large: 100000. At most 16384 are valid.",
            "Unsupported value: 'top_k'",
            "thinking is fun",
        ] {
            assert_eq!(meaning(400, &[], &text.to_lowercase()), None, "{text}");
        }
    }
}
