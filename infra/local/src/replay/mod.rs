//! Replays a recorded turn: the real agent, model client and tool session run over loopback against the recording.
//!
//! * `script`: the inputs of the turn, in their recorded order
//! * `sequencer`: enforces that order
//! * `server`: sends the models' recorded responses
//! * `calls`: returns the tools' recorded results
//! * `models`: model clients that call the server
//! * `observer`: follows the turn while it runs
//! * `turn`: assembles the parts
//! * `compare`: compares the events that clients receive

mod calls;
mod command;
mod compare;
mod models;
mod observer;
mod script;
mod sequencer;
mod server;
mod turn;

pub(crate) use command::ReplayCommand;
pub use compare::{ReplayReport, Verdict};
pub use turn::replay;

use crate::recording::RecordingError;

/// Speed of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Speed {
    /// In the time that it took.
    Real,
    /// Without waiting.
    #[default]
    Fast,
}

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
