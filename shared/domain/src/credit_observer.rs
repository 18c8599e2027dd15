use std::time::SystemTime;

/// Receives reports on the search provider's credits.
pub trait CreditObserver: Send + Sync {
    /// A request was not sent for lack of credits; a stale answer may have been used.
    fn on_refused(&self, limit: CreditLimit, now: SystemTime);

    /// The spent part of the tighter budget, in percent; at least 100 when nothing is left.
    fn on_spent(&self, percent: u64, now: SystemTime);
}

/// The limit that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CreditLimit {
    /// The provider's plan.
    Plan,
    /// `TAVILY_MONTHLY_CREDITS` or `TAVILY_DAILY_CREDITS`.
    Budget,
}

/// Discards all reports.
impl CreditObserver for () {
    fn on_refused(&self, _: CreditLimit, _: SystemTime) {}

    fn on_spent(&self, _: u64, _: SystemTime) {}
}
