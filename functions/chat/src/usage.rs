use std::time::SystemTime;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use conversation::ErrorCode;
use serde::{Deserialize, Serialize};
use store::{Account, Day, Spent};
use web::{ApiError, Caller};

use crate::App;
use crate::budgets::BudgetRows;

/// Days of the list when the request does not say, and at most.
const DAYS: u32 = 30;
const MOST_DAYS: u32 = 90;

#[derive(Deserialize)]
pub(crate) struct Asked {
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
    fn new(day: Day, spent: &Spent) -> Self {
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

/// `GET /api/usage`: what the caller used, by the day, oldest first; days without use are left out.
///
/// `days` counts back from today and includes it. With `scope=deployment` an administrator sees all callers together.
pub(crate) async fn usage(
    State(app): State<App>,
    caller: Caller,
    asked: Result<Query<Asked>, QueryRejection>,
) -> Result<Json<UsageList>, ApiError> {
    let Query(asked) = asked.map_err(|_| invalid("The query string cannot be read"))?;
    let count = days(asked.days.as_deref())?;
    let budgets = &app.config.budgets;
    let (account, budget) = match asked.scope.as_deref() {
        None => (Account::Own(&caller.owner), budgets.own),
        Some("deployment") if caller.administrator => (Account::Everybody, budgets.total),
        Some("deployment") => return Err(ErrorCode::Forbidden.into()),
        Some(_) => return Err(invalid("`scope` may only be `deployment`")),
    };
    let today = Day::of(SystemTime::now());
    let days = app.store.ledger.days(account, today.before(count - 1), today).await;
    let days = days.map_err(|error| crate::chat::storage(&error))?;
    let spent = days.last().filter(|(day, _)| *day == today).map(|(_, spent)| *spent).unwrap_or_default();
    Ok(Json(UsageList {
        days: days.iter().map(|(day, spent)| DayRow::new(*day, spent)).collect(),
        today: DayRow::new(today, &spent),
        budgets: budget.rows(&spent, today),
    }))
}

fn days(text: Option<&str>) -> Result<u32, ApiError> {
    let Some(text) = text else { return Ok(DAYS) };
    let days = text.parse().ok().filter(|days| (1..=MOST_DAYS).contains(days));
    days.ok_or_else(|| invalid(&format!("`days` must be a whole number from 1 to {MOST_DAYS}")))
}

fn invalid(sentence: &str) -> ApiError {
    ApiError::new(ErrorCode::InvalidRequest, sentence)
}
