use std::sync::Arc;
use std::time::{Duration, SystemTime};

use store::{SearchCredits, SpentCredits};

use super::{CreditWatch, RefusedBy, SearchFailure};

/// Below this remaining part of a budget, in percent, only cheap requests are sent.
const LOW: u64 = 25;

/// Seconds in an hour: an exhausted plan is tried again when the next clock hour begins.
const HOUR: u64 = 3600;

/// Limits on the credits of searches; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Per UTC month.
    pub month: Option<u64>,
    /// Per UTC day.
    pub day: Option<u64>,
}

/// The level of the remaining credits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// Enough for all requests.
    Enough,
    /// Less than a quarter: cheap requests only.
    Low,
    /// None: cached answers only.
    Nothing(RefusedBy),
}

impl Budget {
    fn standing(self, spent: SpentCredits, now: SystemTime) -> Standing {
        if spent.paused_until.is_some_and(|until| now < until) {
            return Standing::Nothing(RefusedBy::Plan);
        }
        let of = |budget: Option<u64>, spent: u64| match budget {
            Some(budget) if spent >= budget => Standing::Nothing(RefusedBy::Budget),
            Some(budget) if (budget - spent).saturating_mul(100) < budget.saturating_mul(LOW) => Standing::Low,
            _ => Standing::Enough,
        };
        match (of(self.month, spent.month), of(self.day, spent.day)) {
            (Standing::Nothing(by), _) | (_, Standing::Nothing(by)) => Standing::Nothing(by),
            (Standing::Low, _) | (_, Standing::Low) => Standing::Low,
            _ => Standing::Enough,
        }
    }

    /// Returns the spent part of the tighter budget in percent; `None` without a budget.
    fn percent(self, spent: SpentCredits) -> Option<u64> {
        let of = |budget: Option<u64>, spent: u64| spent.saturating_mul(100).checked_div(budget?);
        of(self.month, spent.month).max(of(self.day, spent.day))
    }
}

/// Counts the credits that the provider charges, and computes the remaining level.
pub(super) struct Account {
    provider: String,
    budget: Budget,
    credits: SearchCredits,
    watch: Arc<dyn CreditWatch>,
}

impl Account {
    pub(super) fn new(provider: String, budget: Budget, credits: SearchCredits) -> Self {
        Self { provider, budget, credits, watch: Arc::new(()) }
    }

    pub(super) fn watched_by(self, watch: Arc<dyn CreditWatch>) -> Self {
        Self { watch, ..self }
    }

    /// Returns the remaining level. If the counters cannot be read, searches continue, as they do without the cache.
    pub(super) async fn standing(&self, now: SystemTime) -> Standing {
        let Ok(spent) = self.credits.spent(&self.provider, now).await else {
            tracing::warn!("the spent credits cannot be read");
            return Standing::Enough;
        };
        if let Some(percent) = self.budget.percent(spent) {
            self.watch.spent(percent, now);
        }
        self.budget.standing(spent, now)
    }

    /// Reports that a request was not sent.
    pub(super) fn tell_refused(&self, by: RefusedBy, now: SystemTime) {
        self.watch.refused(by, now);
    }

    /// Counts the cost of an answer.
    pub(super) async fn count(&self, credits: u64, now: SystemTime) {
        if credits > 0 && self.credits.add(&self.provider, credits, now).await.is_err() {
            tracing::warn!(credits, "spent credits could not be counted");
        }
    }

    /// Records a failure: an exhausted plan stops the requests of all instances until the next hour.
    pub(super) async fn note(&self, failure: SearchFailure, now: SystemTime) {
        if failure == SearchFailure::Exhausted && self.credits.pause(&self.provider, next_hour(now), now).await.is_err()
        {
            tracing::warn!("the other instances could not be told that the plan is used up");
        }
    }
}

/// Returns the start of the next clock hour.
pub(crate) fn next_hour(now: SystemTime) -> SystemTime {
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    SystemTime::UNIX_EPOCH + Duration::from_secs((seconds / HOUR + 1) * HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(budget: Budget, month: u64, day: u64) -> Standing {
        budget.standing(SpentCredits { month, day, paused_until: None }, SystemTime::UNIX_EPOCH)
    }

    #[test]
    fn f141_budget_is_low_below_a_quarter() {
        let month = Budget { month: Some(1000), day: None };
        let seen = [0, 750, 751, 999, 1000, 5000].map(|spent| standing(month, spent, 0));
        let [enough, low, spent] = [Standing::Enough, Standing::Low, Standing::Nothing(RefusedBy::Budget)];
        assert_eq!(seen, [enough, enough, low, low, spent, spent]);
        assert_eq!(standing(Budget { month: None, day: Some(1) }, 9, 0), enough);
        assert_eq!(standing(Budget { month: None, day: Some(1) }, 0, 1), spent);
        assert_eq!(standing(Budget::default(), u64::MAX, u64::MAX), enough);
    }

    #[test]
    fn f141_tighter_of_two_budgets_applies() {
        let both = Budget { month: Some(1000), day: Some(40) };
        let seen =
            [(100, 0), (100, 31), (800, 31), (100, 40), (1000, 0)].map(|(month, day)| standing(both, month, day));
        let [enough, low, spent] = [Standing::Enough, Standing::Low, Standing::Nothing(RefusedBy::Budget)];
        assert_eq!(seen, [enough, low, low, spent, spent]);
    }

    #[test]
    fn f141_spent_percent_is_of_the_tighter_budget() {
        let percent = |budget: Budget| budget.percent(SpentCredits { month: 300, day: 30, paused_until: None });
        let [month, day] = [Some(1000), Some(40)];
        assert_eq!(percent(Budget { month, day }), Some(75));
        assert_eq!(percent(Budget { month, day: None }), Some(30));
        assert_eq!(percent(Budget { month: Some(299), day }), Some(100));
        assert_eq!(percent(Budget::default()), None);
    }

    #[test]
    fn f064_pause_lasts_until_its_time_despite_budget() {
        let until = SystemTime::UNIX_EPOCH + Duration::from_secs(9);
        let spent = SpentCredits { month: 0, day: 0, paused_until: Some(until) };
        let at = |second| Budget::default().standing(spent, SystemTime::UNIX_EPOCH + Duration::from_secs(second));
        assert_eq!([at(8), at(9)], [Standing::Nothing(RefusedBy::Plan), Standing::Enough]);
    }
}
