//! Metrics and traces of turns, without user text, and redacted records of tool calls.

mod metrics;
pub(crate) mod redaction;
mod report;
mod traces;

pub use self::metrics::Metrics;
pub use self::traces::Traces;

pub(crate) use self::report::TurnReport;
