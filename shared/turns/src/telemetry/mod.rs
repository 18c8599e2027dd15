//! What operators see of a turn: names, numbers and times, no user text. And what is recorded of its tool calls, redacted.

mod metrics;
pub(crate) mod redaction;
mod report;
mod traces;

pub use self::metrics::Metrics;
pub use self::traces::Traces;

pub(crate) use self::report::TurnReport;
