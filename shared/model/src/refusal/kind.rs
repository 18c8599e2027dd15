//! The words by which endpoints name what a status does not tell.

/// What a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An allowance or a balance is used up.
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
    /// What is said of thinking is not accepted.
    Thinking,
    /// What is said of effort is not accepted.
    Effort,
}

/// Codes and types, compared whole and without regard to case.
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

/// Parts of codes that come in many variants.
const CODE_PARTS: &[(&str, Kind)] = &[("sensitivecontent", Kind::Content), ("riskdetection", Kind::Content)];

/// Sentences, each as words that all occur; the first that fits holds.
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

/// How endpoints say that they do not take a parameter.
const UNKNOWN: &[&str] =
    &["unsupported", "not support", "unrecognized", "unknown", "unexpected", "not permitted", "deprecated"];

/// How they say that they do not take it as it is. A number that is too large is refused in such words too.
const UNFIT: &[&str] = &["not valid", "invalid", "only", "not one of", "restricted to", "must be", "can't be"];

/// Names of parameters: the first that a refusal holds is the one that it is about.
///
/// A refusal of sampling may give thinking for the reason, and one of the effort may, but not the other way round; where
/// thinking of one type is refused, the effort is named as what does instead.
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

/// What codes and types say of the status, for errors that come without one.
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

/// What a code or a type is about.
pub(super) fn of_code(code: &str) -> Option<Kind> {
    let exact = CODES.iter().find(|(known, _)| known.eq_ignore_ascii_case(code));
    let code = code.to_ascii_lowercase();
    exact.or_else(|| CODE_PARTS.iter().find(|(part, _)| code.contains(part))).map(|(_, kind)| *kind)
}

/// What a sentence in lower case is about.
pub(super) fn of_text(text: &str) -> Option<Kind> {
    let fits = |words: &[&str]| words.iter().all(|word| text.contains(word));
    let sentence = SENTENCES.iter().find(|(words, _)| fits(words)).map(|(_, kind)| *kind);
    sentence.or_else(|| of_parameter(text))
}

/// Which parameter a sentence in lower case refuses.
fn of_parameter(text: &str) -> Option<Kind> {
    let says = |words: &[&[&str]]| words.iter().copied().flatten().any(|word| text.contains(word));
    PARAMETERS.iter().find(|(name, _, words)| text.contains(name) && says(words)).map(|(_, kind, _)| *kind)
}

/// The status for which a code or a type stands.
pub(super) fn status_of(code: &str) -> Option<u16> {
    let code = code.to_ascii_lowercase();
    STATUSES.iter().find(|(part, _)| code.contains(part)).map(|(_, status)| *status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_parameters_are_known_by_the_words_of_many_endpoints() {
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
