use domain::{ErrorCode, Failure, ProviderData, ToolCall};
use llm::{Finish, ModelError, TokenUsage};
use tool_calls::Malformed;
use tools::ToolRun;

/// One reply, read to its end, with the results of its calls.
pub(crate) struct Round {
    /// In the order in which the model made them.
    pub(crate) calls: Vec<ToolCall>,
    /// One for each call, in the same order.
    pub(crate) results: Vec<ToolRun>,
    /// Calls of the client's tools, for which no event was sent.
    pub(crate) client_calls: Vec<ToolCall>,
    /// Why the model must reply again, if the round has no calls.
    pub(crate) correction: Option<Correction>,
    pub(crate) finish: Finish,
    pub(crate) usage: Option<TokenUsage>,
    /// What the model must receive back with its calls.
    pub(crate) provider_data: Option<Box<ProviderData>>,
}

/// A fault of a reply that is returned to the model, each kind once in a turn.
pub(crate) enum Correction {
    /// A call that could not be parsed, and was not shown.
    Malformed(Malformed),
    /// It made up a tool's result without a call; nothing from that result on was shown.
    Invention,
    /// It has no call although one is required or announced; this text of it was not shown.
    NoCall(String),
    /// It calls a tool although tools are off.
    ToolsOff,
}

/// Why a reply was not read to its end.
pub(crate) enum RoundError {
    /// The model takes no native tools; it has sent no delta.
    ToolsRejected,
    Model(ModelError),
    /// The model failed after complete calls. These ran, and another model can continue from their results.
    AfterCalls(Box<Round>, ModelError),
    /// Time ran short before there was an answer, so the reply was dropped. Its complete calls have run.
    GaveUp(Option<Box<Round>>),
    Fatal(anyhow::Error),
}

impl RoundError {
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::ToolsRejected => failure_of(&ModelError::ToolsUnsupported),
            Self::Model(error) | Self::AfterCalls(_, error) => failure_of(error),
            Self::GaveUp(_) => ErrorCode::Deadline.into(),
            Self::Fatal(error) => {
                tracing::error!(error = %error, "a tool ended the turn");
                ErrorCode::Internal.into()
            }
        }
    }
}

/// Whether another model may succeed after this error.
pub(crate) fn allows_failover(error: &ModelError) -> bool {
    !matches!(error, ModelError::ContentFiltered { .. } | ModelError::Deadline)
}

/// The client's view of a model error: a code and a fixed message, nothing from upstream.
fn failure_of(error: &ModelError) -> Failure {
    let code = match error {
        ModelError::RateLimited { retry_after } => {
            let failure = Failure::new(ErrorCode::RateLimited, "The model is receiving too many requests.");
            return match retry_after {
                Some(wait) => failure.with_retry_after(wait.as_secs() + u64::from(wait.subsec_nanos() > 0)),
                None => failure,
            };
        }
        ModelError::QuotaExhausted => ErrorCode::QuotaExhausted,
        ModelError::Unavailable => ErrorCode::UpstreamUnavailable,
        ModelError::Rejected | ModelError::ToolsUnsupported => ErrorCode::UpstreamRejected,
        ModelError::Auth => ErrorCode::UpstreamAuth,
        ModelError::ContentFiltered { category: Some(category) } => {
            let message = format!("The provider's content filter stopped this answer: {category}.");
            return Failure::new(ErrorCode::ContentFiltered, message);
        }
        ModelError::ContentFiltered { category: None } => ErrorCode::ContentFiltered,
        ModelError::ContextTooLong => ErrorCode::ContextTooLong,
        ModelError::ImagesUnsupported => ErrorCode::ImagesUnsupported,
        ModelError::BadResponse => ErrorCode::UpstreamBadResponse,
        ModelError::Stalled => ErrorCode::UpstreamStalled,
        ModelError::Disconnected => ErrorCode::UpstreamDisconnected,
        ModelError::Deadline => ErrorCode::Deadline,
    };
    code.into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn f001_retry_delay_is_rounded_up_to_seconds() {
        let error = ModelError::RateLimited { retry_after: Some(Duration::from_millis(30_001)) };
        assert_eq!(failure_of(&error).retry_after_seconds, Some(31));
    }

    #[test]
    fn f006_category_of_filtered_content_is_named() {
        let message = |category| failure_of(&ModelError::ContentFiltered { category }).message;
        assert_eq!(message(Some("violence")), "The provider's content filter stopped this answer: violence.");
        assert_eq!(message(None), "The provider's content filter stopped this answer.");
    }
}
