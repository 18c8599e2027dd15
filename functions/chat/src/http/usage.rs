use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use domain::ErrorCode;
use serde::{Deserialize, Serialize};
use store::{Day, UsageScope, UsageTotals};
use turns::BudgetRows;
use web::{ApiError, Caller};

use super::extract::ParsedQuery;
use crate::App;

/// Days of the list unless the request has `days`.
const DEFAULT_DAYS: u32 = 30;

/// Maximum number of days.
const MAX_DAYS: u32 = 90;

#[derive(Deserialize)]
pub(crate) struct UsageQuery {
    days: Option<String>,
    scope: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct UsageList {
    days: Vec<DayRow>,
    today: DayRow,
    budgets: BudgetRows,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DayRow {
    date: String,
    turns: u64,
    input_tokens: u64,
    output_tokens: u64,
    search_credits: u64,
    estimated_turns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_micros: Option<u64>,
}

impl DayRow {
    fn new(day: Day, spent: &UsageTotals) -> Self {
        Self {
            date: day.to_string(),
            turns: spent.turns,
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
            search_credits: spent.search_credits,
            estimated_turns: spent.estimated_turns,
            cost_micros: spent.cost_micros,
        }
    }
}

/// `GET /api/usage`: the caller's usage by day, oldest first, without days that have none.
///
/// `days` counts back from today and includes it. With `scope=deployment` an administrator gets the totals of all callers.
pub(crate) async fn usage(
    State(app): State<App>,
    caller: Caller,
    ParsedQuery(query): ParsedQuery<UsageQuery>,
) -> Result<Json<UsageList>, ApiError> {
    let count = days(query.days.as_deref())?;
    let budgets = &app.turns.limits.budgets;
    let (scope, budget) = match query.scope.as_deref() {
        None => (UsageScope::User(&caller.owner), budgets.own),
        Some("deployment") if caller.administrator => (UsageScope::Global, budgets.total),
        Some("deployment") => return Err(ErrorCode::Forbidden.into()),
        Some(_) => return Err(invalid("`scope` may only be `deployment`")),
    };
    let today = Day::of(SystemTime::now());
    let days = app.store.ledger.days(scope, today.before(count - 1), today).await?;
    let spent = days.last().filter(|(day, _)| *day == today).map(|(_, spent)| *spent).unwrap_or_default();
    Ok(Json(UsageList {
        days: days.iter().map(|(day, spent)| DayRow::new(*day, spent)).collect(),
        today: DayRow::new(today, &spent),
        budgets: budget.rows(&spent, today),
    }))
}

fn days(text: Option<&str>) -> Result<u32, ApiError> {
    let Some(text) = text else { return Ok(DEFAULT_DAYS) };
    let days = text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.ok_or_else(|| invalid(&format!("`days` must be a whole number from 1 to {MAX_DAYS}")))
}

fn invalid(message: &str) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, message)
}
