//! What an error of an endpoint means, and the status of errors that have none.

use std::time::Duration;

use super::{CompatFix, ModelError, RetryAdvice};

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ErrorKind {
    /// A quota or a balance is used up.
    Quota,
    /// The content is not accepted.
    Content,
    /// The prompt does not fit.
    Context,
    /// The key is wrong.
    Key,
    /// Too fast.
    Rate,
    /// The request is wrong.
    Request,
    /// The model takes no tools.
    Tools,
    /// The schema of one tool is not accepted.
    ToolSchema,
    /// The model made a call that does not fit its schema; the provider checks calls itself.
    FailedCall,
    /// Marks for the cache are not accepted.
    CacheControl,
    /// `stream_options` is not accepted.
    UsageOption,
    /// `tool_choice` is not accepted as it is.
    ForcedChoice,
    /// `reasoning_content` of earlier messages is missing.
    Reasoning,
    /// Ids of calls do not have the required form.
    CallIds,
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
    /// The model, or its tools, need the Responses API.
    ChatCompletions,
    /// Streaming is not accepted.
    Stream,
    /// A summary of the reasoning is not accepted.
    ReasoningSummary,
    /// Encrypted reasoning is not available.
    EncryptedReasoning,
    /// Encrypted reasoning of an earlier reply is not accepted.
    ReasoningEcho,
}

impl ErrorKind {
    /// Whether it is about tools or a parameter in general.
    pub(super) fn is_about_a_parameter(self) -> bool {
        matches!(
            self,
            Self::Tools
                | Self::ToolSchema
                | Self::UsageOption
                | Self::ForcedChoice
                | Self::Limit
                | Self::Temperature
                | Self::TopP
                | Self::Thinking
                | Self::Effort
                | Self::Stop
        )
    }

    /// Returns the error for the caller, and whether another attempt may help.
    pub(super) fn to_error(self, retry_after: Option<Duration>) -> (ModelError, RetryAdvice) {
        let error = match self {
            Self::Quota => ModelError::QuotaExhausted,
            Self::Content => ModelError::ContentFiltered,
            Self::Context => ModelError::ContextTooLong,
            Self::Tools => ModelError::ToolsUnsupported,
            Self::Key => ModelError::Auth,
            Self::Rate => return (ModelError::RateLimited { retry_after }, RetryAdvice::Later),
            // The model may do better at the next attempt.
            Self::FailedCall => return (ModelError::BadResponse, RetryAdvice::Later),
            Self::Request | Self::ToolSchema => ModelError::Rejected,
            _ => {
                let advice = self.fix().map_or(RetryAdvice::Never, RetryAdvice::ApplyFix);
                return (ModelError::Rejected, advice);
            }
        };
        (error, RetryAdvice::Never)
    }

    /// Returns the change that makes the request acceptable.
    fn fix(self) -> Option<CompatFix> {
        match self {
            Self::UsageOption => Some(CompatFix::NoUsageOption),
            Self::ForcedChoice => Some(CompatFix::NoForcedChoice),
            Self::Signatures => Some(CompatFix::AddSignatures),
            Self::CacheControl => Some(CompatFix::NoCacheControl),
            Self::CallIds => Some(CompatFix::ShortIds),
            Self::Reasoning => Some(CompatFix::EchoReasoning),
            Self::Limit => Some(CompatFix::SwapLimitName),
            Self::Temperature => Some(CompatFix::NoTemperature),
            Self::TopP => Some(CompatFix::NoTopP),
            Self::Thinking => Some(CompatFix::NoThinking),
            Self::Stop => Some(CompatFix::NoStopMarkers),
            Self::Effort => Some(CompatFix::NoEffort),
            Self::ChatCompletions => Some(CompatFix::UseResponses),
            Self::Stream => Some(CompatFix::NoStream),
            Self::ReasoningSummary => Some(CompatFix::NoReasoningSummary),
            Self::EncryptedReasoning => Some(CompatFix::NoEncryptedReasoning),
            Self::ReasoningEcho => Some(CompatFix::NoReasoningEcho),
            _ => None,
        }
    }
}

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

/// Returns the status for a code or a type.
pub(super) fn status_of_code(code: &str) -> Option<u16> {
    let code = code.to_ascii_lowercase();
    STATUSES.iter().find(|(part, _)| code.contains(part)).map(|(_, status)| *status)
}
