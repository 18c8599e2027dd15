//! Codes and phrases that identify errors beyond the HTTP status.

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// A quota or a balance is used up.
    Quota,
    /// The content is not accepted.
    Content,
    /// The prompt does not fit.
    Context,
    /// The model takes no tools.
    Tools,
    /// `stream_options` is not accepted.
    UsageOption,
    /// `tool_choice` is not accepted as it is.
    ForcedChoice,
    /// `reasoning_content` of earlier messages is missing.
    Reasoning,
    /// Past calls lack their signatures.
    Signatures,
    /// The limit of a reply is not accepted under its name.
    Limit,
    /// `temperature` is not accepted.
    Temperature,
    /// `top_p` is not accepted.
    TopP,
    /// The thinking parameter is not accepted.
    Thinking,
    /// The effort is not accepted.
    Effort,
    /// Stop sequences are not accepted, or not so many.
    Stop,
}

/// Codes and types, compared as a whole and ignoring case.
const CODES: &[(&str, ErrorKind)] = &[
    ("insufficient_quota", ErrorKind::Quota),
    ("billing_hard_limit_reached", ErrorKind::Quota),
    ("AccountOverdueError", ErrorKind::Quota),
    ("QuotaExceeded", ErrorKind::Quota),
    ("SetLimitExceeded", ErrorKind::Quota),
    ("exceeded_current_quota_error", ErrorKind::Quota),
    ("insufficient_balance", ErrorKind::Quota),
    ("Arrearage", ErrorKind::Quota),
    ("AllocationQuota.FreeTierOnly", ErrorKind::Quota),
    ("1113", ErrorKind::Quota),
    ("30001", ErrorKind::Quota),
    ("content_filter", ErrorKind::Content),
    ("content_policy_violation", ErrorKind::Content),
    ("ResponsibleAIPolicyViolation", ErrorKind::Content),
    ("data_inspection_failed", ErrorKind::Content),
    ("DataInspectionFailed", ErrorKind::Content),
    ("1301", ErrorKind::Content),
    ("context_length_exceeded", ErrorKind::Context),
    ("exceed_context_size_error", ErrorKind::Context),
    ("string_above_max_length", ErrorKind::Context),
    ("1261", ErrorKind::Context),
];

/// Substrings of codes with many variants.
const CODE_PARTS: &[(&str, ErrorKind)] =
    &[("sensitivecontent", ErrorKind::Content), ("riskdetection", ErrorKind::Content)];

/// Phrases that must all occur in the message; the first match wins.
const MESSAGE_PHRASES: &[(&[&str], ErrorKind)] = &[
    (&["stream_options"], ErrorKind::UsageOption),
    (&["include_usage"], ErrorKind::UsageOption),
    (&["not support", "tool_choice"], ErrorKind::ForcedChoice),
    (&["reasoning_content", "must be passed back"], ErrorKind::Reasoning),
    (&["reasoning_content is missing"], ErrorKind::Reasoning),
    (&["missing a thought_signature"], ErrorKind::Signatures),
    (&["maximum context length"], ErrorKind::Context),
    (&["context window"], ErrorKind::Context),
    (&["available context size"], ErrorKind::Context),
    (&["context limit"], ErrorKind::Context),
    (&["context length", "exceed"], ErrorKind::Context),
    (&["prompt is too long"], ErrorKind::Context),
    (&["range of input length"], ErrorKind::Context),
    (&["token count", "exceeds the maximum"], ErrorKind::Context),
    (&["total tokens", "exceed max"], ErrorKind::Context),
    (&["exceeded model token limit"], ErrorKind::Context),
    (&["not support", "tools"], ErrorKind::Tools),
    (&["not support", "tool use"], ErrorKind::Tools),
    (&["support tool use"], ErrorKind::Tools),
    (&["not support", "tool call"], ErrorKind::Tools),
    (&["not support", "function call"], ErrorKind::Tools),
    (&["tools param requires"], ErrorKind::Tools),
    (&["function calling is not enabled"], ErrorKind::Tools),
    (&["unrecognized request argument", "tools"], ErrorKind::Tools),
    (&["extra inputs are not permitted", "\ntools"], ErrorKind::Tools),
    (&["unknown field", "tools"], ErrorKind::Tools),
    (&["unexpected keyword argument", "tools"], ErrorKind::Tools),
    (&["tool choice requires", "--enable-auto-tool-choice"], ErrorKind::Tools),
    (&["content exists risk"], ErrorKind::Content),
    (&["credit balance is too low"], ErrorKind::Quota),
    (&["insufficient balance"], ErrorKind::Quota),
];

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
    ("\nstop", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("parameter stop", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES]),
    ("model: stop", ErrorKind::Stop, &[UNSUPPORTED_PHRASES]),
    ("stop sequence", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("stop_sequences", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
    ("stop word", ErrorKind::Stop, &[UNSUPPORTED_PHRASES, INVALID_PHRASES, TOO_MANY_PHRASES]),
];

/// The status of codes and types, for errors without a status.
const STATUSES: &[(&str, u16)] = &[
    ("ratelimit", 429),
    ("rate_limit", 429),
    ("too_many_requests", 429),
    ("resource_exhausted", 429),
    ("overloaded", 529),
    ("authentication", 401),
    ("invalid_api_key", 401),
    ("unauthenticated", 401),
    ("permission", 403),
    ("accessdenied", 403),
    ("not_found", 404),
    ("notfound", 404),
    ("invalid_request", 400),
    ("invalid_argument", 400),
    ("invalidparameter", 400),
    ("bad_request", 400),
];

/// Returns the cause for a code or a type.
pub(super) fn kind_of_code(code: &str) -> Option<ErrorKind> {
    let exact = CODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code));
    let code = code.to_ascii_lowercase();
    exact.or_else(|| CODE_PARTS.iter().find(|(part, _)| code.contains(part))).map(|(_, kind)| *kind)
}

/// Returns the cause for a message in lower case.
pub(super) fn kind_of_text(text: &str) -> Option<ErrorKind> {
    let fits = |phrases: &[&str]| phrases.iter().all(|phrase| text.contains(phrase));
    let sentence = MESSAGE_PHRASES.iter().find(|(phrases, _)| fits(phrases)).map(|(_, kind)| *kind);
    sentence.or_else(|| kind_of_parameter(text))
}

/// Returns the cause if a message in lower case rejects a parameter.
fn kind_of_parameter(text: &str) -> Option<ErrorKind> {
    let rejects = |phrases: &[&[&str]]| phrases.iter().copied().flatten().any(|phrase| text.contains(phrase));
    PARAMETERS.iter().find(|(name, _, phrases)| text.contains(name) && rejects(phrases)).map(|(_, kind, _)| *kind)
}

/// Returns the status for a code or a type.
pub(super) fn status_of_code(code: &str) -> Option<u16> {
    let code = code.to_ascii_lowercase();
    STATUSES.iter().find(|(part, _)| code.contains(part)).map(|(_, status)| *status)
}

#[cfg(test)]
mod tests {
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
            assert_eq!(kind_of_text(&text.to_lowercase()), Some(kind), "{text}");
        }
        for text in [
            "max_tokens is too large: 100000. At most 16384 are valid.",
            "Unsupported value: 'top_k'",
            "thinking is fun",
        ] {
            assert_eq!(kind_of_text(&text.to_lowercase()), None, "{text}");
        }
    }
}
