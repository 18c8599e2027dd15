//! What the database does for requests that come through the channel: the operations that this project asks for.

use std::time::Instant;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::http::{HttpError, StatusCode};
use aws_smithy_types::body::SdkBody;
use dynoxide::actions::batch_write_item::BatchWriteItemResponse;
use dynoxide::actions::transact_write_items::TransactWriteItemsRequest;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::puts;
use super::tokens::{self, Tokens};

/// What the SDK's requests name an operation with.
const TARGET: &str = "DynamoDB_20120810.";

/// Does what a body asks for; `None`, and nothing done, where it cannot be read.
pub(super) type Operation = fn(&Served, &[u8]) -> Option<Answer>;

/// The database, and what is known of the transactions that came through the channel.
pub(super) struct Served {
    pub(super) database: Database,
    pub(super) tokens: Tokens,
}

/// What DynamoDB says to a request.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    status: u16,
    json: Vec<u8>,
}

impl Answer {
    /// What was asked for is done, and this is said of it.
    pub(super) fn done(json: Vec<u8>) -> Self {
        Self { status: 200, json }
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == 200
    }

    /// The same as the SDK reads it; an error where the status is none.
    pub(super) fn into_response(self) -> Result<HttpResponse, HttpError> {
        Ok(HttpResponse::new(StatusCode::try_from(self.status)?, SdkBody::from(self.json)))
    }
}

/// The operation that a request names with `x-amz-target`: one of those that this project asks for.
pub(super) fn named(target: &str) -> Option<Operation> {
    Some(match target.strip_prefix(TARGET)? {
        "BatchWriteItem" => write_batch,
        "CreateTable" => |served, body| run(body, |request| served.database.create_table(request)),
        "DeleteItem" => |served, body| run(body, |request| served.database.delete_item(request)),
        "DescribeTable" => |served, body| run(body, |request| served.database.describe_table(request)),
        "DescribeTimeToLive" => |served, body| run(body, |request| served.database.describe_time_to_live(request)),
        "GetItem" => |served, body| run(body, |request| served.database.get_item(request)),
        "ListTables" => |served, body| run(body, |request| served.database.list_tables(request)),
        "PutItem" => |served, body| run(body, |request| served.database.put_item(request)),
        "Query" => |served, body| run(body, |request| served.database.query(request)),
        "Scan" => |served, body| run(body, |request| served.database.scan(request)),
        "TransactWriteItems" => transact,
        "UpdateItem" => |served, body| run(body, |request| served.database.update_item(request)),
        "UpdateTimeToLive" => |served, body| run(body, |request| served.database.update_time_to_live(request)),
        _ => return None,
    })
}

/// A body that cannot be read changes nothing; the HTTP server says what is wrong with it.
fn run<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    act: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Option<Answer> {
    let request = serde_json::from_slice(body).ok()?;
    Some(told(act(request)))
}

fn write_batch(served: &Served, body: &[u8]) -> Option<Answer> {
    let request = serde_json::from_slice(body).ok()?;
    if !puts::are_plain(&request, body.len()) {
        return Some(told(served.database.batch_write_item(request)));
    }
    match puts::store(&served.database, request) {
        Some(stored) => Some(told(stored.map(|()| BatchWriteItemResponse::default()))),
        None => run(body, |request| served.database.batch_write_item(request)),
    }
}

fn transact(served: &Served, body: &[u8]) -> Option<Answer> {
    let mut request: TransactWriteItemsRequest = serde_json::from_slice(body).ok()?;
    let token = request.client_request_token.take_if(|token| token.len() <= tokens::LONGEST);
    let act = || told(served.database.transact_write_items(request));
    Some(match token {
        Some(token) => served.tokens.once(&token, body, Instant::now(), act),
        None => act(),
    })
}

fn told<A: Serialize>(outcome: Result<A, DynoxideError>) -> Answer {
    outcome.and_then(|answer| json(&answer)).map_or_else(Answer::from, Answer::done)
}

impl From<DynoxideError> for Answer {
    fn from(error: DynoxideError) -> Self {
        Self { status: error.status_code(), json: error.to_json().into_bytes() }
    }
}

fn json<A: Serialize>(answer: &A) -> Result<Vec<u8>, DynoxideError> {
    serde_json::to_vec(answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
