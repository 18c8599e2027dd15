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
const UNFIT: &[&str] = &["not valid", "invalid", "only", "restricted to", "must be"];

/// Names of parameters: the first that a refusal holds is the one that it is about.
///
/// A refusal of sampling may give thinking for the reason, and one of thinking the effort, but not the other way round.
const PARAMETERS: &[(&str, Kind, &[&[&str]])] = &[
    ("top_p", Kind::TopP, &[&["both be specified", "both `temperature` and"]]),
    ("temperature", Kind::Temperature, &[UNKNOWN, UNFIT]),
    ("top_p", Kind::TopP, &[UNKNOWN, UNFIT]),
    ("topp", Kind::TopP, &[UNKNOWN]),
    ("max_tokens", Kind::Limit, &[UNKNOWN]),
    ("max_completion_tokens", Kind::Limit, &[UNKNOWN]),
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
