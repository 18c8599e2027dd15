use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{CancellationReason, TransactWriteItem};
use domain::new_id;

use crate::backoff::back_off;
use crate::error::{classify, is_busy};
use crate::item::Item;
use crate::schema::SCHEMA;
use crate::table::{Table, WriteOutcome};
use crate::{Result, StoreError};

/// How often a transaction is sent while others hold its items, or the table is throttled.
const MAX_ATTEMPTS: u32 = 5;

#[derive(Debug)]
pub(crate) enum TransactionOutcome {
    /// All writes were applied.
    Committed,
    /// Nothing was written because a condition failed. Holds the first such item; `None` when there is none.
    ConditionFailed(Option<Item>),
    /// Nothing was written because another transaction held one of the items, or the table is throttled.
    Conflict,
}

impl Table {
    /// Applies all writes or none. The token makes the SDK's own retries of one call idempotent.
    pub(crate) async fn transact(&self, items: Vec<TransactWriteItem>) -> Result<TransactionOutcome> {
        let call = self.client.transact_write_items().set_transact_items(Some(items)).client_request_token(new_id());
        match Box::pin(call.send()).await {
            Ok(_) => Ok(TransactionOutcome::Committed),
            Err(error) => match error.as_service_error() {
                Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
                    classify_cancellation(canceled.cancellation_reasons())
                }
                _ => Err(classify("TransactWriteItems", &error)),
            },
        }
    }

    /// Applies all writes or none, and tries again while other transactions hold an item or the table is throttled.
    pub(crate) async fn commit(&self, writes: Vec<TransactWriteItem>) -> Result<WriteOutcome> {
        for attempt in 0..MAX_ATTEMPTS {
            match self.transact(writes.clone()).await? {
                TransactionOutcome::Committed => return Ok(WriteOutcome::Written(None)),
                TransactionOutcome::ConditionFailed(item) => return Ok(WriteOutcome::ConditionFailed(item)),
                TransactionOutcome::Conflict => back_off(attempt).await,
            }
        }
        Err(StoreError::Busy)
    }
}

/// Classifies the reasons, one for each item. A failed condition takes precedence over a conflict.
fn classify_cancellation(reasons: &[CancellationReason]) -> Result<TransactionOutcome> {
    let code = |reason: &CancellationReason| reason.code.clone().unwrap_or_default();
    if let Some(refused) = reasons.iter().find(|reason| code(reason) == "ConditionalCheckFailed") {
        return SCHEMA.check_conflict(refused.item.clone()).map(TransactionOutcome::ConditionFailed);
    }
    if reasons.iter().any(|reason| code(reason) == "TransactionConflict" || is_busy(&code(reason))) {
        return Ok(TransactionOutcome::Conflict);
    }
    let codes: Vec<String> = reasons.iter().map(code).filter(|code| code != "None").collect();
    Err(StoreError::fault(format!("TransactWriteItems: {}", codes.join(", "))))
}
