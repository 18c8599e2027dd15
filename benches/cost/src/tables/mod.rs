//! The tables of `docs/cost.md` and `docs/models-on-aws.md` with their names.

mod alternatives;
mod given;
mod models;
mod monthly;
mod settings;
mod turns;

use crate::Bills;

/// A table's name and its lines in Markdown.
pub type Table = (&'static str, String);

/// All tables.
pub fn tables(bills: Bills<'_>) -> Vec<Table> {
    vec![
        ("requests", turns::requests(bills)),
        ("answer", turns::request_list(bills, crate::DEFAULT_KIND)),
        ("search", turns::request_list(bills, crate::SEARCH_KIND)),
        ("time", turns::duration_requests(bills)),
        ("thousand", turns::thousand(bills)),
        ("memory", settings::memory(bills)),
        ("cache", settings::cache(bills)),
        ("doors", settings::front_ends(bills)),
        ("managed", alternatives::managed(bills)),
        ("containers", alternatives::containers(bills)),
        ("month", monthly::fixed_costs(bills)),
        ("storage", monthly::storage(bills)),
        ("prices", given::prices(bills.inputs)),
        ("assumptions", given::assumptions(bills.inputs)),
    ]
}

/// The tables of `docs/models-on-aws.md` and its Chinese form.
pub fn model_tables(bills: Bills<'_>) -> [Table; 2] {
    [("models", models::of_models(bills)), ("models in Chinese", models::of_models_in_chinese(bills))]
}

/// Formats a table; all columns but the first are right-aligned.
fn table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: String = (0..N).map(|column| if column == 0 { "|---" } else { "|---:" }).collect();
    let head = line(&head.map(str::to_owned));
    rows.into_iter().fold(format!("{head}{rule}|\n"), |table, row| table + &line(&row))
}

/// Formats a table of texts; all columns are left-aligned.
fn text_table<const N: usize>(head: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    table(head, rows).replacen("---:", "---", N)
}

/// Formats an amount of money, with four decimals below 1.
fn format_money(amount: f64) -> String {
    if amount < 1.0 { format!("{amount:.4}") } else { format!("{amount:.2}") }
}

/// Formats a count with thousands separators.
fn format_count(number: f64) -> String {
    let digits = format!("{:.0}", number.round());
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Formats bytes as KB (1,000 bytes).
fn format_kilobytes(bytes: f64) -> String {
    format!("{:.1}", bytes / 1e3)
}
