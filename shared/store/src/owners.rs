//! Who owns things, by the way in which that was established, and the end of everything that an owner has.
//!
//! The way is a part of the name, so that somebody who may call himself anything where authentication is off is never
//! the one who has a key or a token, whatever is in the tables.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;

use crate::error::sort;
use crate::item::{Item, s};
use crate::table::Table;
use crate::{Owner, ReadError, Store, StoreError, executions, limits};

impl Owner {
    /// Who only says to be `name`, where authentication is off.
    pub fn unverified(name: &str) -> Self {
        Self::new(format!("name:{name}"))
    }

    /// Who holds a key that was made for `name`.
    pub fn key_holder(name: &str) -> Self {
        Self::new(format!("key:{name}"))
    }

    /// Whom an issuer vouches for. An issuer is an address and holds no space, so no two pairs give one owner.
    pub fn subject(issuer: &str, subject: &str) -> Self {
        Self::new(format!("token:{issuer} {subject}"))
    }

    /// What the owner's turns are limited by.
    pub fn turns(&self) -> String {
        format!("chat:{}", self.as_str())
    }
}

/// What a deletion found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deleted {
    /// Keys.
    pub keys: usize,
    /// Conversations.
    pub conversations: usize,
    /// Items that lay outside of conversations, or were left of ones that had been deleted before.
    pub others: usize,
}

impl Store {
    /// Deletes everything that an owner has, in both tables; a call that broke off is completed by the next one.
    ///
    /// Keys go first, so that nothing new comes; an instance that knows a key forgets it within a minute. Then go
    /// conversations, which ends the turns that run in them. Last, both tables are read through for what else is kept
    /// under the owner's name: that takes as long as they are large, and nothing can be overlooked.
    pub async fn delete_owner(&self, owner: &Owner) -> Result<Deleted, StoreError> {
        let keys = self.keys.delete_of(owner).await?;
        let conversations = self.delete_conversations(owner).await?;
        let mut others = 0;
        for table in &self.tables {
            others += sweep(table, owner).await?;
        }
        Ok(Deleted { keys, conversations, others })
    }

    async fn delete_conversations(&self, owner: &Owner) -> Result<usize, StoreError> {
        let mut deleted = BTreeSet::new();
        loop {
            let page = self.conversations.list(owner, 100, None).await.map_err(unlisted)?;
            if page.items.is_empty() {
                return Ok(deleted.len());
            }
            for conversation in page.items {
                match self.conversations.delete(owner, &conversation.id).await {
                    // Somebody else was faster.
                    Ok(()) | Err(ReadError::NotFound) => deleted.insert(conversation.id),
                    Err(error) => return Err(unlisted(error)),
                };
            }
        }
    }
}

pub(crate) fn unlisted(error: ReadError) -> StoreError {
    match error {
        ReadError::Store(error) => error,
        ReadError::NotFound | ReadError::BadCursor => StoreError::fault("conversations that cannot be listed"),
    }
}

/// Deletes what lies in an owner's partition and in those whose keys begin with it; gives the number of items.
async fn sweep(table: &Table, owner: &Owner) -> Result<usize, StoreError> {
    let (mut start, mut count) = (None, 0);
    loop {
        let answer = Box::pin(of_owner(table, owner).set_exclusive_start_key(start).send()).await;
        let answer = answer.map_err(|error| sort("Scan", &error))?;
        let keys: Vec<Item> = answer.items.unwrap_or_default();
        table.delete_all(&keys).await?;
        count += keys.len();
        start = answer.last_evaluated_key;
        if start.is_none() {
            return Ok(count);
        }
    }
}

/// Owners' names hold no `#`, so that what begins with a partition and `#` is nobody else's. Of what lies elsewhere, keys
/// of calls name the partition that they lead to, and limits the owner.
fn of_owner(table: &Table, owner: &Owner) -> ScanFluentBuilder {
    let partition = owner.partition();
    let scan = table.client.scan().table_name(&*table.name).consistent_read(true).projection_expression("pk, sk");
    scan.filter_expression("pk = :own OR begins_with(pk, :under) OR #under = :calls OR begins_with(pk, :limit)")
        .expression_attribute_names("#under", executions::UNDER)
        .expression_attribute_values(":calls", s(executions::partition(owner)))
        .expression_attribute_values(":limit", s(limits::of_any_size(&owner.turns())))
        .expression_attribute_values(":under", s(format!("{partition}#")))
        .expression_attribute_values(":own", s(partition))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn f119_owners_of_different_kinds_never_meet() {
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
