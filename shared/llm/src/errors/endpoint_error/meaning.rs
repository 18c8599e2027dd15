//! What an error of an endpoint means, and the status of errors that have none.

use crate::ModelError;
use crate::errors::{CompatFix, RetryAdvice};

/// The error for the caller, and whether another attempt may help.
pub(super) type Meaning = (ModelError, RetryAdvice);

pub(super) const TOO_FAST: Meaning = (ModelError::RateLimited { retry_after: None }, RetryAdvice::Later);

/// The schema of one tool is not accepted.
pub(super) const TOOL_SCHEMA: Meaning = permanent(ModelError::Rejected);

/// The model made a call that does not fit its schema; the provider checks calls itself. It may do better at the next attempt.
pub(super) const FAILED_CALL: Meaning = (ModelError::BadResponse, RetryAdvice::Later);

/// No other attempt can help.
pub(super) const fn permanent(error: ModelError) -> Meaning {
    (error, RetryAdvice::Never)
}

/// The request is accepted with this change.
pub(super) const fn fix(fix: CompatFix) -> Meaning {
    (ModelError::Rejected, RetryAdvice::ApplyFix(fix))
}

/// Whether a meaning is about tools, pictures or a parameter in general.
pub(super) fn is_about_a_parameter((error, advice): &Meaning) -> bool {
    use CompatFix::{
        NoEffort, NoForcedChoice, NoStopMarkers, NoTemperature, NoThinking, NoTopP, NoUsageOption, SwapLimitName,
    };
    matches!(error, ModelError::ToolsUnsupported | ModelError::ImagesUnsupported)
        || matches!(
            advice,
            RetryAdvice::ApplyFix(NoUsageOption | NoForcedChoice | SwapLimitName | NoTemperature | NoTopP)
        )
        || matches!(advice, RetryAdvice::ApplyFix(NoThinking | NoEffort | NoStopMarkers))
}

/// The status of codes and types, for errors without a status.
const STATUSES: &[(&str, u16)] = &[
    // Seen in `fixtures`, in streams and errors of several providers, 2026-11-23.
    ("ratelimit", 429),
    ("rate_limit", 429),
    ("resource_exhausted", 429),
    ("overloaded", 529),
    ("permission", 403),
    ("invalid_request", 400),
    ("invalid_argument", 400),
    ("invalidparameter", 400),
    ("bad_request", 400),
    // Azure: https://github.com/earendil-works/pi/issues/7983, 2026-11-28.
    ("too_many_requests", 429),
    // Recorded answer in crmne/ruby_llm, 2026-11-26.
    ("authentication", 401),
    // Recorded answer in Arize-ai/openinference, 2026-11-26.
    ("invalid_api_key", 401),
    // https://github.com/googleapis/java-aiplatform/issues/1056, 2026-11-28.
    ("unauthenticated", 401),
    // https://volcengine.com/docs/82379/1299023, 2026-11-26.
    ("accessdenied", 403),
    // Recorded answer in 0xPlaygrounds/rig, 2026-11-26.
    ("not_found", 404),
    // https://volcengine.com/docs/82379/1299023, 2026-11-26.
    ("notfound", 404),
    // Bedrock's exceptions: service model of botocore 1.44.8, 2026-11-26.
    ("validation", 400),
    ("servicequota", 400),
    ("modeltimeout", 408),
    ("modelerror", 424),
    ("modelstreamerror", 424),
    ("throttling", 429),
    ("modelnotready", 429),
    ("serviceunavailable", 503),
];

pub(super) fn status_of_code(code: &str) -> Option<u16> {
    let code = code.to_ascii_lowercase();
    STATUSES.iter().find(|(part, _)| code.contains(part)).map(|(_, status)| *status)
}
