//! Daily budgets: read from the settings, checked before a turn starts.

use std::time::SystemTime;

use domain::{ErrorCode, Failure, Owner, TurnError};
use jiff::Timestamp;
use platform::settings::{SettingError, Settings};
use serde::Serialize;
use store::{Day, UsageLedger, UsageScope, UsageTotals};

/// A higher number of tokens than a day can use is a typing error.
const MAX_TOKENS: u64 = 1_000_000_000_000_000;

/// The highest cost, in the prices' currency.
const MAX_COST: u64 = 1_000_000_000;

/// Daily budgets of one owner and of the deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// The budget of each owner.
    pub own: Budget,
    /// The budget of all owners together.
    pub total: Budget,
}

/// The maximum use in a day (UTC); `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Searches that the provider charges for.
    pub searches: Option<u64>,
    /// Cost in millionths of the currency of the models' prices.
    pub cost_micros: Option<u64>,
}

impl Budgets {
    /// Reads `USER_DAILY_TOKENS`, `USER_DAILY_COST`, and the same with `TOTAL`; `searches` are the limits on paid searches of
    /// each owner and of all together.
    ///
    /// # Errors
    /// A setting that cannot be parsed.
    pub fn from_settings(settings: &Settings, searches: [Option<u64>; 2]) -> Result<Self, SettingError> {
        let [own, total] = searches;
        Ok(Self {
            own: Budget {
                tokens: tokens(settings, "USER_DAILY_TOKENS")?,
                searches: own,
                cost_micros: cost(settings, "USER_DAILY_COST")?,
            },
            total: Budget {
                tokens: tokens(settings, "TOTAL_DAILY_TOKENS")?,
                searches: total,
                cost_micros: cost(settings, "TOTAL_DAILY_COST")?,
            },
        })
    }

    /// Whether there is a budget in money.
    pub fn has_cost(&self) -> bool {
        self.own.cost_micros.or(self.total.cost_micros).is_some()
    }

    /// Rejects a turn when no tokens or no money is left for today; each search checks the budget of searches itself.
    ///
    /// Without budgets nothing is read. If the ledger cannot be read, the turn is rejected, since it needs the same store.
    /// Turns that run at the same time may together exceed a budget by their own usage.
    ///
    /// # Errors
    /// `quota_exhausted` with the time until midnight (UTC), or the failure of the store.
    pub(crate) async fn check(&self, ledger: &UsageLedger, owner: &Owner, now: SystemTime) -> Result<(), TurnError> {
        let day = Day::of(now);
        let own = spent(ledger, UsageScope::User(owner), day, self.own);
        let total = spent(ledger, UsageScope::Global, day, self.total);
        let (own, total) = tokio::try_join!(own, total)?;
        match self.exceeded(&own, &total) {
            Some(budget) => Err(exhausted(budget, now).into()),
            None => Ok(()),
        }
    }

    /// The name of the first exhausted budget, for the error message.
    fn exceeded(&self, own: &UsageTotals, total: &UsageTotals) -> Option<&'static str> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        let budgets = [
            (over(self.own.tokens, own.tokens()), "Your token budget"),
            (over(self.own.cost_micros, own.cost_micros.unwrap_or_default()), "Your cost budget"),
            (over(self.total.tokens, total.tokens()), "This service's token budget"),
            (over(self.total.cost_micros, total.cost_micros.unwrap_or_default()), "This service's cost budget"),
        ];
        budgets.into_iter().find_map(|(over, name)| over.then_some(name))
    }
}

async fn spent(
    ledger: &UsageLedger,
    scope: UsageScope<'_>,
    day: Day,
    budget: Budget,
) -> Result<UsageTotals, TurnError> {
    if budget.tokens.is_none() && budget.cost_micros.is_none() {
        return Ok(UsageTotals::default());
    }
    Ok(ledger.day(scope, day).await?)
}

fn exhausted(budget: &str, now: SystemTime) -> Failure {
    let end = Day::of(now).end();
    let left = end.duration_since(now).unwrap_or_default();
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    let message = format!("{budget} for today is used up. It starts again at {}.", rfc3339(end));
    Failure::new(ErrorCode::QuotaExhausted, message).with_retry_after(seconds.max(1))
}

/// A budget and its use, as clients read it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BudgetRow {
    limit: u64,
    used: u64,
    resets_at: String,
}

/// The budgets that are set, as clients read them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetRows {
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<BudgetRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    searches: Option<BudgetRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_micros: Option<BudgetRow>,
}

impl Budget {
    /// The limits with their use on that day, which `spent` holds.
    pub fn rows(&self, spent: &UsageTotals, day: Day) -> BudgetRows {
        let row =
            |limit: Option<u64>, used: u64| limit.map(|limit| BudgetRow { limit, used, resets_at: rfc3339(day.end()) });
        BudgetRows {
            tokens: row(self.tokens, spent.tokens()),
            searches: row(self.searches, spent.searches),
            cost_micros: row(self.cost_micros, spent.cost_micros.unwrap_or_default()),
        }
    }
}

fn rfc3339(at: SystemTime) -> String {
    Timestamp::try_from(at).map_or_else(|_| String::new(), |at| at.to_string())
}

fn tokens(settings: &Settings, name: &str) -> Result<Option<u64>, SettingError> {
    let accepted = format!("a whole number of tokens, from 1 to {MAX_TOKENS}");
    let parse = |text: &str| text.parse().ok().filter(|number| (1..=MAX_TOKENS).contains(number));
    settings.parse(name, &accepted, parse)
}

fn cost(settings: &Settings, name: &str) -> Result<Option<u64>, SettingError> {
    let accepted = "an amount such as 2.50 with at most six decimals, from 0.000001 to 1000000000";
    settings.parse(name, accepted, |text| micros(text).filter(|micros| (1..=MAX_COST * 1_000_000).contains(micros)))
}

/// Parses a decimal number into millionths.
fn micros(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn read(name: &str, value: &str) -> Result<Budgets, SettingError> {
        Budgets::from_settings(&Settings::from_pairs([(name, value)]), [None; 2])
    }

    #[test]
    fn costs_are_decimal_numbers_in_millionths() {
        let cost = |value| read("USER_DAILY_COST", value).map(|budgets| budgets.own.cost_micros);
        assert_eq!(cost("2.50"), Ok(Some(2_500_000)));
        assert_eq!(cost("7"), Ok(Some(7_000_000)));
        assert_eq!(cost("0.000001"), Ok(Some(1)));
        assert_eq!(cost("1000000000"), Ok(Some(1_000_000_000_000_000)));
        assert_eq!(cost(" "), Ok(None));
        for bad in ["0", "0.0000001", "1e3", "-1", "+1", ".5", "1.", "1,5", "¥2", "1000000000.000001", "18446744073710"]
        {
            assert_eq!(cost(bad).unwrap_err().variable, "USER_DAILY_COST", "{bad}");
        }
    }

    #[test]
    fn every_budget_has_its_own_setting() {
        let names = ["USER_DAILY_TOKENS", "USER_DAILY_COST", "TOTAL_DAILY_TOKENS", "TOTAL_DAILY_COST"];
        let all = names.into_iter().zip(["1", "3", "4", "6"]);
        let budget = |tokens, searches, cost: u64| Budget {
            tokens: Some(tokens),
            searches: Some(searches),
            cost_micros: Some(cost * 1_000_000),
        };
        let expected = Budgets { own: budget(1, 2, 3), total: budget(4, 5, 6) };
        assert_eq!(Budgets::from_settings(&Settings::from_pairs(all), [Some(2), Some(5)]), Ok(expected));
        assert!(read("TOTAL_DAILY_TOKENS", "0").is_err() && read("USER_DAILY_TOKENS", "1.5").is_err());
    }

    #[test]
    fn f141_owners_exhausted_budget_is_reported_first() {
        let budget = |tokens, cost_micros| Budget { tokens, searches: None, cost_micros };
        let spent = |input_tokens, cost_micros| UsageTotals { input_tokens, cost_micros, ..UsageTotals::default() };
        let budgets = Budgets { own: budget(Some(10), Some(5)), total: budget(Some(30), Some(9)) };
        let exceeded = |own: UsageTotals, total: UsageTotals| budgets.exceeded(&own, &total);
        assert_eq!(exceeded(spent(9, Some(4)), spent(29, Some(8))), None);
        assert_eq!(exceeded(spent(9, None), spent(29, None)), None, "what has no price costs nothing");
        assert_eq!(exceeded(spent(10, Some(5)), spent(30, Some(9))), Some("Your token budget"));
        assert_eq!(exceeded(spent(9, Some(5)), spent(30, Some(9))), Some("Your cost budget"));
        assert_eq!(exceeded(spent(9, None), spent(30, Some(9))), Some("This service's token budget"));
        assert_eq!(exceeded(spent(9, None), spent(29, Some(9))), Some("This service's cost budget"));
        let unset = Budgets::default();
        assert_eq!(unset.exceeded(&spent(u64::MAX, Some(1)), &spent(u64::MAX, Some(1))), None);
    }

    #[test]
    fn f141_rejection_names_the_reset_time_rounded_up() {
        let now = Day::of(UNIX_EPOCH + Duration::from_secs(1_795_219_201)).end() - Duration::from_millis(3_599_999);
        let failure = exhausted("Your token budget", now);
        assert_eq!(failure.message, "Your token budget for today is used up. It starts again at 2026-11-22T00:00:00Z.");
        assert_eq!((failure.code, failure.retry_after_seconds), (ErrorCode::QuotaExhausted, Some(3600)));
    }
}
