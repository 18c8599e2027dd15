use aws_sdk_dynamodb::types::TransactWriteItem;

/// The last events of a turn's log, to be stored in one transaction with the turn's answer.
#[derive(Clone, Debug)]
pub struct LogTail(pub(crate) TransactWriteItem);
