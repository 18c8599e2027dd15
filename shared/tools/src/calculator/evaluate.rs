use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{lexer, notation, parser, written};

/// Longest time of one calculation.
const LONGEST: Duration = Duration::from_millis(500);

/// A value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) exact: bool,
}

/// Why there is no value; the texts are for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is no expression.
    Unreadable(String),
    /// It is one, and has no value.
    Undefined(String),
    /// It has one that takes too long.
    TooLarge,
}

impl Fault {
    pub(super) fn division_by_zero() -> Self {
        Self::Undefined("除数为零，没有结果".to_owned())
    }

    /// An argument is outside the domain of its function.
    pub(super) fn outside(reason: &str) -> Self {
        Self::Undefined(format!("超出了定义域（{reason}）"))
    }

    /// The precision of an approximate number does not suffice.
    pub(super) fn unprovable() -> Self {
        Self::Undefined("精度不够，得不到可靠的结果".to_owned())
    }
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Unreadable(reason)
    }
}

/// When a calculation has to stop: after its time, or when its caller has gone.
pub(super) struct Limit {
    until: Instant,
    stopped: Arc<AtomicBool>,
}

impl Limit {
    pub(super) fn new(stopped: Arc<AtomicBool>) -> Self {
        Self { until: Instant::now() + LONGEST, stopped }
    }

    /// Fails once the calculation has to stop; asked before each operation, which takes milliseconds at most.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let is_over = self.stopped.load(Ordering::Relaxed) || Instant::now() >= self.until;
        if is_over { Err(Fault::TooLarge) } else { Ok(()) }
    }
}

/// The value of an expression.
pub(super) fn evaluate(expression: &str, limit: &Limit) -> Result<Answer, Fault> {
    let text = notation::plain(expression)?;
    let value = parser::value(lexer::tokens(&text)?, limit)?;
    limit.check()?;
    written::answer(&value)
}
