//! What the database does for requests that come through the channel: the operations that this project asks for.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::http::{HttpError, StatusCode};
use aws_smithy_types::body::SdkBody;
use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the SDK's requests name an operation with.
const TARGET: &str = "DynamoDB_20120810.";

/// Does what a body asks for; `None`, and nothing done, where it cannot be read.
pub(super) type Operation = fn(&Database, &[u8]) -> Option<Answer>;

/// What DynamoDB says to a request.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    json: Vec<u8>,
}

impl Answer {
    /// The same as the SDK reads it; an error where the status is none.
    pub(super) fn into_response(self) -> Result<HttpResponse, HttpError> {
        Ok(HttpResponse::new(StatusCode::try_from(self.status)?, SdkBody::from(self.json)))
    }
}

/// The operation that a request names with `x-amz-target`: one of those that this project asks for.
pub(super) fn named(target: &str) -> Option<Operation> {
    Some(match target.strip_prefix(TARGET)? {
        "BatchWriteItem" => |database, body| run(body, |request| database.batch_write_item(request)),
        "CreateTable" => |database, body| run(body, |request| database.create_table(request)),
        "DeleteItem" => |database, body| run(body, |request| database.delete_item(request)),
        "DescribeTable" => |database, body| run(body, |request| database.describe_table(request)),
        "DescribeTimeToLive" => |database, body| run(body, |request| database.describe_time_to_live(request)),
        "GetItem" => |database, body| run(body, |request| database.get_item(request)),
        "ListTables" => |database, body| run(body, |request| database.list_tables(request)),
        "PutItem" => |database, body| run(body, |request| database.put_item(request)),
        "Query" => |database, body| run(body, |request| database.query(request)),
        "Scan" => |database, body| run(body, |request| database.scan(request)),
        "TransactWriteItems" => |database, body| run(body, |request| database.transact_write_items(request)),
        "UpdateItem" => |database, body| run(body, |request| database.update_item(request)),
        "UpdateTimeToLive" => |database, body| run(body, |request| database.update_time_to_live(request)),
        _ => return None,
    })
}

/// A body that cannot be read changes nothing; the HTTP server says what is wrong with it.
fn run<Q: DeserializeOwned, A: Serialize>(
    body: &[u8],
    act: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Option<Answer> {
    let request = serde_json::from_slice(body).ok()?;
    Some(match act(request).and_then(|answer| json(&answer)) {
        Ok(json) => Answer { status: 200, json },
        Err(error) => Answer { status: error.status_code(), json: error.to_json().into_bytes() },
    })
}

fn json<A: Serialize>(answer: &A) -> Result<Vec<u8>, DynoxideError> {
    serde_json::to_vec(answer).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
