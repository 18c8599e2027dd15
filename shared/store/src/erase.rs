//! The end of what an owner has, by its keys alone: what a user may ask for, without a look at other users' items.

use std::time::{Duration, SystemTime};

use tokio::time::sleep;

use crate::conversations::HEAD_PREFIX;
use crate::item::Read;
use crate::key::SK;
use crate::owners::unlisted;
use crate::{ConversationStore, Deleted, Owner, RateLimit, ReadError, Store, StoreError};

/// The longest until a turn elsewhere has learnt that its conversation is gone, and has counted what it used: where its
/// client does not read, it learns that half a second later.
const TURNS_END: Duration = ConversationStore::RENEWAL.saturating_add(Duration::from_secs(2));

impl Store {
    /// Deletes everything that an owner has; `limit` is the one that turns are held to.
    ///
    /// Conversations go first, each with its messages before its head, so that a call that broke off is completed by the
    /// next one. Where a turn ran, that is waited for: what it used is counted whatever becomes of it. What was begun
    /// meanwhile goes the same way, so this lasts for as long as turns are begun. Keys go last, or nobody could call
    /// again. What remains is what earlier deletions of single conversations left when they broke off;
    /// [`delete_owner`](Store::delete_owner) finds that too.
    pub async fn erase(&self, owner: &Owner, limit: RateLimit, now: SystemTime) -> Result<Deleted, StoreError> {
        let mut conversations = 0;
        loop {
            let (found, ran) = self.erase_conversations(owner, now).await?;
            conversations += found;
            if !ran {
                break;
            }
            sleep(TURNS_END).await;
        }
        let [data, _] = &self.tables;
        let (late, mut others) = self.erase_own(owner, now).await?;
        conversations += late;
        others += data.delete_partition(&owner.usage_partition()).await?;
        others += self.idempotency.delete_of(owner).await?;
        others += self.executions.delete_of(owner).await?;
        others += self.rate_limiter.forget(&owner.turns(), limit).await?;
        let keys = self.keys.delete_of(owner).await?;
        Ok(Deleted { keys, conversations, others })
    }

    /// Gives the number, and whether a turn ran in one.
    async fn erase_conversations(&self, owner: &Owner, now: SystemTime) -> Result<(usize, bool), StoreError> {
        let (mut count, mut ran) = (0, false);
        loop {
            let page = self.conversations.list(owner, 100, None).await.map_err(unlisted)?;
            if page.items.is_empty() {
                return Ok((count, ran));
            }
            for conversation in page.items {
                ran |= self.erase_conversation(owner, &conversation.id, now).await.map_err(unlisted)?;
                count += 1;
            }
        }
    }

    /// Deletes what lies in the owner's own partition: a head that has come since the last look, with what lies under it,
    /// and all else. Gives the number of each.
    async fn erase_own(&self, owner: &Owner, now: SystemTime) -> Result<(usize, usize), StoreError> {
        let [data, _] = &self.tables;
        let (mut start, mut heads, mut others) = (None, 0, 0);
        loop {
            let call = data.query(&owner.partition()).key_condition_expression("pk = :pk");
            let (keys, next) = data.page(call.projection_expression("pk, sk"), start).await?;
            let mut rest = Vec::with_capacity(keys.len());
            for key in keys {
                if let Some(id) = key.text(SK)?.strip_prefix(HEAD_PREFIX) {
                    self.erase_conversation(owner, id, now).await.map_err(unlisted)?;
                    heads += 1;
                } else {
                    rest.push(key);
                }
            }
            data.delete_all(&rest).await?;
            others += rest.len();
            start = next;
            if start.is_none() {
                return Ok((heads, others));
            }
        }
    }

    async fn erase_conversation(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<bool, ReadError> {
        let [data, _] = &self.tables;
        let erased = async {
            let ran = self.conversations.running(owner, id, now).await?.is_some();
            data.delete_partition(&owner.conversation_partition(id)).await?;
            self.conversations.delete(owner, id).await?;
            self.streams.forget(owner, id, None).await?;
            Ok(ran)
        };
        match erased.await {
            // Somebody else was faster.
            Err(ReadError::NotFound) => Ok(false),
            outcome => outcome,
        }
    }
}
