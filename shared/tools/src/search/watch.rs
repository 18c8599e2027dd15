use std::time::SystemTime;

/// Who is told how the search provider's credits stand.
pub trait CreditWatch: Send + Sync {
    /// A question was not asked for want of credits; an older answer may have served.
    fn refused(&self, by: RefusedBy, now: SystemTime);

    /// How much of the tighter budget is spent, in percent; 100 and more when nothing is left.
    fn spent(&self, percent: u64, now: SystemTime);
}

/// Whose credits are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// The plan's, as the provider says.
    Plan,
    /// Those of `TAVILY_MONTHLY_CREDITS` or `TAVILY_DAILY_CREDITS`.
    Budget,
}

/// Nobody is told.
impl CreditWatch for () {
    fn refused(&self, _: RefusedBy, _: SystemTime) {}

    fn spent(&self, _: u64, _: SystemTime) {}
}
