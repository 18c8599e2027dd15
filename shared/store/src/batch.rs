use std::collections::HashMap;

use aws_sdk_dynamodb::types::{DeleteRequest, PutRequest, WriteRequest};

use crate::StoreError;
use crate::backoff::back_off;
use crate::error::classify;
use crate::item::Item;
use crate::table::Table;

/// The maximum number of items in one batch.
const MAX_BATCH_ITEMS: usize = 25;

/// How often the rest of a batch is resent while the database accepts only a part of it.
const MAX_ATTEMPTS: u32 = 8;

impl Table {
    /// Deletes the items with these primary keys; missing items are no error.
    pub(crate) async fn delete_all(&self, keys: &[Item]) -> Result<(), StoreError> {
        for batch in keys.chunks(MAX_BATCH_ITEMS) {
            self.write_batch(delete_requests(batch)?).await?;
        }
        Ok(())
    }

    /// Deletes a partition page by page; returns the number of items.
    pub(crate) async fn delete_partition(&self, partition: &str) -> Result<usize, StoreError> {
        self.delete_queried(self.query(partition)).await
    }

    /// Stores these items and overwrites existing ones.
    pub(crate) async fn put_all(&self, items: Vec<Item>) -> Result<(), StoreError> {
        let mut items = items.into_iter();
        while items.len() > 0 {
            self.write_batch(put_requests(items.by_ref().take(MAX_BATCH_ITEMS))?).await?;
        }
        Ok(())
    }

    /// Sends a batch until the database has accepted all of it.
    async fn write_batch(&self, requests: Vec<WriteRequest>) -> Result<(), StoreError> {
        let mut unprocessed = HashMap::from([(self.name.to_string(), requests)]);
        for attempt in 0..MAX_ATTEMPTS {
            let call = self.client.batch_write_item().set_request_items(Some(unprocessed));
            let answer = Box::pin(call.send()).await.map_err(|error| classify("BatchWriteItem", &error))?;
            unprocessed = answer.unprocessed_items.unwrap_or_default();
            if unprocessed.values().all(Vec::is_empty) {
                return Ok(());
            }
            back_off(attempt).await;
        }
        Err(StoreError::Busy)
    }
}

fn delete_requests(keys: &[Item]) -> Result<Vec<WriteRequest>, StoreError> {
    let requests = keys.iter().map(|key| {
        let request = DeleteRequest::builder().set_key(Some(key.clone())).build();
        request.map(|request| WriteRequest::builder().delete_request(request).build())
    });
    requests.collect::<Result<_, _>>().map_err(|_| build_error())
}

fn put_requests(items: impl Iterator<Item = Item>) -> Result<Vec<WriteRequest>, StoreError> {
    let requests = items.map(|item| {
        let request = PutRequest::builder().set_item(Some(item)).build();
        request.map(|request| WriteRequest::builder().put_request(request).build())
    });
    requests.collect::<Result<_, _>>().map_err(|_| build_error())
}

fn build_error() -> StoreError {
    StoreError::fault("BatchWriteItem: not built")
}
