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
    for bad in ["0", "0.0000001", "1e3", "-1", "+1", ".5", "1.", "1,5", "¥2", "1000000000.000001", "18446744073710"] {
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
    let groups = BTreeMap::new();
    let expected = Budgets { own: budget(1, 2, 3), total: budget(4, 5, 6), groups };
    assert_eq!(Budgets::from_settings(&Settings::from_pairs(all), [Some(2), Some(5)]), Ok(expected));
    assert!(read("TOTAL_DAILY_TOKENS", "0").is_err() && read("USER_DAILY_TOKENS", "1.5").is_err());
}

#[test]
fn f141_owners_exhausted_budget_is_reported_first() {
    let budget = |tokens, cost_micros| Budget { tokens, searches: None, cost_micros };
    let spent = |input_tokens, cost_micros| UsageTotals { input_tokens, cost_micros, ..UsageTotals::default() };
    let (own, total) = (budget(Some(10), Some(5)), budget(Some(30), Some(9)));
    let budgets = Budgets { own, total, groups: BTreeMap::new() };
    let (owner, none) = (Owner::new("ada"), Groups::default());
    let exceeded = |own: UsageTotals, total: UsageTotals| exceeded(&budgets.scoped(&owner, &none), &[own, total]);
    let names = |name: &str| Some(name.to_owned());
    assert_eq!(exceeded(spent(9, Some(4)), spent(29, Some(8))), None);
    assert_eq!(exceeded(spent(9, None), spent(29, None)), None, "what has no price costs nothing");
    assert_eq!(exceeded(spent(10, Some(5)), spent(30, Some(9))), names("Your token budget"));
    assert_eq!(exceeded(spent(9, Some(5)), spent(30, Some(9))), names("Your cost budget"));
    assert_eq!(exceeded(spent(9, None), spent(30, Some(9))), names("This service's token budget"));
    assert_eq!(exceeded(spent(9, None), spent(29, Some(9))), names("This service's cost budget"));
    let (unset, high) = (Budgets::default(), [spent(u64::MAX, Some(1)); 2]);
    assert_eq!(super::exceeded(&unset.scoped(&owner, &none), &high), None);
}

#[test]
fn f141_every_group_must_have_something_left() {
    let rows = r#"{"legal":{"dailyTokens":10,"dailyCost":"2.50"},"sales":{"dailyCost":"0.000005"}}"#;
    let budgets = read("GROUP_BUDGETS", rows).unwrap();
    let legal = Budget { tokens: Some(10), searches: None, cost_micros: Some(2_500_000) };
    assert_eq!((budgets.groups.len(), budgets.groups["legal"], budgets.has_cost()), (2, legal, true));
    let groups = Groups::new(["a", "legal", "sales"].map(str::to_owned)).unwrap();
    let owner = Owner::new("ada");
    let exceeded = |legal: u64, sales: u64| {
        let [own, total] = [UsageTotals::default(); 2];
        let legal = UsageTotals { output_tokens: legal, ..own };
        let sales = UsageTotals { cost_micros: Some(sales), ..own };
        exceeded(&budgets.scoped(&owner, &groups), &[own, legal, sales, total])
    };
    assert_eq!(exceeded(9, 4), None);
    assert_eq!(exceeded(10, 4).as_deref(), Some("Your group's token budget"));
    assert_eq!(exceeded(9, 5).as_deref(), Some("Your group's cost budget"));
    for bad in [
        "[]",
        r#"{"legal":{}}"#,
        r#"{"legal":{"dailyTokens":0}}"#,
        r#"{"legal":{"dailyTokens":1.5}}"#,
        r#"{"legal":{"dailyCost":2}}"#,
        r#"{"legal":{"dailyCost":"0"}}"#,
        r#"{" ":{"dailyTokens":1}}"#,
        r#"{"a":{"dailyTokens":1},"a":{"dailyTokens":2}}"#,
        r#"{"legal":{"dailySearches":1}}"#,
    ] {
        assert_eq!(read("GROUP_BUDGETS", bad).unwrap_err().variable, "GROUP_BUDGETS", "{bad}");
    }
    let error = |rows| read("GROUP_BUDGETS", rows).unwrap_err().to_string();
    let tokens = "expected a whole number, from 1 to 1000000000000000";
    assert_eq!(error(r#"{"legal":{"dailyTokens":0}}"#), format!("GROUP_BUDGETS.legal.dailyTokens: {tokens}"));
    let cost = "GROUP_BUDGETS.legal.dailyCost: expected an amount such as 2.50";
    assert!(error(r#"{"legal":{"dailyCost":2}}"#).starts_with(cost));
    assert_eq!(error(r#"{"legal":{}}"#), "GROUP_BUDGETS.legal: expected dailyTokens, dailyCost or both");
}

#[test]
fn f141_rejection_names_the_reset_time_rounded_up() {
    let now = Day::of(UNIX_EPOCH + Duration::from_secs(1_795_219_201)).end() - Duration::from_millis(3_599_999);
    let failure = exhausted("Your token budget", now);
    assert_eq!(failure.message, "Your token budget for today is used up. It starts again at 2026-11-22T00:00:00Z.");
    assert_eq!((failure.code, failure.retry_after_seconds), (ErrorCode::QuotaExhausted, Some(3600)));
}
