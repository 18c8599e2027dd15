//! Turns on disk: one file for each, JSON lines, so that a turn can be run again without a network.
//!
//! `docs/recordings.md` describes the format. Nothing of a request to a model is recorded, and no address; the values of
//! configured keys are taken out of every line before it is written.

mod body;
mod file;
mod folder;
#[cfg(test)]
mod fuzz;
mod head;
mod keys;
mod line;
mod masking;
mod model;
mod payloads;
mod tape;
mod writing;

pub(crate) use file::Recorded;
pub use file::Unreadable;
pub(crate) use folder::{Folder, RECORD_TURNS};
pub(crate) use head::{Head, Tool};
pub(crate) use line::{End, Entry, Line, Path, Result};
pub(crate) use payloads::Payloads;
