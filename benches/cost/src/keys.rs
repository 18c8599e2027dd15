//! Classifies items by their keys; `shared/store/src/lib.rs` has the table of keys.

use serde_json::Value;

/// Name of the kind of item under a key.
pub(crate) fn kind(key: &Value) -> &'static str {
    let text = |name: &str| key[name]["S"].as_str().unwrap_or_default();
    kind_of_keys(text("pk"), text("sk"))
}

/// Name of the kind of items in a partition.
pub(crate) fn kind_of_partition(pk: &str) -> &'static str {
    kind_of_keys(pk, "")
}

fn kind_of_keys(pk: &str, sk: &str) -> &'static str {
    match pk.split_once('#').map_or(pk, |(first, _)| first) {
        "U" => kind_of_owner_item(pk, sk),
        "K" => "key",
        "D" => "definitions",
        "USAGE" => "day of all",
        "SC" | "SD" => "search result",
        "CR" => "credits",
        "X" => "day of calls",
        "TF" => "model's tools",
        "OE" => "endpoint",
        "RL" => "limit",
        other => panic!("an unknown key: {other}"),
    }
}

/// Classifies an owner's item; encoded owners contain no `#`.
fn kind_of_owner_item(pk: &str, sk: &str) -> &'static str {
    match (pk.split('#').nth(2), sk.split('#').next()) {
        (None, Some("N")) => "chat id",
        (None, Some("I")) => "limit and instructions",
        (None, _) => "head",
        (Some("C"), Some("M")) => "message",
        (Some("C"), Some("S")) => "summary",
        (Some("C"), Some("T")) => "transcript",
        (Some("C"), _) => "conversation",
        (Some("U"), _) => "day of the caller",
        (Some("I"), _) => "idempotency",
        (Some("S"), _) => "log",
        (Some("X"), _) => "call",
        _ => panic!("an unknown key of an owner"),
    }
}
