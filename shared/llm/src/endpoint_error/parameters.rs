//! Recognises messages that reject a parameter of the request.

use super::error_kind::ErrorKind;

/// Phrases for an unsupported parameter.
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
const PARAMETERS: &[(&str, ErrorKind, &[&[&str]])] = &[
    ("top_p", ErrorKind::TopP, &[&["both be specified", "both `temperature` and"]]),
    ("temperature", ErrorKind::Temperature, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("top_p", ErrorKind::TopP, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("topp", ErrorKind::TopP, &[UNSUPPORTED_PHRASES]),
    ("max_tokens", ErrorKind::Limit, &[UNSUPPORTED_PHRASES]),
    ("max_completion_tokens", ErrorKind::Limit, &[UNSUPPORTED_PHRASES]),
    ("thinking.type", ErrorKind::Thinking, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("effort", ErrorKind::Effort, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("output_config", ErrorKind::Effort, &[UNSUPPORTED_PHRASES]),
    ("think value", ErrorKind::Effort, &[INVALID_PHRASES]),
    ("thinking", ErrorKind::Thinking, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("chat_template_kwargs", ErrorKind::Thinking, &[UNSUPPORTED_PHRASES]),
    ("reasoning", ErrorKind::Thinking, &[UNSUPPORTED_PHRASES]),
    ("'stop'", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("`stop`", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("body.stop\n", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("\nstop\n", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("parameter stop", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("model: stop", ErrorKind::Stop, &[UNSUPPORTED_PHRASES]),
    ("stop sequence", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("stop_sequences", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("stop word", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
];

/// Returns the cause if a message in lower case rejects a parameter.
pub(super) fn kind_of_parameter(text: &str) -> Option<ErrorKind> {
    let rejects = |phrases: &[&[&str]]| phrases.iter().copied().flatten().any(|phrase| text.contains(phrase));
    PARAMETERS.iter().find(|(name, _, phrases)| text.contains(name) && rejects(phrases)).map(|(_, kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::super::refusals::meaning;
    use super::*;

    #[test]
    fn rejected_parameters_are_recognised_across_endpoints() {
        for (text, kind) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                ErrorKind::Limit,
            ),
            (
                "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
                ErrorKind::Limit,
            ),
            ("invalid temperature: only 1 is allowed for this model", ErrorKind::Temperature),
            ("`temperature` is deprecated for this model.", ErrorKind::Temperature),
            ("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.", ErrorKind::TopP),
            (
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
                ErrorKind::TopP,
            ),
            ("`reasoning_effort` must be one of `none` or `default`", ErrorKind::Effort),
            ("'reasoning_effort' : value is not one of the allowed values ['none','default']", ErrorKind::Effort),
            ("property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?", ErrorKind::Effort),
            ("Model grok-4 does not support parameter reasoningEffort.", ErrorKind::Effort),
            ("Invalid combination of reasoning_effort and thinking type: high + disabled", ErrorKind::Effort),
            ("This model does not support the effort parameter", ErrorKind::Effort),
            ("Unsupported thinking type for the current model: disabled", ErrorKind::Thinking),
            (
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\".",
                ErrorKind::Thinking,
            ),
            ("The thinking budget (52428) is invalid.", ErrorKind::Thinking),
            ("Unable to submit request because Thinking can't be disabled for this model.", ErrorKind::Thinking),
            ("The value of the enable_thinking parameter is restricted to True.", ErrorKind::Thinking),
            ("Thinking mode does not support this tool_choice", ErrorKind::ForcedChoice),
            ("Unsupported parameter: 'stop' is not supported with this model.", ErrorKind::Stop),
            ("Argument not supported on this model: stop", ErrorKind::Stop),
            ("Model grok-4 does not support parameter stop.", ErrorKind::Stop),
            ("Invalid 'stop': array too long. Expected an array with maximum length 1.", ErrorKind::Stop),
            ("at most 2 stop sequences are allowed", ErrorKind::Stop),
            ("Function tools with reasoning_effort are not supported for this model.", ErrorKind::Tools),
            (
                "This model's maximum context length is 8192 tokens; lower max_tokens, which is unsupported.",
                ErrorKind::Context,
            ),
        ] {
            assert_eq!(meaning(400, &[], &text.to_lowercase()), Some(kind), "{text}");
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
