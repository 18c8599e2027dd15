use std::collections::HashMap;

use aws_sdk_dynamodb::types::{DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest};

use crate::backoff::back_off;
use crate::error::classify;
use crate::item::Item;
use crate::key::{Key, PK, SK};
use crate::schema::SCHEMA;
use crate::table::Table;
use crate::{Result, StoreError};

const MAX_BATCH_ITEMS: usize = 25;

pub(crate) const MAX_READ_ITEMS: usize = 100;

/// How often the rest of a batch is resent while the database accepts only a part of it.
const MAX_ATTEMPTS: u32 = 8;

impl Table {
    /// Deletes the items with these primary keys, of which they may have further attributes; missing items are no error.
    pub(crate) async fn delete_all(&self, items: Vec<Item>) -> Result<()> {
        let deletion = |mut item: Item| {
            item.retain(|name, _| name == PK || name == SK);
            let request = DeleteRequest::builder().set_key(Some(item)).build().ok();
            WriteRequest::builder().set_delete_request(request).build()
        };
        self.write_all(items.into_iter().map(deletion)).await
    }

    /// Deletes a partition page by page; returns the number of items.
    pub(crate) async fn delete_partition(&self, partition: &str) -> Result<usize> {
        self.delete_queried(self.query(partition)).await
    }

    /// Stores these items and overwrites existing ones.
    pub(crate) async fn put_all(&self, items: Vec<Item>) -> Result<()> {
        let put = |item| {
            let request = PutRequest::builder().set_item(Some(item)).build().ok();
            WriteRequest::builder().set_put_request(request).build()
        };
        self.write_all(items.into_iter().map(put)).await
    }

    /// Reads the items with these keys, at most [`MAX_READ_ITEMS`] different ones; missing items are left out.
    pub(crate) async fn get_all(&self, keys: Vec<Key>) -> Result<Vec<Item>> {
        let (mut keys, mut items): (Vec<Item>, _) = (keys.iter().map(Key::attributes).collect(), Vec::new());
        for attempt in 0..MAX_ATTEMPTS {
            if keys.is_empty() {
                return Ok(items);
            }
            let request = KeysAndAttributes::builder().set_keys(Some(keys)).consistent_read(true).build().ok();
            let requests = request.map(|request| HashMap::from([(self.name.to_string(), request)]));
            let call = self.client.batch_get_item().set_request_items(requests);
            let answer = Box::pin(call.send()).await.map_err(|error| classify("BatchGetItem", &error))?;
            let read = answer.responses.unwrap_or_default().into_values().flatten();
            items.extend(read.map(|item| SCHEMA.upgrade(item)));
            keys = answer.unprocessed_keys.unwrap_or_default().into_values().flat_map(|rest| rest.keys).collect();
            if !keys.is_empty() {
                back_off(attempt).await;
            }
        }
        Err(StoreError::Busy)
    }

    async fn write_all(&self, mut requests: impl ExactSizeIterator<Item = WriteRequest>) -> Result<()> {
        while requests.len() > 0 {
            self.write_batch(requests.by_ref().take(MAX_BATCH_ITEMS).collect()).await?;
        }
        Ok(())
    }

    /// Sends a batch until the database has accepted all of it.
    async fn write_batch(&self, requests: Vec<WriteRequest>) -> Result<()> {
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
