//! Computes the units of a write by the documented rules, from the items before and after it, as a check of the
//! database's own report.

use dynoxide::Database;
use dynoxide::types::item_size;
use serde_json::{Value, json};

/// Bytes per write unit.
const WRITE_UNIT_BYTES: usize = 1024;

/// Snapshot of the items that a request writes.
pub(crate) struct Snapshot(Vec<Option<Value>>);

/// A written item; its name in [`crate::Request::items`] has the same index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WrittenItem {
    /// Bytes by which the item grew.
    pub grown: usize,
    /// Whether the item has an expiry.
    pub expires: bool,
    /// Write units, doubled in a transaction.
    pub write: f64,
    /// Write units of the index.
    pub index: f64,
}

impl WrittenItem {
    /// Bytes that stay until they are deleted explicitly.
    pub(crate) fn permanent_bytes(&self) -> usize {
        if self.expires { 0 } else { self.grown }
    }
}

impl Snapshot {
    /// Reads the items; empty for a request that only reads.
    pub(crate) fn of(database: &Database, operation: &str, question: &Value) -> Self {
        Self(keys(operation, question).iter().map(|(table, key)| get(database, table, key)).collect())
    }

    /// Computes the units of the change to `after`. A transaction writes each item twice (prepare and commit), but its index
    /// only once.
    pub(crate) fn written_items(&self, after: &Self, operation: &str) -> Vec<WrittenItem> {
        let factor = if operation.starts_with("Transact") { 2.0 } else { 1.0 };
        let pairs = self.0.iter().zip(&after.0);
        pairs.map(|(before, after)| compare_items(before.as_ref(), after.as_ref(), factor)).collect()
    }
}

fn compare_items(before: Option<&Value>, after: Option<&Value>, factor: f64) -> WrittenItem {
    let bytes = |item: Option<&Value>| item.map_or(0, size);
    let write = factor * units(bytes(before).max(bytes(after)));
    let (grown, expires) =
        (bytes(after).saturating_sub(bytes(before)), after.is_some_and(|item| !item[store::EXPIRES].is_null()));
    WrittenItem { grown, expires, write, index: index_units(before, after) }
}

/// Computes the write units of the index. An item is in the index if it has the index's sort key. A change of the item
/// is one write; a change of the sort key moves the entry, which is two writes.
fn index_units(before: Option<&Value>, after: Option<&Value>) -> f64 {
    let sort_key =
        |item: Option<&Value>| item.map(|item| item[store::UPDATED_AT].clone()).filter(|sort_key| !sort_key.is_null());
    match (sort_key(before), sort_key(after)) {
        (None, None) => 0.0,
        (Some(one), Some(other)) if one == other && before == after => 0.0,
        (Some(one), Some(other)) if one != other => units(before.map_or(0, size)) + units(after.map_or(0, size)),
        _ => units(before.map_or(0, size).max(after.map_or(0, size))),
    }
}

#[expect(clippy::cast_precision_loss, reason = "items have 400 KB at most")]
fn units(bytes: usize) -> f64 {
    bytes.div_ceil(WRITE_UNIT_BYTES).max(1) as f64
}

fn size(item: &Value) -> usize {
    item_size(&serde_json::from_value(item.clone()).expect("items are items"))
}

fn get(database: &Database, table: &str, key: &Value) -> Option<Value> {
    let request = json!({ "TableName": table, "Key": key, "ConsistentRead": true });
    let answer = database.get_item(serde_json::from_value(request).expect("a request is one")).expect("it answers");
    answer.item.map(|item| serde_json::to_value(item).expect("items are JSON"))
}

/// Returns the written keys with their tables, in the order of the request.
fn keys(operation: &str, question: &Value) -> Vec<(String, Value)> {
    let single = |about: &Value| (about["TableName"].as_str().unwrap_or_default().to_owned(), key(about));
    match operation {
        "PutItem" | "UpdateItem" | "DeleteItem" => vec![single(question)],
        "TransactWriteItems" => values(&question["TransactItems"]).map(single).collect(),
        "BatchWriteItem" => {
            let tables = question["RequestItems"].as_object().into_iter().flatten();
            tables.flat_map(|(table, parts)| values(parts).map(move |part| (table.clone(), key(part)))).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the single value of each object in a list.
fn values(parts: &Value) -> impl Iterator<Item = &Value> {
    parts.as_array().into_iter().flatten().filter_map(|part| part.as_object()?.values().next())
}

fn key(about: &Value) -> Value {
    let key = if about["Key"].is_object() { &about["Key"] } else { &about["Item"] };
    json!({ "pk": key["pk"], "sk": key["sk"] })
}
