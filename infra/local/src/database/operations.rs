//! The DynamoDB operations that the embedded database supports, by their names in requests.

use std::time::Instant;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::http::{HttpError, StatusCode};
use aws_smithy_types::body::SdkBody;
use dynoxide::actions::batch_write_item::BatchWriteItemResponse;
use dynoxide::actions::transact_write_items::TransactWriteItemsRequest;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::bulk_put;
use super::request_tokens::{self, RequestTokens};
use super::trouble::Trouble;

/// The header with which requests name an operation.
pub(super) const TARGET: &str = "x-amz-target";

/// Prefix of the value of [`TARGET`]; the operation's name follows.
const VERSION: &str = "DynamoDB_20120810.";

/// Executes a request body.
pub(super) type Operation = fn(&ServedDatabase, &[u8]) -> Answer;

/// The database and the transactions of the last minute.
pub(super) struct ServedDatabase {
    pub(super) database: Database,
    pub(super) tokens: RequestTokens,
}

/// DynamoDB's answer to a request.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: u16,
    json: Vec<u8>,
    /// Set when the database file has a problem.
    pub(super) trouble: Option<Trouble>,
}

impl Answer {
    /// The answer to a request that succeeded.
    pub(super) fn done(json: Vec<u8>) -> Self {
        Self { status: 200, json, trouble: None }
    }

    /// An answer that was received from the database of another process.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only a Unix socket leads to another process"))]
    pub(super) fn from_remote(status: u16, json: Vec<u8>) -> Self {
        Self { status, json, trouble: None }
    }

    /// A rejection with status 400; `code` is a name that the SDK reports, such as `ValidationException`.
    pub(super) fn rejection(code: &str, message: &str) -> Self {
        Self::failure(400, code, message)
    }

    /// A failure; the SDK retries a request that fails with status 500 or higher.
    pub(super) fn failure(status: u16, code: &str, message: &str) -> Self {
        let error = json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message });
        Self { status, json: error.to_string().into_bytes(), trouble: None }
    }

    /// Marks the answer as caused by a problem with the database file.
    pub(super) fn because_of(self, trouble: Trouble) -> Self {
        Self { trouble: Some(trouble), ..self }
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == 200
    }

    /// The HTTP status and the JSON body.
    pub(super) fn into_parts(self) -> (u16, Vec<u8>) {
        (self.status, self.json)
    }

    /// Converts the answer for the SDK; an error if the status is invalid.
    pub(super) fn into_response(self) -> Result<HttpResponse, HttpError> {
        Ok(HttpResponse::new(StatusCode::try_from(self.status)?, SdkBody::from(self.json)))
    }
}

/// Returns the operation that [`TARGET`] names, or one that rejects unknown operations.
pub(super) fn operation_named(target: &str) -> Operation {
    target.strip_prefix(VERSION).and_then(find_operation).unwrap_or(|_, _| {
        Answer::rejection("UnknownOperationException", "There is no such operation in the embedded database.")
    })
}

fn find_operation(name: &str) -> Option<Operation> {
    item_operation(name).or_else(|| table_operation(name)).or_else(|| other_operation(name))
}

fn item_operation(name: &str) -> Option<Operation> {
    Some(match name {
        "BatchGetItem" => |served, body| run(body, |request| served.database.batch_get_item(request)),
        "BatchWriteItem" => write_batch,
        "DeleteItem" => |served, body| run(body, |request| served.database.delete_item(request)),
        "GetItem" => |served, body| run(body, |request| served.database.get_item(request)),
        "PutItem" => |served, body| run(body, |request| served.database.put_item(request)),
        "Query" => |served, body| run(body, |request| served.database.query(request)),
        "Scan" => |served, body| run(body, |request| served.database.scan(request)),
        "TransactGetItems" => |served, body| run(body, |request| served.database.transact_get_items(request)),
        "TransactWriteItems" => transact,
        "UpdateItem" => |served, body| run(body, |request| served.database.update_item(request)),
        _ => return None,
    })
}

fn table_operation(name: &str) -> Option<Operation> {
    Some(match name {
        "CreateTable" => |served, body| run(body, |request| served.database.create_table(request)),
        "DeleteTable" => |served, body| run(body, |request| served.database.delete_table(request)),
        "DescribeTable" => |served, body| run(body, |request| served.database.describe_table(request)),
        "DescribeTimeToLive" => |served, body| run(body, |request| served.database.describe_time_to_live(request)),
        "ListTables" => |served, body| run(body, |request| served.database.list_tables(request)),
        "UpdateTable" => |served, body| run(body, |request| served.database.update_table(request)),
        "UpdateTimeToLive" => |served, body| run(body, |request| served.database.update_time_to_live(request)),
        _ => return None,
    })
}

/// Operations that the product does not use, for programs that connect through `--dynamodb`.
fn other_operation(name: &str) -> Option<Operation> {
    Some(match name {
        "BatchExecuteStatement" => |served, body| run(body, |request| served.database.batch_execute_statement(request)),
        "ExecuteStatement" => |served, body| run(body, |request| served.database.execute_statement(request)),
        "ExecuteTransaction" => |served, body| run(body, |request| served.database.execute_transaction(request)),
        "ListTagsOfResource" => |served, body| run(body, |request| served.database.list_tags_of_resource(request)),
        "TagResource" => |served, body| run(body, |request| served.database.tag_resource(request)),
        "UntagResource" => |served, body| run(body, |request| served.database.untag_resource(request)),
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

fn unreadable() -> Answer {
    Answer::rejection("SerializationException", "The body is not a request of this operation.")
}

fn write_batch(served: &ServedDatabase, body: &[u8]) -> Answer {
    let Ok(request) = serde_json::from_slice(body) else { return unreadable() };
    if !bulk_put::is_simple(&request, body.len()) {
        return answer(served.database.batch_write_item(request));
    }
    match bulk_put::store(&served.database, request) {
        Some(stored) => answer(stored.map(|()| BatchWriteItemResponse::default())),
        None => run(body, |request| served.database.batch_write_item(request)),
    }
}

fn transact(served: &ServedDatabase, body: &[u8]) -> Answer {
    let Ok(mut request) = serde_json::from_slice::<TransactWriteItemsRequest>(body) else { return unreadable() };
    let token = request.client_request_token.take_if(|token| token.len() <= request_tokens::MAX_TOKEN_BYTES);
    let act = || answer(served.database.transact_write_items(request));
    match token {
        Some(token) => served.tokens.run_once(&token, body, Instant::now(), act),
        None => act(),
    }
}

fn answer<A: Serialize>(outcome: Result<A, DynoxideError>) -> Answer {
    outcome.and_then(|answer| json(&answer)).map_or_else(Answer::from, Answer::done)
}

impl From<DynoxideError> for Answer {
    fn from(error: DynoxideError) -> Self {
        match Trouble::of(&error) {
            Some(trouble) => trouble.answer(),
            None => Self { status: error.status_code(), json: error.to_json().into_bytes(), trouble: None },
        }
    }
}

fn json<A: Serialize>(answer: &A) -> Result<Vec<u8>, DynoxideError> {
    serde_json::to_vec(answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
