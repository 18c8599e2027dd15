//! Recordings of turns, and their replay without a network.

mod recording;
mod replay;

pub use recording::{RECORD_TURNS, RecordingFolder};
pub use replay::{ReplayCommand, ReplayReport, Speed, Verdict, replay};
