//! Owner names by authentication method, and the deletion of all items of an owner.
//!
//! The method is a part of the name. So a caller who chooses any name while authentication is off never equals the
//! holder of a key or a token, whatever is in the tables.

use std::time::SystemTime;

use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;

use crate::error::classify;
use crate::item::{Item, UNDER, s};
use crate::key::OwnerPartitions;
use crate::table::Table;
use crate::{ArticleCollection, ReadError, Result, Store, StoreError, executions, limits};
use domain::Owner;

/// The numbers of deleted items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletionCounts {
    /// Keys.
    pub keys: usize,
    /// Conversations.
    pub conversations: usize,
    /// Items outside of conversations, or left over from earlier deletions of conversations.
    pub others: usize,
}

impl Store {
    /// Deletes everything that an owner has, in both tables; the next call completes an interrupted one.
    ///
    /// Keys are deleted first, so that no new requests are accepted; an instance with a cached key drops it within a
    /// minute. Conversations follow, which ends their running turns. Last, both tables are scanned for all other items
    /// under the owner's name. That takes time in proportion to the tables' size, and misses nothing.
    pub async fn delete_owner(&self, owner: &Owner) -> Result<DeletionCounts> {
        let keys = self.keys.delete_by_owner(owner).await?;
        let (conversations, _) = self.erase_conversations(owner, SystemTime::now()).await?;
        self.articles.delete_vectors(&ArticleCollection::Of(owner.clone())).await?;
        let mut others = self.ledger.unlist_owner(owner).await?;
        for table in &self.tables {
            others += delete_scanned(table, owner).await?;
        }
        Ok(DeletionCounts { keys, conversations, others })
    }
}

pub(crate) fn list_error(error: ReadError) -> StoreError {
    match error {
        ReadError::Store(error) => error,
        ReadError::NotFound | ReadError::BadCursor => StoreError::fault("conversations that cannot be listed"),
    }
}

/// Deletes the items in an owner's partition and in the partitions that extend its key; returns the number of items.
async fn delete_scanned(table: &Table, owner: &Owner) -> Result<usize> {
    let (mut start, mut count) = (None, 0);
    loop {
        let answer = Box::pin(scan_owner(table, owner).set_exclusive_start_key(start).send()).await;
        let answer = answer.map_err(|error| classify("Scan", &error))?;
        let keys: Vec<Item> = answer.items.unwrap_or_default();
        count += keys.len();
        table.delete_all(keys).await?;
        start = answer.last_evaluated_key;
        if start.is_none() {
            return Ok(count);
        }
    }
}

/// Owners' names hold no `#`, so a partition that begins with this one and `#` belongs to the same owner. Outside of
/// these, pointers to tool calls name the partition of their row, copies of shares and ratings that of the owner, and
/// the limits of turns of earlier releases name the owner.
fn scan_owner(table: &Table, owner: &Owner) -> ScanFluentBuilder {
    let partition = owner.partition();
    let scan = table.client.scan().table_name(&*table.name).consistent_read(true).projection_expression("pk, sk");
    scan.filter_expression(
        "pk = :own OR begins_with(pk, :under) OR #under IN (:calls, :own) OR begins_with(pk, :limit)",
    )
    .expression_attribute_names("#under", UNDER)
    .expression_attribute_values(":calls", s(executions::owner_partition(owner)))
    .expression_attribute_values(":limit", s(limits::key_prefix(&format!("chat:{}", owner.as_str()))))
    .expression_attribute_values(":under", s(format!("{partition}#")))
    .expression_attribute_values(":own", s(partition))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn f119_owners_of_different_methods_never_collide() {
        let issuer = "https://id.example";
        let names = ["a", "name:a", "key:a", "token:https://id.example a", "https://id.example a", "", "#", " "];
        let owners: Vec<Owner> = names
            .iter()
            .flat_map(|name| [Owner::unverified(name), Owner::key_holder(name), Owner::subject(issuer, name)])
            .chain([Owner::subject("https://id.example/x", "a"), Owner::subject("https://id.example", "/x a")])
            .collect();
        let partitions: HashSet<String> = owners.iter().map(Owner::partition).collect();
        assert_eq!(partitions.len(), owners.len());
    }
}
