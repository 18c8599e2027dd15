use std::time::SystemTime;

/// Receives reports on the search provider's credits.
pub trait CreditWatch: Send + Sync {
    /// A request was not sent for lack of credits; a stale answer may have been used.
    fn refused(&self, by: RefusedBy, now: SystemTime);

    /// The spent part of the tighter budget, in percent; at least 100 when nothing is left.
    fn spent(&self, percent: u64, now: SystemTime);
}

/// The limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// The provider's plan.
    Plan,
    /// `TAVILY_MONTHLY_CREDITS` or `TAVILY_DAILY_CREDITS`.
    Budget,
}

/// Discards all reports.
impl CreditWatch for () {
    fn refused(&self, _: RefusedBy, _: SystemTime) {}

    fn spent(&self, _: u64, _: SystemTime) {}
}
