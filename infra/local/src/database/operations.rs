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

/// Executes a request body.
type Execute = fn(&Database, &[u8]) -> Answer;

/// An operation of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Operation {
    pub(super) execute: Execute,
    /// Whether a request body only deletes items.
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

fn find_operation(name: &str) -> Option<Execute> {
    item_operation(name).or_else(|| table_operation(name)).or_else(|| other_operation(name))
}

fn item_operation(name: &str) -> Option<Execute> {
    Some(match name {
        "BatchGetItem" => |database, body| run(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => write_batch,
        "DeleteItem" => |database, body| run(body, |request| database.delete_item(request)),
        "GetItem" => |database, body| run(body, |request| database.get_item(request)),
        "PutItem" => |database, body| run(body, |request| database.put_item(request)),
        "Query" => |database, body| run(body, |request| database.query(request)),
        "Scan" => |database, body| run(body, |request| database.scan(request)),
        "TransactGetItems" => |database, body| run(body, |request| database.transact_get_items(request)),
        "TransactWriteItems" => |database, body| run(body, |request| database.transact_write_items(request)),
        "UpdateItem" => |database, body| run(body, |request| database.update_item(request)),
        _ => return None,
    })
}

fn table_operation(name: &str) -> Option<Execute> {
    Some(match name {
        "CreateTable" => |database, body| run(body, |request| database.create_table(request)),
        "DeleteTable" => |database, body| run(body, |request| database.delete_table(request)),
        "DescribeTable" => |database, body| run(body, |request| database.describe_table(request)),
        "DescribeTimeToLive" => |database, body| run(body, |request| database.describe_time_to_live(request)),
        "ListTables" => |database, body| run(body, |request| database.list_tables(request)),
        "UpdateTable" => |database, body| run(body, |request| database.update_table(request)),
        "UpdateTimeToLive" => |database, body| run(body, |request| database.update_time_to_live(request)),
        _ => return None,
    })
}

/// Operations that the product does not use, for programs that connect through `--dynamodb`.
fn other_operation(name: &str) -> Option<Execute> {
    Some(match name {
        "BatchExecuteStatement" => |database, body| run(body, |request| database.batch_execute_statement(request)),
        "ExecuteStatement" => |database, body| run(body, |request| database.execute_statement(request)),
        "ExecuteTransaction" => |database, body| run(body, |request| database.execute_transaction(request)),
        "ListTagsOfResource" => |database, body| run(body, |request| database.list_tags_of_resource(request)),
        "TagResource" => |database, body| run(body, |request| database.tag_resource(request)),
        "UntagResource" => |database, body| run(body, |request| database.untag_resource(request)),
        _ => return None,
    })
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
    outcome.and_then(|answer| json(&answer)).map_or_else(Answer::from, Answer::done)
}

fn json<A: Serialize>(answer: &A) -> Result<Vec<u8>, DynoxideError> {
    serde_json::to_vec(answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
