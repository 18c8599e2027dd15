//! Daily budgets: read from the settings, checked before a turn starts.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use domain::{ErrorCode, Failure, Groups, Owner, TurnError, parse_object};
use futures_util::future::try_join_all;
use jiff::Timestamp;
use platform::settings::{JsonFields, SettingError, Settings};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{Day, UsageLedger, UsageScope, UsageTotals};

/// A higher number of tokens than a day can use is a typing error.
const MAX_TOKENS: u64 = 1_000_000_000_000_000;

/// The highest cost, in the prices' currency.
const MAX_COST: u64 = 1_000_000_000;

const GROUP_BUDGETS: &str = "GROUP_BUDGETS";

const ACCEPTED_GROUPS: &str = "a JSON object of budgets by the names of groups, such as {\"legal\":{\"dailyTokens\":1000000,\"dailyCost\":\"2.50\"}}";

const ACCEPTED_COST: &str = "an amount such as 2.50 with at most six decimals, from 0.000001 to 1000000000";

/// What the fields of a group's budget accept.
const GROUP_FIELDS: &JsonFields =
    &[("dailyTokens", "a whole number, from 1 to 1000000000000000"), ("dailyCost", ACCEPTED_COST)];

/// Daily budgets of one owner, of groups and of the deployment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budgets {
    /// The budget of each owner.
    pub own: Budget,
    /// The budget of all owners together.
    pub total: Budget,
    /// The budgets of groups by their names: all members of a group share one.
    pub groups: BTreeMap<String, Budget>,
}

/// A budget with its scope, and with whose it is for the error message.
type ScopedBudget<'a> = (UsageScope<'a>, Budget, &'static str);

/// A value in `GROUP_BUDGETS`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct GroupBudget {
    daily_tokens: Option<u64>,
    daily_cost: Option<String>,
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
    /// Reads `USER_DAILY_TOKENS`, `USER_DAILY_COST`, the same with `TOTAL`, and `GROUP_BUDGETS`; `searches` are the limits on
    /// paid searches of each owner and of all together.
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
            groups: group_budgets(settings)?,
        })
    }

    /// Whether there is a budget in money.
    pub fn has_cost(&self) -> bool {
        [&self.own, &self.total].into_iter().chain(self.groups.values()).any(|budget| budget.cost_micros.is_some())
    }

    /// The budgets of a caller's groups. A turn adds to the totals of these, because nothing reads those of others.
    pub fn of_groups<'a>(&'a self, groups: &'a Groups) -> impl Iterator<Item = (&'a str, Budget)> {
        groups.names().iter().filter_map(|name| Some((name.as_str(), *self.groups.get(name)?)))
    }

    fn scoped<'a>(&'a self, owner: &'a Owner, groups: &'a Groups) -> Vec<ScopedBudget<'a>> {
        let own = (UsageScope::User(owner), self.own, "Your");
        let groups = self.of_groups(groups).map(|(name, budget)| (UsageScope::Group(name), budget, "Your group's"));
        let total = (UsageScope::Global, self.total, "This service's");
        [own].into_iter().chain(groups).chain([total]).collect()
    }

    /// Rejects a turn when no tokens or no money is left for today; each search checks the budget of searches itself.
    ///
    /// Without budgets nothing is read. If the ledger cannot be read, the turn is rejected, since it needs the same store.
    /// Turns that run at the same time may together exceed a budget by their own usage.
    ///
    /// # Errors
    /// `quota_exhausted` with the time until midnight (UTC), or the failure of the store.
    pub(crate) async fn check(
        &self,
        ledger: &UsageLedger,
        owner: &Owner,
        groups: &Groups,
        now: SystemTime,
    ) -> Result<(), TurnError> {
        let (day, budgets) = (Day::of(now), self.scoped(owner, groups));
        let spent = budgets.iter().map(|(scope, budget, _)| spent(ledger, *scope, day, *budget));
        match exceeded(&budgets, &try_join_all(spent).await?) {
            Some(budget) => Err(exhausted(&budget, now).into()),
            None => Ok(()),
        }
    }
}

/// The name of the first exhausted budget, for the error message.
fn exceeded(budgets: &[ScopedBudget<'_>], spent: &[UsageTotals]) -> Option<String> {
    let name = |((_, budget, whose), spent): (&ScopedBudget<'_>, &UsageTotals)| {
        Some(format!("{whose} {} budget", budget.exceeded(spent)?))
    };
    budgets.iter().zip(spent).find_map(name)
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
    let seconds = retry_seconds(end.duration_since(now).unwrap_or_default());
    let message = format!("{budget} for today is used up. It starts again at {}.", rfc3339(end));
    Failure::new(ErrorCode::QuotaExhausted, message).with_retry_after(seconds)
}

/// A time to wait in whole seconds, at least one.
pub(crate) fn retry_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}

impl Budget {
    /// What is used up.
    fn exceeded(&self, spent: &UsageTotals) -> Option<&'static str> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        match spent.cost_micros.unwrap_or_default() {
            _ if over(self.tokens, spent.tokens()) => Some("token"),
            cost if over(self.cost_micros, cost) => Some("cost"),
            _ => None,
        }
    }

    /// The budgets that are set, by the names under which clients read them, with their use on that day, which `spent` holds.
    pub fn rows(&self, spent: &UsageTotals, day: Day) -> Map<String, Value> {
        let rows = [
            ("tokens", self.tokens, spent.tokens()),
            ("searches", self.searches, spent.searches),
            ("costMicros", self.cost_micros, spent.cost_micros.unwrap_or_default()),
        ];
        let row = |(name, limit, used): (&str, Option<u64>, u64)| {
            Some((name.to_owned(), json!({ "limit": limit?, "used": used, "resetsAt": rfc3339(day.end()) })))
        };
        rows.into_iter().filter_map(row).collect()
    }
}

fn rfc3339(at: SystemTime) -> String {
    Timestamp::try_from(at).map_or_else(|_| String::new(), |at| at.to_string())
}

fn tokens(settings: &Settings, name: &str) -> Result<Option<u64>, SettingError> {
    let accepted = format!("a whole number of tokens, from 1 to {MAX_TOKENS}");
    settings.parse(name, &accepted, |text| text.parse().ok().and_then(valid_tokens))
}

fn cost(settings: &Settings, name: &str) -> Result<Option<u64>, SettingError> {
    settings.parse(name, ACCEPTED_COST, valid_cost)
}

fn valid_tokens(number: u64) -> Option<u64> {
    (1..=MAX_TOKENS).contains(&number).then_some(number)
}

fn valid_cost(text: &str) -> Option<u64> {
    micros(text).filter(|micros| (1..=MAX_COST * 1_000_000).contains(micros))
}

fn group_budgets(settings: &Settings) -> Result<BTreeMap<String, Budget>, SettingError> {
    let error = |accepted: &str| SettingError::new(GROUP_BUDGETS, accepted);
    let rows: Option<BTreeMap<String, GroupBudget>> =
        settings.parse_json(GROUP_BUDGETS, ACCEPTED_GROUPS, GROUP_FIELDS)?;
    let Some(rows) = rows else { return Ok(BTreeMap::new()) };
    // A name that occurs twice is an error; the parser of types uses the last one.
    parse_object(settings.var(GROUP_BUDGETS).unwrap_or_default().as_bytes()).map_err(|_| error(ACCEPTED_GROUPS))?;
    Groups::new(rows.keys().cloned()).ok_or_else(|| error("at most 64 names of groups, each 1 to 128 characters"))?;
    let budget = |(name, GroupBudget { daily_tokens, daily_cost }): (String, GroupBudget)| {
        let invalid = |(field, accepted): (&str, &str)| error(accepted).at(format!(".{name}.{field}"));
        let tokens = daily_tokens.map(|number| valid_tokens(number).ok_or_else(|| invalid(GROUP_FIELDS[0])));
        let cost = daily_cost.map(|text| valid_cost(&text).ok_or_else(|| invalid(GROUP_FIELDS[1])));
        let budget = Budget { tokens: tokens.transpose()?, searches: None, cost_micros: cost.transpose()? };
        if budget == Budget::default() {
            return Err(error("dailyTokens, dailyCost or both").at(format!(".{name}")));
        }
        Ok((name, budget))
    };
    rows.into_iter().map(budget).collect()
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
mod tests;
