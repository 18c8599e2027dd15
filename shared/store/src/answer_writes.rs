use aws_sdk_dynamodb::types::TransactWriteItem;

/// Maximum number of writes stored with an answer: a transaction has a hundred at most, and the answer's own are a few.
const MAX_WRITES: usize = 80;

/// Writes that go into the transaction of a turn's answer if they can: the end of its log, the records of its tool calls, and its
/// owner's usage.
#[derive(Clone, Debug, Default)]
pub struct AnswerWrites(pub(crate) Vec<TransactWriteItem>);

impl AnswerWrites {
    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one transaction can hold them.
    pub(crate) fn fit(&self) -> bool {
        self.0.len() <= MAX_WRITES
    }
}

impl Extend<Self> for AnswerWrites {
    fn extend<T: IntoIterator<Item = Self>>(&mut self, more: T) {
        self.0.extend(more.into_iter().flat_map(|writes| writes.0));
    }
}
