//! Codes and phrases that identify errors beyond the HTTP status.

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
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
}

/// Codes and types, compared as a whole and ignoring case.
const CODES: &[(&str, Kind)] = &[
    ("insufficient_quota", Kind::Quota),
    ("billing_hard_limit_reached", Kind::Quota),
    ("AccountOverdueError", Kind::Quota),
    ("QuotaExceeded", Kind::Quota),
    ("SetLimitExceeded", Kind::Quota),
    ("exceeded_current_quota_error", Kind::Quota),
    ("insufficient_balance", Kind::Quota),
    ("Arrearage", Kind::Quota),
    ("AllocationQuota.FreeTierOnly", Kind::Quota),
    ("1113", Kind::Quota),
    ("30001", Kind::Quota),
    ("content_filter", Kind::Content),
    ("content_policy_violation", Kind::Content),
    ("ResponsibleAIPolicyViolation", Kind::Content),
    ("data_inspection_failed", Kind::Content),
    ("DataInspectionFailed", Kind::Content),
    ("1301", Kind::Content),
    ("context_length_exceeded", Kind::Context),
    ("exceed_context_size_error", Kind::Context),
    ("string_above_max_length", Kind::Context),
    ("1261", Kind::Context),
];

/// Substrings of codes with many variants.
const CODE_PARTS: &[(&str, Kind)] = &[("sensitivecontent", Kind::Content), ("riskdetection", Kind::Content)];

/// Phrases that must all occur in the message; the first match wins.
const SENTENCES: &[(&[&str], Kind)] = &[
    (&["stream_options"], Kind::UsageOption),
    (&["include_usage"], Kind::UsageOption),
    (&["not support", "tool_choice"], Kind::ForcedChoice),
    (&["reasoning_content", "must be passed back"], Kind::Reasoning),
    (&["reasoning_content is missing"], Kind::Reasoning),
    (&["missing a thought_signature"], Kind::Signatures),
    (&["maximum context length"], Kind::Context),
    (&["context window"], Kind::Context),
    (&["available context size"], Kind::Context),
    (&["context limit"], Kind::Context),
    (&["context length", "exceed"], Kind::Context),
    (&["prompt is too long"], Kind::Context),
    (&["range of input length"], Kind::Context),
    (&["token count", "exceeds the maximum"], Kind::Context),
    (&["total tokens", "exceed max"], Kind::Context),
    (&["exceeded model token limit"], Kind::Context),
    (&["not support", "tools"], Kind::Tools),
    (&["not support", "tool use"], Kind::Tools),
    (&["support tool use"], Kind::Tools),
    (&["not support", "tool call"], Kind::Tools),
    (&["not support", "function call"], Kind::Tools),
    (&["tools param requires"], Kind::Tools),
    (&["function calling is not enabled"], Kind::Tools),
    (&["unrecognized request argument", "tools"], Kind::Tools),
    (&["extra inputs are not permitted", "\ntools"], Kind::Tools),
    (&["unknown field", "tools"], Kind::Tools),
    (&["unexpected keyword argument", "tools"], Kind::Tools),
    (&["tool choice requires", "--enable-auto-tool-choice"], Kind::Tools),
    (&["content exists risk"], Kind::Content),
    (&["credit balance is too low"], Kind::Quota),
    (&["insufficient balance"], Kind::Quota),
];

/// Phrases for an unsupported parameter.
const UNKNOWN: &[&str] =
    &["unsupported", "not support", "unrecognized", "unknown", "unexpected", "not permitted", "deprecated"];

/// Phrases for an invalid value. Endpoints also use them for a number that is too large.
const UNFIT: &[&str] = &["not valid", "invalid", "only", "not one of", "restricted to", "must be", "can't be"];

/// Names of parameters with the phrases that reject them; the first match wins.
///
/// A message that rejects sampling or the effort may mention thinking as the reason, but not the other way round. A
/// message that rejects one type of thinking mentions the effort as the alternative.
const PARAMETERS: &[(&str, Kind, &[&[&str]])] = &[
    ("top_p", Kind::TopP, &[&["both be specified", "both `temperature` and"]]),
    ("temperature", Kind::Temperature, &[UNKNOWN, UNFIT]),
    ("top_p", Kind::TopP, &[UNKNOWN, UNFIT]),
    ("topp", Kind::TopP, &[UNKNOWN]),
    ("max_tokens", Kind::Limit, &[UNKNOWN]),
    ("max_completion_tokens", Kind::Limit, &[UNKNOWN]),
    ("thinking.type", Kind::Thinking, &[UNKNOWN, UNFIT]),
    ("effort", Kind::Effort, &[UNKNOWN, UNFIT]),
    ("output_config", Kind::Effort, &[UNKNOWN]),
    ("think value", Kind::Effort, &[UNFIT]),
    ("thinking", Kind::Thinking, &[UNKNOWN, UNFIT]),
    ("chat_template_kwargs", Kind::Thinking, &[UNKNOWN]),
    ("reasoning", Kind::Thinking, &[UNKNOWN]),
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
pub(super) fn of_code(code: &str) -> Option<Kind> {
    let exact = CODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code));
    let code = code.to_ascii_lowercase();
    exact.or_else(|| CODE_PARTS.iter().find(|(part, _)| code.contains(part))).map(|(_, kind)| *kind)
}

/// Returns the cause for a message in lower case.
pub(super) fn of_text(text: &str) -> Option<Kind> {
    let fits = |words: &[&str]| words.iter().all(|word| text.contains(word));
    let sentence = SENTENCES.iter().find(|(words, _)| fits(words)).map(|(_, kind)| *kind);
    sentence.or_else(|| of_parameter(text))
}

/// Returns the cause if a message in lower case rejects a parameter.
fn of_parameter(text: &str) -> Option<Kind> {
    let says = |words: &[&[&str]]| words.iter().copied().flatten().any(|word| text.contains(word));
    PARAMETERS.iter().find(|(name, _, words)| text.contains(name) && says(words)).map(|(_, kind, _)| *kind)
}

/// Returns the status for a code or a type.
pub(super) fn status_of(code: &str) -> Option<u16> {
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
                Kind::Limit,
            ),
            (
                "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
                Kind::Limit,
            ),
            ("invalid temperature: only 1 is allowed for this model", Kind::Temperature),
            ("`temperature` is deprecated for this model.", Kind::Temperature),
            ("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.", Kind::TopP),
            ("`temperature` and `top_p` cannot both be specified for this model. Please use only one.", Kind::TopP),
            ("`reasoning_effort` must be one of `none` or `default`", Kind::Effort),
            ("'reasoning_effort' : value is not one of the allowed values ['none','default']", Kind::Effort),
            ("property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?", Kind::Effort),
            ("Model grok-4 does not support parameter reasoningEffort.", Kind::Effort),
            ("Invalid combination of reasoning_effort and thinking type: high + disabled", Kind::Effort),
            ("This model does not support the effort parameter", Kind::Effort),
            ("Unsupported thinking type for the current model: disabled", Kind::Thinking),
            (
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\".",
                Kind::Thinking,
            ),
            ("The thinking budget (52428) is invalid.", Kind::Thinking),
            ("Unable to submit request because Thinking can't be disabled for this model.", Kind::Thinking),
            ("The value of the enable_thinking parameter is restricted to True.", Kind::Thinking),
            ("Thinking mode does not support this tool_choice", Kind::ForcedChoice),
            ("Function tools with reasoning_effort are not supported for this model.", Kind::Tools),
            (
                "This model's maximum context length is 8192 tokens; lower max_tokens, which is unsupported.",
                Kind::Context,
            ),
        ] {
            assert_eq!(of_text(&text.to_lowercase()), Some(kind), "{text}");
        }
        for text in [
            "max_tokens is too large: 100000. At most 16384 are valid.",
            "Unsupported value: 'top_k'",
            "thinking is fun",
        ] {
            assert_eq!(of_text(&text.to_lowercase()), None, "{text}");
        }
    }
}
