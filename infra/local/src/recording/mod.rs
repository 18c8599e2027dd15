//! Recordings of turns: one file of JSON lines per turn, so that a turn can be replayed without a network.
//!
//! `docs/recordings.md` describes the format. Requests to models and addresses are not recorded; the values of configured
//! keys are removed from every line before it is written.

mod file;
mod folder;
#[cfg(test)]
mod fuzz;
mod head;
mod keys;
mod line;
mod masking;
mod model;
mod recorder;
mod writer;

pub(crate) use file::RecordedTurn;
pub use file::RecordingError;
pub(crate) use folder::{RECORD_TURNS, RecordingFolder};
pub(crate) use head::{Head, Tool};
pub(crate) use line::{AttemptId, Entry, Line, RecordedResult};
pub(crate) use model::RecordedModel;
pub(crate) use recorder::Payloads;
