use std::time::SystemTime;

use domain::Owner;
use platform::settings::{SettingError, Settings};
use store::{Day, UsageLedger, UsageScope};

use crate::failure::SearchFailure;
use crate::local_limiter::LocalLimiter;

/// Maximum number of credits or searches in a setting; more must be a typing error.
const MAX_COUNT: u64 = 1_000_000_000;

/// Daily limits on paid searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailySearchLimits {
    /// For one caller; `None` for no limit.
    pub per_caller: Option<u64>,
    /// For all callers together; `None` for no limit.
    pub total: Option<u64>,
}

impl DailySearchLimits {
    /// Reads `USER_DAILY_SEARCHES` and `TOTAL_DAILY_SEARCHES`.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let limit = |name| parse_count(settings, name, "a whole number of searches, from 1 to 1000000000");
        Ok(Self { per_caller: limit("USER_DAILY_SEARCHES")?, total: limit("TOTAL_DAILY_SEARCHES")? })
    }
}

/// Parses a number of credits or searches, from 1 to [`MAX_COUNT`].
pub(crate) fn parse_count(settings: &Settings, name: &str, accepted: &str) -> Result<Option<u64>, SettingError> {
    settings.parse(name, accepted, |text| text.parse().ok().filter(|count| (1..=MAX_COUNT).contains(count)))
}

/// Reserves each paid search in the daily quotas.
pub(crate) struct DailyQuota {
    pub(crate) limits: DailySearchLimits,
    pub(crate) ledger: UsageLedger,
}

/// The reservation of one search, for its caller and for all callers.
pub(crate) struct Reservation<'a> {
    day: Day,
    scopes: Vec<UsageScope<'a>>,
}

impl DailyQuota {
    /// Reserves a search before it is made, so that concurrent searches cannot all take the last one.
    ///
    /// If the ledger is unavailable, the limiter of this process decides, and nothing more is reserved.
    pub(crate) async fn reserve<'a>(
        &self,
        owner: &'a Owner,
        now: SystemTime,
        limiter: &LocalLimiter,
    ) -> Result<Reservation<'a>, SearchFailure> {
        let limits = [(UsageScope::User(owner), self.limits.per_caller), (UsageScope::Global, self.limits.total)];
        let mut reservation = Reservation { day: Day::of(now), scopes: Vec::new() };
        for (scope, limit) in limits {
            let Some(limit) = limit else { continue };
            match self.ledger.reserve_search(scope, reservation.day, limit).await {
                Ok(true) => reservation.scopes.push(scope),
                Ok(false) => {
                    self.release(reservation).await;
                    return Err(SearchFailure::OutOfBudget);
                }
                Err(error) => {
                    tracing::warn!(%error, "a search could not be booked");
                    return limiter.admit(now).map(|()| reservation);
                }
            }
        }
        Ok(reservation)
    }

    /// Releases the reservation of a search that cost nothing.
    pub(crate) async fn release(&self, reservation: Reservation<'_>) {
        for scope in reservation.scopes {
            if let Err(error) = self.ledger.release_search(scope, reservation.day).await {
                tracing::warn!(%error, "a search that cost nothing stays booked");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_whole_numbers_or_unset() {
        let read =
            |value: &str| DailySearchLimits::from_settings(&Settings::from_pairs([("USER_DAILY_SEARCHES", value)]));
        assert_eq!(read("25"), Ok(DailySearchLimits { per_caller: Some(25), total: None }));
        assert_eq!(read(""), Ok(DailySearchLimits::default()));
        for bad in ["0", "-1", "1.5", "many", "1000000001"] {
            assert_eq!(read(bad).unwrap_err().variable, "USER_DAILY_SEARCHES", "{bad}");
        }
    }
}
