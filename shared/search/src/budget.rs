use std::sync::Arc;
use std::time::{Duration, SystemTime};

use domain::{CreditLimit, CreditObserver};
use store::{SearchCredits, SpentCredits};

use crate::failure::SearchFailure;

/// Below this remaining part of a budget, in percent, only cheap requests are sent.
const LOW_PERCENT: u64 = 25;

/// Seconds in an hour: an exhausted plan is tried again when the next clock hour begins.
const HOUR_SECONDS: u64 = 3600;

/// Limits on the credits of searches; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditBudget {
    /// Per UTC month.
    pub month: Option<u64>,
    /// Per UTC day.
    pub day: Option<u64>,
}

/// The level of the remaining credits, from the highest to the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CreditLevel {
    /// Enough for all requests.
    Sufficient,
    /// Less than a quarter: cheap requests only.
    Low,
    /// None: cached answers only.
    Exhausted(CreditLimit),
}

impl CreditBudget {
    fn level(self, spent: SpentCredits, now: SystemTime) -> CreditLevel {
        let of = |budget: Option<u64>, spent: u64| match budget {
            Some(budget) if spent >= budget => CreditLevel::Exhausted(CreditLimit::Budget),
            Some(budget) if (budget - spent).saturating_mul(100) < budget.saturating_mul(LOW_PERCENT) => {
                CreditLevel::Low
            }
            _ => CreditLevel::Sufficient,
        };
        let level = of(self.month, spent.month).max(of(self.day, spent.day));
        let is_paused = spent.paused_until.is_some_and(|until| now < until);
        // A spent budget is the higher level, because it stops every provider.
        if is_paused { level.max(CreditLevel::Exhausted(CreditLimit::Plan)) } else { level }
    }

    /// Returns the spent part of the tighter budget in percent; `None` without a budget.
    fn spent_percent(self, spent: SpentCredits) -> Option<u64> {
        let of = |budget: Option<u64>, spent: u64| spent.saturating_mul(100).checked_div(budget?);
        of(self.month, spent.month).max(of(self.day, spent.day))
    }
}

/// Counts the credits that the providers charge, and computes the remaining level.
pub(super) struct CreditAccount {
    provider: String,
    budget: CreditBudget,
    credits: SearchCredits,
    pub(super) observer: Arc<dyn CreditObserver>,
}

impl CreditAccount {
    pub(super) fn new(provider: String, budget: CreditBudget, credits: SearchCredits) -> Self {
        Self { provider, budget, credits, observer: Arc::new(()) }
    }

    /// Returns the remaining level. If the counters cannot be read, searches continue, as they do without the cache.
    pub(super) async fn current_level(&self, now: SystemTime) -> CreditLevel {
        let Ok(spent) = self.credits.spent(&self.provider, now).await else {
            tracing::warn!("the spent credits cannot be read");
            return CreditLevel::Sufficient;
        };
        self.level_after(spent, now)
    }

    /// Returns the level that remains after `spent`, and reports it.
    pub(super) fn level_after(&self, spent: SpentCredits, now: SystemTime) -> CreditLevel {
        if let Some(percent) = self.budget.spent_percent(spent) {
            self.observer.on_spent(percent, now);
        }
        self.budget.level(spent, now)
    }

    /// Counts the cost of an answer.
    pub(super) async fn record_spent(&self, credits: u64, now: SystemTime) {
        if credits > 0 && self.credits.add(&self.provider, credits, now).await.is_err() {
            tracing::warn!(credits, "spent credits could not be counted");
        }
    }

    /// Records a failure: an exhausted plan stops the requests of all instances until the next hour.
    pub(super) async fn record_failure(&self, failure: SearchFailure, now: SystemTime) {
        if failure == SearchFailure::Exhausted && self.credits.pause(&self.provider, next_hour(now), now).await.is_err()
        {
            tracing::warn!("the other instances could not be informed that the plan is used up");
        }
    }
}

pub(crate) fn next_hour(now: SystemTime) -> SystemTime {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    SystemTime::UNIX_EPOCH + Duration::from_secs((seconds / HOUR_SECONDS + 1) * HOUR_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level_of(budget: CreditBudget, month: u64, day: u64) -> CreditLevel {
        budget.level(SpentCredits { month, day, paused_until: None }, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn f141_budget_is_low_below_a_quarter() {
        let month = CreditBudget { month: Some(1000), day: None };
        let seen = [0, 750, 751, 999, 1000, 5000].map(|spent| level_of(month, spent, 0));
        let [enough, low, spent] =
            [CreditLevel::Sufficient, CreditLevel::Low, CreditLevel::Exhausted(CreditLimit::Budget)];
        assert_eq!(seen, [enough, enough, low, low, spent, spent]);
        assert_eq!(level_of(CreditBudget { month: None, day: Some(1) }, 9, 0), enough);
        assert_eq!(level_of(CreditBudget { month: None, day: Some(1) }, 0, 1), spent);
        assert_eq!(level_of(CreditBudget::default(), u64::MAX, u64::MAX), enough);
    }

    #[test]
    fn f141_tighter_of_two_budgets_applies() {
        let both = CreditBudget { month: Some(1000), day: Some(40) };
        let seen =
            [(100, 0), (100, 31), (800, 31), (100, 40), (1000, 0)].map(|(month, day)| level_of(both, month, day));
        let [enough, low, spent] =
            [CreditLevel::Sufficient, CreditLevel::Low, CreditLevel::Exhausted(CreditLimit::Budget)];
        assert_eq!(seen, [enough, low, low, spent, spent]);
    }

    #[test]
    fn f141_spent_percent_is_of_the_tighter_budget() {
        let percent =
            |budget: CreditBudget| budget.spent_percent(SpentCredits { month: 300, day: 30, paused_until: None });
        let [month, day] = [Some(1000), Some(40)];
        assert_eq!(percent(CreditBudget { month, day }), Some(75));
        assert_eq!(percent(CreditBudget { month, day: None }), Some(30));
        assert_eq!(percent(CreditBudget { month: Some(299), day }), Some(100));
        assert_eq!(percent(CreditBudget::default()), None);
    }

    #[test]
    fn f064_pause_lasts_until_its_time_despite_budget() {
        let until = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
        let spent = SpentCredits { month: 0, day: 0, paused_until: Some(until) };
        let at = |second| CreditBudget::default().level(spent, SystemTime::UNIX_EPOCH + Duration::from_secs(second));
        assert_eq!([at(8), at(9)], [CreditLevel::Exhausted(CreditLimit::Plan), CreditLevel::Sufficient]);
    }
}
