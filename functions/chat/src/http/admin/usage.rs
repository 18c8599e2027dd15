use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;
use std::time::SystemTime;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::Owner;
use http::header;
use serde::Deserialize;
use serde_json::json;
use store::{Day, DayUsage, UsageTotals};
use web::{Administrator, ApiError};

use crate::http::extract::ParsedQuery;
use crate::http::usage::{self, DEFAULT_DAYS, parse_days};
use crate::{App, Result};

/// What rows can be about, the default first.
const SUBJECTS: [&str; 3] = ["user", "group", "model"];

#[derive(Deserialize)]
pub(crate) struct TableQuery {
    days: Option<String>,
    by: Option<String>,
    format: Option<String>,
}

/// `GET /api/admin/usage`: the usage of some days by user, group or model, the most tokens first, as JSON or CSV.
pub(crate) async fn table(
    State(app): State<App>,
    _: Administrator,
    ParsedQuery(query): ParsedQuery<TableQuery>,
) -> Result<Response> {
    let (today, days) = (Day::of(SystemTime::now()), parse_days(query.days.as_deref(), DEFAULT_DAYS)?);
    let by = query.by.as_deref().unwrap_or(SUBJECTS[0]);
    let by = SUBJECTS.into_iter().find(|subject| *subject == by);
    let by = by.ok_or_else(|| ApiError::invalid_request("`by` may only be `user`, `group` or `model`"))?;
    let is_csv = match query.format.as_deref() {
        None | Some("json") => false,
        Some("csv") => true,
        Some(_) => return Err(ApiError::invalid_request("`format` may only be `json` or `csv`")),
    };
    let sums = sum(by, app.store.usage_by_owner(today.before(days - 1), today).await?);
    if is_csv {
        let disposition = (header::CONTENT_DISPOSITION, "attachment; filename=\"usage.csv\"");
        let headers = [(header::CONTENT_TYPE, "text/csv; charset=utf-8"), disposition];
        return Ok((headers, csv(by, &sums)).into_response());
    }
    // The name is `null` for the usage of callers without groups, or of days whose models were not recorded.
    let row = |(name, totals): &(Option<String>, UsageTotals)| {
        let mut row = usage::sums(totals);
        row[by] = json!(name);
        row
    };
    Ok(Json(json!({ "rows": sums.iter().map(row).collect::<Vec<_>>() })).into_response())
}

/// The sums by subject. A day of a caller in several groups counts in each of them.
fn sum(by: &str, owners: Vec<(Owner, Vec<DayUsage>)>) -> Vec<(Option<String>, UsageTotals)> {
    let mut sums: HashMap<Option<String>, UsageTotals> = HashMap::new();
    let mut add = |name: Option<String>, totals: UsageTotals| {
        let sum = sums.entry(name).or_default();
        *sum = sum.plus(totals);
    };
    for (owner, days) in owners {
        for DayUsage { totals, models, groups, .. } in days {
            match by {
                "user" => add(Some(owner.as_str().to_owned()), totals),
                "model" if !models.is_empty() => models.into_iter().for_each(|(model, part)| add(Some(model), part)),
                "group" if !groups.is_empty() => groups.into_iter().for_each(|group| add(Some(group), totals)),
                _ => add(None, totals),
            }
        }
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, totals)| totals.turns > 0).collect();
    sums.sort_by(|(name, totals), (other, others)| {
        (Reverse(totals.tokens()), name).cmp(&(Reverse(others.tokens()), other))
    });
    sums
}

/// The table as RFC 4180 describes it, with a head.
fn csv(by: &str, sums: &[(Option<String>, UsageTotals)]) -> String {
    let mut text = format!("{by},turns,estimatedTurns,inputTokens,outputTokens,searchCredits,costMicros\r\n");
    for (name, totals) in sums {
        let cost = totals.cost_micros.map(|cost| cost.to_string()).unwrap_or_default();
        let UsageTotals { turns, estimated_turns, input_tokens, output_tokens, search_credits, .. } = totals;
        let name = csv_cell(name.as_deref().unwrap_or_default());
        let counts = format!("{turns},{estimated_turns},{input_tokens},{output_tokens},{search_credits}");
        // Writing to a String cannot fail.
        let _ = write!(text, "{name},{counts},{cost}\r\n");
    }
    text
}

/// A cell with a text. A spreadsheet would run one that begins like a formula, so such a text begins with an apostrophe.
fn csv_cell(text: &str) -> String {
    // https://asvs.emil.hemdal.se/1.2.10, 2026-11-26. No source noted for the full-width signs and the line ends.
    const FORMULA_STARTS: [char; 11] = ['=', '+', '-', '@', '\t', '\0', '\r', '＝', '＋', '－', '＠'];
    let guard = if text.starts_with(FORMULA_STARTS) { "'" } else { "" };
    let text = format!("{guard}{text}");
    if text.contains([',', ';', '"', '\r', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn csv_cells_are_quoted_and_no_formulas() {
        for (text, cell) in [
            ("key:ann", "key:ann"),
            ("研发, \"A\"", "\"研发, \"\"A\"\"\""),
            ("=HYPERLINK(\"x\")", "\"'=HYPERLINK(\"\"x\"\")\""),
            ("+1", "'+1"),
            ("a;=1", "\"a;=1\""),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("＝1", "'＝1"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(csv_cell(text), cell, "{text:?}");
        }
    }

    #[test]
    fn csv_table_has_a_head_and_crlf() {
        let totals = UsageTotals { turns: 2, input_tokens: 30, cost_micros: Some(7), ..UsageTotals::default() };
        let sums = [(Some("m".to_owned()), totals), (None, UsageTotals { cost_micros: None, ..totals })];
        let expected = "model,turns,estimatedTurns,inputTokens,outputTokens,searchCredits,costMicros\r\n\
                        m,2,0,30,0,0,7\r\n,2,0,30,0,0,\r\n";
        assert_eq!(csv("model", &sums), expected);
    }

    #[test]
    fn days_count_in_each_group_of_their_caller() {
        let totals = UsageTotals { turns: 1, input_tokens: 5, ..UsageTotals::default() };
        let day = |groups: &[&str]| DayUsage {
            day: Day::of(SystemTime::UNIX_EPOCH),
            totals,
            models: BTreeMap::new(),
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        };
        let owners = vec![
            (Owner::key_holder("ann"), vec![day(&["legal", "研发"]), day(&["legal"])]),
            (Owner::key_holder("bob"), vec![day(&[])]),
        ];
        let turns: Vec<_> = sum("group", owners).into_iter().map(|(group, totals)| (group, totals.turns)).collect();
        assert_eq!(turns, [(Some("legal".to_owned()), 2), (None, 1), (Some("研发".to_owned()), 1)]);
    }
}
