//! Deletion of an owner's items by their keys alone: a user may request it, and it reads no other user's items.

use std::time::{Duration, SystemTime};

use tokio::time::sleep;

use crate::conversations::{HEAD_PREFIX, IMPORTING_PREFIX};
use crate::item::ItemExt;
use crate::key::{OwnerPartitions, SK};
use crate::owners::list_error;
use crate::{ConversationStore, DeletionCounts, KeyError, ReadError, Result, Store};
use domain::Owner;

/// The maximum time until a turn at another instance has noticed that its conversation is gone and has recorded its
/// usage. If its client does not read, it notices half a second later.
const TURN_END_GRACE: Duration = ConversationStore::RENEWAL.saturating_add(Duration::from_secs(2));

impl Store {
    /// Deletes everything that an owner has.
    ///
    /// Conversations are deleted first, each with its messages before its head, so that the next call completes an
    /// interrupted one. If a turn ran, this waits for its end, because its usage is recorded in any case. Conversations
    /// begun meanwhile are deleted the same way, so this lasts while new turns begin. Keys are deleted last, or the
    /// owner could not call again; an administrator's keys first lose their rights, unless nobody else could administer.
    /// Leftovers of earlier interrupted deletions of single conversations remain;
    /// [`delete_owner`](Store::delete_owner) finds those too.
    pub async fn erase(&self, owner: &Owner, now: SystemTime) -> Result<DeletionCounts, KeyError> {
        self.keys.resign(owner).await?;
        let mut conversations = 0;
        loop {
            let (found, ran) = self.erase_conversations(owner, now).await?;
            conversations += found;
            if !ran {
                break;
            }
            sleep(TURN_END_GRACE).await;
        }
        let [data, _] = &self.tables;
        let (late, mut others) = self.erase_owner_partition(owner, now).await?;
        conversations += late;
        others += data.delete_partition(&owner.usage_partition()).await?;
        others += self.ledger.unlist_owner(owner).await?;
        others += self.articles.delete_by_owner(owner).await?;
        others += self.files.delete_by_owner(owner).await?;
        others += self.idempotency.delete_by_owner(owner).await?;
        others += self.executions.delete_by_owner(owner).await?;
        let keys = self.keys.delete_resigned(owner).await?;
        Ok(DeletionCounts { keys, conversations, others })
    }

    /// Returns the number of conversations, and whether a turn ran in one.
    pub(crate) async fn erase_conversations(&self, owner: &Owner, now: SystemTime) -> Result<(usize, bool)> {
        let (mut count, mut ran) = (0, false);
        loop {
            let page = self.conversations.list(owner, 100, None).await.map_err(list_error)?;
            if page.items.is_empty() {
                return Ok((count, ran));
            }
            for conversation in page.items {
                ran |= self.erase_conversation(owner, &conversation.id, now).await.map_err(list_error)?;
                count += 1;
            }
        }
    }

    /// Deletes the items in the owner's own partition: new heads with their conversations' items, and everything else.
    /// Returns the number of each.
    async fn erase_owner_partition(&self, owner: &Owner, now: SystemTime) -> Result<(usize, usize)> {
        let [data, _] = &self.tables;
        let (mut heads, mut others) = (0, 0);
        let mut pages = data.pages(data.query(&owner.partition()).projection_expression("pk, sk"));
        while let Some(keys) = pages.next().await? {
            let mut rest = Vec::with_capacity(keys.len());
            for key in keys {
                if let Some(id) = key.text(SK)?.strip_prefix(HEAD_PREFIX) {
                    self.erase_conversation(owner, id, now).await.map_err(list_error)?;
                    heads += 1;
                    continue;
                }
                if let Some(id) = key.text(SK)?.strip_prefix(IMPORTING_PREFIX) {
                    self.conversations.delete_items(owner, id).await?;
                }
                rest.push(key);
            }
            others += rest.len();
            data.delete_all(rest).await?;
        }
        Ok((heads, others))
    }

    async fn erase_conversation(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<bool, ReadError> {
        let ran = match self.conversations.running_turn(owner, id, now).await {
            // Another request deleted it first, or it is temporary and expired, but still stored.
            Err(ReadError::NotFound) => false,
            running => running?.is_some(),
        };
        self.conversations.delete_items(owner, id).await?;
        match self.conversations.delete(owner, id).await {
            Ok(()) | Err(ReadError::NotFound) => {}
            Err(error) => return Err(error),
        }
        self.streams.delete_logs(owner, id, None).await?;
        Ok(ran)
    }
}
