//! The DynamoDB operations that the embedded database supports, by their names in requests.

use dynoxide::actions::batch_write_item::{BatchWriteItemRequest, BatchWriteItemResponse};
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::Answer;
use super::bulk_put;

/// The header with which requests name an operation.
pub(super) const TARGET: &str = "x-amz-target";

/// Prefix of the value of [`TARGET`]; the operation's name follows.
const VERSION: &str = "DynamoDB_20120810.";

type Execute = fn(&Database, &[u8]) -> Answer;

#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) execute: Execute,
    pub(super) is_deletion: fn(&[u8]) -> bool,
}

/// Returns the operation that [`TARGET`] names, or one that rejects unknown operations.
pub(super) fn operation_named(target: &str) -> Operation {
    let name = target.strip_prefix(VERSION).unwrap_or_default();
    let execute = find_operation(name).unwrap_or(|_, _| {
        Answer::rejection("UnknownOperationException", "There is no such operation in the embedded database.")
    });
    let is_deletion: fn(&[u8]) -> bool = match name {
        "DeleteItem" => |_| true,
        "BatchWriteItem" => is_deletion_of_batch,
        _ => |_| false,
    };
    Operation { execute, is_deletion }
}

fn is_deletion_of_batch(body: &[u8]) -> bool {
    let Ok(BatchWriteItemRequest { request_items, .. }) = serde_json::from_slice(body) else { return false };
    request_items.values().flatten().all(|request| request.put_request.is_none())
}

/// A table of operations, each with the method of [`Database`] that runs its request.
macro_rules! operations {
    ($($name:literal => $method:ident,)*) => {
        fn find_operation(name: &str) -> Option<Execute> {
            Some(match name {
                "BatchWriteItem" => write_batch,
                $($name => |database, body| run(body, |request| database.$method(request)),)*
                _ => return None,
            })
        }
    };
}

operations! {
    "BatchGetItem" => batch_get_item,
    "DeleteItem" => delete_item,
    "GetItem" => get_item,
    "PutItem" => put_item,
    "Query" => query,
    "Scan" => scan,
    "TransactGetItems" => transact_get_items,
    "TransactWriteItems" => transact_write_items,
    "UpdateItem" => update_item,
    "CreateTable" => create_table,
    "DeleteTable" => delete_table,
    "DescribeTable" => describe_table,
    "DescribeTimeToLive" => describe_time_to_live,
    "ListTables" => list_tables,
    "UpdateTable" => update_table,
    "UpdateTimeToLive" => update_time_to_live,
    // The product does not use these: they are for programs that connect through `--dynamodb`.
    "BatchExecuteStatement" => batch_execute_statement,
    "ExecuteStatement" => execute_statement,
    "ExecuteTransaction" => execute_transaction,
    "ListTagsOfResource" => list_tags_of_resource,
    "TagResource" => tag_resource,
    "UntagResource" => untag_resource,
}

/// Parses the body and runs `act`; a body that cannot be parsed changes nothing.
fn run<Q: DeserializeOwned, A: Serialize>(body: &[u8], act: impl FnOnce(Q) -> Result<A, DynoxideError>) -> Answer {
    match serde_json::from_slice(body) {
        Ok(request) => answer(act(request)),
        Err(_) => unreadable(),
    }
}

fn write_batch(database: &Database, body: &[u8]) -> Answer {
    let Ok(request) = serde_json::from_slice(body) else { return unreadable() };
    if !bulk_put::is_simple(&request, body.len()) {
        return answer(database.batch_write_item(request));
    }
    match bulk_put::store(database, request) {
        Some(stored) => answer(stored.map(|()| BatchWriteItemResponse::default())),
        None => run(body, |request| database.batch_write_item(request)),
    }
}

fn unreadable() -> Answer {
    Answer::rejection("SerializationException", "The body is not a request of this operation.")
}

fn answer<A: Serialize>(outcome: Result<A, DynoxideError>) -> Answer {
    let json = |answer| serde_json::to_vec(&answer).map_err(|e| DynoxideError::InternalServerError(e.to_string()));
    outcome.and_then(json).map_or_else(Answer::from, |json| Answer::new(200, json))
}
