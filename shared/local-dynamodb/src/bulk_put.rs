//! Fast path for batches of puts, through the database's bulk import.
//!
//! `BatchWriteItem` uses one transaction per item and prepares its statements again for each, which took two fifths of the
//! database's time while turn logs were written. An import takes many items at once.

use std::collections::HashSet;

use dynoxide::actions::batch_write_item::{BatchWriteItemRequest, WriteRequest};
use dynoxide::types::{AttributeValue, Item};
use dynoxide::{Database, DynoxideError, ImportOptions};

/// Status of a request that DynamoDB rejects.
const BAD_REQUEST: u16 = 400;

/// Item limit of a batch, as in DynamoDB.
const MAX_ITEMS: usize = 25;

/// Size limit of an item in bytes, which an import does not check. No item is larger than its request body.
const MAX_ITEM_BYTES: usize = 400 * 1024;

/// The key attributes of each of the project's tables. None has a vector index, whose rules an import does not check.
const KEY: [&str; 2] = ["pk", "sk"];

/// Whether a batch has only puts into one table, and an import rejects everything in it that DynamoDB would.
pub(super) fn is_simple(request: &BatchWriteItemRequest, body_bytes: usize) -> bool {
    let wants_report = request.return_consumed_capacity.is_some() || request.return_item_collection_metrics.is_some();
    let mut tables = request.request_items.values();
    let requests = tables.next().filter(|_| tables.next().is_none());
    !wants_report && body_bytes <= MAX_ITEM_BYTES && requests.is_some_and(|requests| have_distinct_keys(requests))
}

/// Stores simple items, all or none of them; `None`, without a change, when the import rejects them.
pub(super) fn store(database: &Database, request: BatchWriteItemRequest) -> Option<Result<(), DynoxideError>> {
    let (table, requests) = request.request_items.into_iter().next()?;
    let items = requests.into_iter().filter_map(|request| request.put_request).map(|put| put.item).collect();
    let options = ImportOptions { record_streams: true, ..ImportOptions::default() };
    match database.import_items(&table, items, options) {
        Err(error) if error.status_code() == BAD_REQUEST => None,
        stored => Some(stored.map(drop)),
    }
}

/// Whether these are puts of simple items under distinct keys, within the limit of a batch.
fn have_distinct_keys(requests: &[WriteRequest]) -> bool {
    let keys: Option<HashSet<_>> = requests.iter().map(key).collect();
    (1..=MAX_ITEMS).contains(&requests.len()) && keys.is_some_and(|keys| keys.len() == requests.len())
}

/// Returns the key of a put of a simple item.
fn key(request: &WriteRequest) -> Option<[&str; 2]> {
    let (Some(put), None) = (&request.put_request, &request.delete_request) else { return None };
    let part = |name| match put.item.get(name) {
        Some(AttributeValue::S(text)) => Some(text.as_str()),
        _ => None,
    };
    let [pk, sk] = KEY.map(part);
    is_simple_item(&put.item).then_some([pk?, sk?])
}

/// Whether an item has only scalar values; sets and maps may be invalid in themselves.
fn is_simple_item(item: &Item) -> bool {
    item.iter().all(|(name, value)| {
        !name.is_empty() && matches!(value, AttributeValue::S(_) | AttributeValue::N(_) | AttributeValue::B(_))
    })
}

#[cfg(test)]
mod tests {
    use dynoxide::actions::get_item::GetItemRequest;
    use serde_json::{Value, json};

    use super::*;

    fn database() -> Database {
        let database = Database::memory().unwrap();
        let kinds = KEY.map(|name| json!({ "AttributeName": name, "AttributeType": "S" }));
        let keys = [(KEY[0], "HASH"), (KEY[1], "RANGE")];
        let keys = keys.map(|(name, kind)| json!({ "AttributeName": name, "KeyType": kind }));
        for table in ["letters", "others"] {
            let table = json!({
                "TableName": table, "BillingMode": "PAY_PER_REQUEST", "AttributeDefinitions": kinds, "KeySchema": keys,
            });
            database.create_table(serde_json::from_value(table).unwrap()).unwrap();
        }
        database
    }

    fn put(name: &str) -> Value {
        json!({ "PutRequest": { "Item": { "pk": { "S": "a" }, "sk": { "S": name }, "n": { "N": "1" } } } })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut put = put("1");
        put["PutRequest"]["Item"][name] = value;
        put
    }

    fn of(requests: &[Value]) -> Value {
        json!({ "RequestItems": { "letters": requests } })
    }

    fn store_if_simple(database: &Database, request: &Value) -> bool {
        let bytes = request.to_string().len();
        let request = serde_json::from_value(request.clone()).unwrap();
        is_simple(&request, bytes) && store(database, request).is_some_and(|stored| stored.is_ok())
    }

    fn has(database: &Database, name: &str) -> bool {
        let key = json!({ "pk": { "S": "a" }, "sk": { "S": name } });
        let request = json!({ "TableName": "letters", "Key": key, "ConsistentRead": true });
        let request: GetItemRequest = serde_json::from_value(request).unwrap();
        database.get_item(request).unwrap().item.is_some()
    }

    #[test]
    fn simple_items_are_stored_in_one_import() {
        let database = database();
        assert!(store_if_simple(&database, &of(&[put("1"), put("2"), with("sk", json!({ "S": "3" }))])));
        assert!(["1", "2", "3"].iter().all(|name| has(&database, name)));
        let full_batch: Vec<_> = (0..MAX_ITEMS).map(|number| put(&number.to_string())).collect();
        assert!(store_if_simple(&database, &of(&full_batch)), "over those that are there, too");
    }

    #[test]
    fn complex_batches_are_left_to_the_database() {
        let database = database();
        let oversized_batch: Vec<_> = (0..=MAX_ITEMS).map(|number| put(&number.to_string())).collect();
        let mut counted = of(&[put("1")]);
        counted["ReturnConsumedCapacity"] = "TOTAL".into();
        let mut measured = of(&[put("1")]);
        measured["ReturnItemCollectionMetrics"] = "SIZE".into();
        let mut both = put("1");
        both["DeleteRequest"] = json!({ "Key": { "pk": { "S": "a" }, "sk": { "S": "2" } } });
        let delete = json!({ "DeleteRequest": both["DeleteRequest"] });
        let complex_batches = [
            of(&[]),
            of(&oversized_batch),
            of(&[put("1"), put("1")]),
            of(&[put("1"), delete]),
            of(&[both]),
            of(&[put("1"), json!({})]),
            of(&[with("", json!({ "S": "nameless" }))]),
            of(&[with("map", json!({ "M": { "": { "S": "nameless" } } }))]),
            of(&[with("set", json!({ "SS": ["a", "a"] }))]),
            of(&[with("pk", json!({ "N": "1" }))]),
            of(&[with("sk", json!({ "S": "" })), put("1")]),
            of(&[put("1"), json!({ "PutRequest": { "Item": { "pk": { "S": "a" } } } })]),
            of(&[with("text", json!({ "S": "x".repeat(MAX_ITEM_BYTES) }))]),
            json!({ "RequestItems": { "letters": [put("1")], "others": [put("1")] } }),
            json!({ "RequestItems": { "nowhere": [put("1")] } }),
            json!({ "RequestItems": {} }),
            counted,
            measured,
        ];
        for request in complex_batches {
            assert!(!store_if_simple(&database, &request), "{request}");
            assert!(!has(&database, "1"), "{request}");
        }
    }
}
