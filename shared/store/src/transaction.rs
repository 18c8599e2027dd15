use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, TransactWriteItem};
use conversation::new_id;

use crate::StoreError;
use crate::error::{is_busy, sort};
use crate::item::Item;
use crate::shape::SHAPES;

/// The outcome of a transaction.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All writes were applied.
    Done,
    /// Nothing was written because a condition failed. Holds the first such item; `None` when there is none.
    Refused(Option<Item>),
    /// Nothing was written because another transaction held one of the items.
    Conflict,
}

/// Applies all writes or none. The token makes the SDK's own retries of one call idempotent.
pub(crate) async fn transact(client: &Client, items: Vec<TransactWriteItem>) -> Result<Outcome, StoreError> {
    let call = client.transact_write_items().set_transact_items(Some(items)).client_request_token(new_id());
    match Box::pin(call.send()).await {
        Ok(_) => Ok(Outcome::Done),
        Err(error) => match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
                why(canceled.cancellation_reasons())
            }
            _ => Err(sort("TransactWriteItems", &error)),
        },
    }
}

/// Classifies the reasons, one for each item. A failed condition takes precedence over a conflict.
fn why(reasons: &[CancellationReason]) -> Result<Outcome, StoreError> {
    let code = |reason: &CancellationReason| reason.code.clone().unwrap_or_default();
    if let Some(refused) = reasons.iter().find(|reason| code(reason) == "ConditionalCheckFailed") {
        return SHAPES.found(refused.item.clone()).map(Outcome::Refused);
    }
    if reasons.iter().any(|reason| code(reason) == "TransactionConflict") {
        return Ok(Outcome::Conflict);
    }
    if reasons.iter().any(|reason| is_busy(&code(reason))) {
        return Err(StoreError::Busy);
    }
    let codes: Vec<String> = reasons.iter().map(code).filter(|code| code != "None").collect();
    Err(StoreError::fault(format!("TransactWriteItems: {}", codes.join(", "))))
}
