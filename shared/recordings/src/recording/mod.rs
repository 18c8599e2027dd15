//! Recordings of turns: one file of JSON lines per turn, so that a turn can be replayed without a network.
//!
//! `docs/recordings.md` describes the format. Requests to models and addresses are not recorded; the values of configured
//! keys are removed from every line before it is written.

#[cfg(test)]
mod fuzz;
mod head;
mod line;
mod masking;
mod recorder;
mod writer;

pub(crate) use head::{Head, RecordedModel, Tool};
pub(crate) use line::{AttemptId, Entry, Line, RecordedResult, RecordedTurn};
pub(crate) use recorder::payload_of;
pub use recorder::{RECORD_TURNS, RecordingFolder};
