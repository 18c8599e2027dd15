use std::collections::HashMap;
use std::time::SystemTime;

use aws_sdk_dynamodb::types::{DeleteRequest, WriteRequest};

use super::head::{Head, bounded_title, head_key};
use super::{Conversation, ConversationStore, ReadError};
use crate::clock::millis;
use crate::error::sort;
use crate::item::{Item, n, s};
use crate::key::{Owner, is_ulid};
use crate::pause::pause;
use crate::table::{Expression, Write};
use crate::{StoreError, UPDATED_AT};

/// The most items of one batch.
const BATCH: usize = 25;

/// How often the rest of a batch is sent again while the database takes only a part of it.
const ATTEMPTS: u32 = 8;

impl ConversationStore {
    /// Gives it another title; what is longer than 200 characters is cut.
    pub async fn rename(
        &self,
        owner: &Owner,
        id: &str,
        title: &str,
        now: SystemTime,
    ) -> Result<Conversation, ReadError> {
        if !is_ulid(id) {
            return Err(ReadError::NotFound);
        }
        let change = Expression::update(format!("SET title = :title, {UPDATED_AT} = :updated"))
            .and_when("attribute_exists(pk)")
            .value(":title", s(bounded_title(title)))
            .value(":updated", n(millis(now)));
        match self.table.update_and_read(&head_key(owner, id), change).await? {
            Write::Done(item) => Ok(Head::read(&item.unwrap_or_default())?.into_conversation()),
            Write::Refused(_) => Err(ReadError::NotFound),
        }
    }

    /// Deletes it and everything under it; a turn that runs there loses its lease.
    ///
    /// The head goes first: from then on nothing can be written under it. A deletion that broke off is completed by the
    /// next one, which succeeds too; after that the conversation is not found.
    pub async fn delete(&self, owner: &Owner, id: &str) -> Result<(), ReadError> {
        if !is_ulid(id) {
            return Err(ReadError::NotFound);
        }
        let head = self.table.delete(&head_key(owner, id)).await?;
        let rest = self.delete_under(&owner.conversation_partition(id)).await?;
        match head {
            // Without a head there may be the rest of a deletion that broke off, or of this one's first attempt.
            Write::Refused(_) if rest == 0 => Err(ReadError::NotFound),
            _ => Ok(()),
        }
    }

    /// Deletes a partition page by page; gives the number of items.
    async fn delete_under(&self, partition: &str) -> Result<usize, StoreError> {
        let (mut start, mut count) = (None, 0);
        loop {
            let call = self.table.query(partition).key_condition_expression("pk = :pk").projection_expression("pk, sk");
            let (keys, next) = self.table.page(call, start).await?;
            for batch in keys.chunks(BATCH) {
                self.delete_batch(batch).await?;
            }
            count += keys.len();
            start = next;
            if start.is_none() {
                return Ok(count);
            }
        }
    }

    /// Sends a batch until the database has taken all of it.
    async fn delete_batch(&self, keys: &[Item]) -> Result<(), StoreError> {
        let mut left = HashMap::from([(self.table.name.to_string(), deletions(keys)?)]);
        for attempt in 0..ATTEMPTS {
            let call = self.table.client.batch_write_item().set_request_items(Some(left));
            let answer = Box::pin(call.send()).await.map_err(|error| sort("BatchWriteItem", &error))?;
            left = answer.unprocessed_items.unwrap_or_default();
            if left.values().all(Vec::is_empty) {
                return Ok(());
            }
            pause(attempt).await;
        }
        Err(StoreError::Busy)
    }
}

fn deletions(keys: &[Item]) -> Result<Vec<WriteRequest>, StoreError> {
    let requests = keys.iter().map(|key| {
        let request = DeleteRequest::builder().set_key(Some(key.clone())).build();
        request.map(|request| WriteRequest::builder().delete_request(request).build())
    });
    requests.collect::<Result<_, _>>().map_err(|_| StoreError::fault("BatchWriteItem: not built"))
}
