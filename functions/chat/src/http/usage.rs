use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use client_protocols::without_nulls;
use domain::{ErrorCode, Groups};
use futures_util::future::try_join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{Day, StoreError, UsageScope, UsageTotals};
use turns::Budget;
use web::{ApiError, Caller};

use super::extract::ParsedQuery;
use crate::{App, Result};

/// Days of the list unless the request has `days`.
pub(super) const DEFAULT_DAYS: u32 = 30;

pub(super) const MAX_DAYS: u32 = 90;

#[derive(Deserialize)]
pub(crate) struct UsageQuery {
    days: Option<String>,
    scope: Option<String>,
}

/// What was used in all, without the reserved searches, which only budgets count.
pub(super) fn sums(totals: &UsageTotals) -> Value {
    let UsageTotals { turns, input_tokens, output_tokens, search_credits, estimated_turns, cost_micros, .. } = totals;
    without_nulls(json!({
        "turns": turns, "inputTokens": input_tokens, "outputTokens": output_tokens, "searchCredits": search_credits,
        "estimatedTurns": estimated_turns, "costMicros": cost_micros,
    }))
}

fn day_row(day: Day, spent: &UsageTotals) -> Value {
    let mut row = sums(spent);
    row["date"] = day.to_string().into();
    row
}

/// `GET /api/usage`: the caller's usage by day, oldest first, without days that have none.
///
/// `days` counts back from today and includes it; `groups` are the caller's groups that have a budget. With `scope=deployment` an administrator gets the totals of all callers.
pub(crate) async fn usage(
    State(app): State<App>,
    caller: Caller,
    ParsedQuery(query): ParsedQuery<UsageQuery>,
) -> Result<Json<Value>> {
    let count = parse_days(query.days.as_deref(), DEFAULT_DAYS)?;
    let budgets = &app.turns.limits.budgets;
    let none = Groups::default();
    let (scope, budget, groups) = match query.scope.as_deref() {
        None => (UsageScope::User(&caller.owner), budgets.own, &caller.membership.groups),
        Some("deployment") if caller.membership.is_administrator => (UsageScope::Global, budgets.total, &none),
        Some("deployment") => return Err(ErrorCode::Forbidden.into()),
        Some(_) => return Err(ApiError::invalid_request("`scope` may only be `deployment`")),
    };
    let today = Day::of(SystemTime::now());
    let days = app.store.ledger.days(scope, today.before(count - 1), today).await?;
    let spent = days.last().filter(|last| last.day == today).map(|last| last.totals).unwrap_or_default();
    let group = async |(name, budget): (&str, Budget)| {
        let spent = app.store.ledger.day(UsageScope::Group(name), today).await?;
        Ok::<_, StoreError>(json!({ "name": name, "budgets": budget.rows(&spent, today) }))
    };
    let groups = try_join_all(budgets.of_groups(groups).map(group)).await?;
    Ok(Json(without_nulls(json!({
        "days": days.iter().map(|day| day_row(day.day, &day.totals)).collect::<Vec<_>>(),
        "today": day_row(today, &spent),
        "budgets": budget.rows(&spent, today),
        "groups": Some(groups).filter(|groups| !groups.is_empty()),
    }))))
}

pub(super) fn parse_days(text: Option<&str>, default: u32) -> Result<u32> {
    let Some(text) = text else { return Ok(default) };
    let days = text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.ok_or_else(|| ApiError::invalid_request(format!("`days` must be a whole number from 1 to {MAX_DAYS}")))
}
