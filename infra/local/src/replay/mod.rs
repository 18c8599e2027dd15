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
mod error;
mod models;
mod observer;
mod script;
mod sequencer;
mod server;
mod speed;
mod turn;

pub(crate) use command::ReplayCommand;
pub use compare::{ReplayReport, Verdict};
pub use error::ReplayError;
pub use speed::Speed;
pub use turn::replay;
