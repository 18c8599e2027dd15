//! Metrics, traces and logged stages of turns, without user text, and redacted records of tool calls.

mod metrics;
pub(crate) mod redaction;
mod report;
mod spans;
mod stages;
mod traces;

pub use self::metrics::Metrics;
pub use self::stages::STAGES;
pub use self::traces::Traces;

pub(crate) use self::report::{TurnContent, TurnReport};
pub(crate) use self::stages::{StageLog, log_accepted, log_end, log_stored};
