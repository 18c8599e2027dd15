use crate::recording::RecordingError;

/// Why a turn cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The file is not a valid recording.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// The recorded models cannot be configured.
    #[error("the recording's models cannot be set up: {0}")]
    Models(#[from] platform::settings::SettingError),
    /// The HTTP client cannot be built.
    #[error(transparent)]
    Transport(#[from] platform::transport::TransportError),
    /// The system refuses something that a replay needs.
    #[error("cannot replay: {0}")]
    System(#[from] std::io::Error),
}
