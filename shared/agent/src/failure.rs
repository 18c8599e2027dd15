use domain::{ErrorCode, Failure};
use llm::ModelError;

use crate::step::Round;

/// Why a reply was not read to its end.
pub(crate) enum Broken {
    /// The model takes no native tools; it has said nothing.
    ToolsRefused,
    Model(ModelError),
    /// Calls were complete before; they ran, and another model can go on from their results.
    Called(Box<Round>, ModelError),
    /// Time runs short and there was no answer yet: the reply was given up. Calls that were complete have run.
    Late(Option<Box<Round>>),
    Fatal(anyhow::Error),
}

impl Broken {
    pub(crate) fn failure(&self) -> Failure {
        match self {
            Self::ToolsRefused => of_model(&ModelError::ToolsUnsupported),
            Self::Model(error) | Self::Called(_, error) => of_model(error),
            Self::Late(_) => ErrorCode::Deadline.into(),
            Self::Fatal(error) => {
                tracing::error!(error = %error, "a tool ended the turn");
                ErrorCode::Internal.into()
            }
        }
    }
}

/// Whether another model may do better.
pub(crate) fn heals(error: &ModelError) -> bool {
    !matches!(error, ModelError::ContentFiltered | ModelError::Deadline)
}

/// What a client is told of a model's error: a name and a fixed sentence, nothing from upstream.
fn of_model(error: &ModelError) -> Failure {
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
        ModelError::ContentFiltered => ErrorCode::ContentFiltered,
        ModelError::ContextTooLong => ErrorCode::ContextTooLong,
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
    fn f001_a_wait_is_passed_on_in_whole_seconds_rounded_up() {
        let error = ModelError::RateLimited { retry_after: Some(Duration::from_millis(30_001)) };
        assert_eq!(of_model(&error).retry_after_seconds, Some(31));
    }
}
