use std::time::SystemTime;

use super::head::{Head, head_key, truncate_title};
use super::{Conversation, ConversationStore, ReadError};
use crate::UPDATED_AT;
use crate::clock::millis;
use crate::item::{n, s};
use crate::key::{OwnerPartitions, is_ulid};
use crate::table::{Expression, WriteOutcome};
use domain::Owner;

impl ConversationStore {
    /// Changes the title of a conversation; truncates it to 200 characters.
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
        let change = Expression::set([("title", s(truncate_title(title))), (UPDATED_AT, n(millis(now)))])
            .and_when("attribute_exists(pk)");
        match self.table.update_and_read(&head_key(owner, id), change).await? {
            WriteOutcome::Written(item) => Ok(Head::read(&item.unwrap_or_default())?.into_conversation()),
            WriteOutcome::ConditionFailed(_) => Err(ReadError::NotFound),
        }
    }

    /// Deletes a conversation and everything under it; a turn that runs there loses its lease.
    ///
    /// Only the chat id is deleted before the head; after the head is deleted no write under it succeeds. The next
    /// deletion completes an interrupted one and succeeds too; after that the conversation is not found.
    pub async fn delete(&self, owner: &Owner, id: &str) -> Result<(), ReadError> {
        if !is_ulid(id) {
            return Err(ReadError::NotFound);
        }
        self.release_chat_id(owner, id).await?;
        let head = self.table.delete(&head_key(owner, id)).await?;
        let rest = self.table.delete_partition(&owner.conversation_partition(id)).await?;
        match head {
            // Without a head there may be leftovers of an interrupted deletion, or of this one's first attempt.
            WriteOutcome::ConditionFailed(_) if rest == 0 => Err(ReadError::NotFound),
            _ => Ok(()),
        }
    }
}
