use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::images::WrittenItem;
use crate::keys::{kind, kind_of_partition};

/// A request to DynamoDB with the units that it consumes.
#[derive(Clone, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The operation's name in the API.
    pub operation: String,
    /// The kinds of the items, each with its action if that differs from the operation.
    pub items: Vec<String>,
    /// Read request units.
    pub read: f64,
    /// Write request units, without those of the index.
    pub write: f64,
    /// Write request units of the index.
    pub index: f64,
    /// Whether a condition failed, which is charged, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

impl Request {
    /// Parses a request and the consumed units of its response.
    pub(crate) fn read(operation: &str, question: &Value, answer: &Value) -> Self {
        let mut request = Self {
            operation: operation.to_owned(),
            items: items(question),
            read: 0.0,
            write: 0.0,
            index: 0.0,
            refused: false,
        };
        match &answer["ConsumedCapacity"] {
            Value::Array(tables) => tables.iter().for_each(|table| request.add(table)),
            Value::Null => request.add_refused(answer),
            table => request.add(table),
        }
        request
    }

    fn add(&mut self, table: &Value) {
        let units = |what: &Value| what["CapacityUnits"].as_f64().unwrap_or_default();
        if matches!(&*self.operation, "GetItem" | "Query" | "BatchGetItem" | "Scan") {
            self.read += units(table);
            return;
        }
        let indexes = table["LocalSecondaryIndexes"].as_object().into_iter().flatten();
        self.index += indexes.map(|(_, index)| units(index)).sum::<f64>();
        self.write += units(&table["Table"]);
    }

    /// Counts a failed condition. It costs the prevented write of the existing item, at least one unit. The cost of a
    /// cancelled transaction is not implemented, so none may occur.
    fn add_refused(&mut self, answer: &Value) {
        let kind = answer["__type"].as_str().unwrap_or_default();
        assert!(kind.ends_with("#ConditionalCheckFailedException"), "{}: {answer}", self.operation);
        let size = match serde_json::from_value(answer["Item"].clone()) {
            Ok(item) => dynoxide::types::item_size(&item),
            Err(_) => 0,
        };
        self.refused = true;
        self.write = dynoxide::types::write_capacity_units(size);
    }

    /// Checks the database's report of a write against the documented rules.
    pub(crate) fn check_against_rules(&self, written: &[WrittenItem]) {
        let write: f64 = written.iter().map(|item| item.write).sum();
        let index: f64 = written.iter().map(|item| item.index).sum();
        assert!(self.read > 0.0 || (self.write, self.index) == (write, index), "{self:?}: {written:?}");
    }

    /// Whether it repeats while a turn runs, so that its number depends on the duration: a renewal of the lease, or a
    /// write of the turn's log.
    pub fn depends_on_duration(&self) -> bool {
        (self.operation == "UpdateItem" && self.is_all("head")) || self.is_log_write()
    }

    /// Whether it writes only to a turn's log.
    pub(crate) fn is_log_write(&self) -> bool {
        self.is_all("put log")
    }

    fn is_all(&self, kind: &str) -> bool {
        self.items.iter().all(|item| item == kind)
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, items, read, write, index, refused } = self;
        let refused = if *refused { ", refused" } else { "" };
        write!(f, "{operation} of {}: {read} + {write} + {index}{refused}", items.join(", "))
    }
}

fn items(question: &Value) -> Vec<String> {
    if let Some(parts) = question["TransactItems"].as_array() {
        return parts.iter().filter_map(|part| part.as_object()?.iter().next()).map(in_transaction).collect();
    }
    if let Some(tables) = question["RequestItems"].as_object() {
        if tables.values().any(|table| table["Keys"].is_array()) {
            let keys = tables.values().filter_map(|table| table["Keys"].as_array()).flatten();
            return keys.map(|key| kind(key).to_owned()).collect();
        }
        let requests = tables.values().filter_map(Value::as_array).flatten();
        return requests.filter_map(|request| request.as_object()?.iter().next()).map(in_batch).collect();
    }
    if question["KeyConditionExpression"].is_string() {
        let partition = question["ExpressionAttributeValues"][":pk"]["S"].as_str().unwrap_or_default();
        return vec![kind_of_partition(partition).to_owned()];
    }
    let key = if question["Key"].is_object() { &question["Key"] } else { &question["Item"] };
    vec![kind(key).to_owned()]
}

fn in_transaction((action, about): (&String, &Value)) -> String {
    let key = if about["Key"].is_object() { &about["Key"] } else { &about["Item"] };
    format!("{} {}", action.to_lowercase(), kind(key))
}

fn in_batch((action, about): (&String, &Value)) -> String {
    match action.as_str() {
        "PutRequest" => format!("put {}", kind(&about["Item"])),
        _ => format!("delete {}", kind(&about["Key"])),
    }
}
