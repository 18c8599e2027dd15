use std::time::SystemTime;

use settings::{SettingError, Settings};
use store::{Account, Day, Ledger, Owner};

use super::SearchFailure;

/// Maximum number of searches in a setting; more must be a typing error.
const MOST: u64 = 1_000_000_000;

/// Daily limits on paid searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DailySearches {
    /// For one caller; `None` for no limit.
    pub own: Option<u64>,
    /// For all callers together; `None` for no limit.
    pub total: Option<u64>,
}

impl DailySearches {
    /// Reads `USER_DAILY_SEARCHES` and `TOTAL_DAILY_SEARCHES`.
    ///
    /// # Errors
    /// A setting that cannot be parsed.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let limit = |name| {
            let parse = |text: &str| text.parse().ok().filter(|number| (1..=MOST).contains(number));
            settings.parsed(name, "a whole number of searches, from 1 to 1000000000", parse)
        };
        Ok(Self { own: limit("USER_DAILY_SEARCHES")?, total: limit("TOTAL_DAILY_SEARCHES")? })
    }
}

/// Reserves each paid search in the daily quotas.
pub(crate) struct Allowance {
    limits: DailySearches,
    ledger: Ledger,
}

/// The reservation of one search, for its caller and for all callers.
pub(crate) struct Booking<'a> {
    day: Day,
    accounts: Vec<Account<'a>>,
}

impl Allowance {
    pub(crate) fn new(limits: DailySearches, ledger: Ledger) -> Self {
        Self { limits, ledger }
    }

    /// Reserves a search before it is made, so that concurrent searches cannot all take the last one.
    ///
    /// If the ledger is unavailable, it reserves nothing and `fallback` decides.
    pub(crate) async fn book<'a>(
        &self,
        owner: &'a Owner,
        now: SystemTime,
        unasked: impl Fn() -> Result<(), SearchFailure>,
    ) -> Result<Booking<'a>, SearchFailure> {
        let limits = [(Account::Own(owner), self.limits.own), (Account::Everybody, self.limits.total)];
        let mut booking = Booking { day: Day::of(now), accounts: Vec::new() };
        for (account, limit) in limits {
            let Some(limit) = limit else { continue };
            match self.ledger.book_search(account, booking.day, limit).await {
                Ok(true) => booking.accounts.push(account),
                Ok(false) => {
                    self.give_back(booking).await;
                    return Err(SearchFailure::OutOfBudget);
                }
                Err(error) => {
                    tracing::warn!(%error, "a search could not be booked");
                    return unasked().map(|()| booking);
                }
            }
        }
        Ok(booking)
    }

    /// Releases the reservation of a search that cost nothing.
    pub(crate) async fn give_back(&self, booking: Booking<'_>) {
        for account in booking.accounts {
            if let Err(error) = self.ledger.return_search(account, booking.day).await {
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
        let read = |value: &str| DailySearches::from_settings(&Settings::from_pairs([("USER_DAILY_SEARCHES", value)]));
        assert_eq!(read("25"), Ok(DailySearches { own: Some(25), total: None }));
        assert_eq!(read(""), Ok(DailySearches::default()));
        for bad in ["0", "-1", "1.5", "many", "1000000001"] {
            assert_eq!(read(bad).unwrap_err().variable, "USER_DAILY_SEARCHES", "{bad}");
        }
    }
}
