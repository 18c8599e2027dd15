use std::time::SystemTime;

use super::head::{ARCHIVED, Head, PINNED, TITLE_FROM, has_expired, head_key, truncate_title};
use super::{Conversation, ConversationStore, ReadError, TitleSource};
use crate::clock::millis;
use crate::item::{ItemExt, n, s, variant};
use crate::key::is_ulid;
use crate::table::{Expression, WriteOutcome};
use crate::{EXPIRES, UPDATED_AT};
use domain::Owner;

/// What an owner changes of a conversation; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationEdit {
    /// At most 200 characters; a longer one is truncated.
    pub title: Option<String>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
    /// Whether it is archived.
    pub archived: Option<bool>,
}

impl ConversationStore {
    /// Changes a conversation; one that is temporary is not found. Only a title moves it to the top of the list.
    pub async fn edit(
        &self,
        owner: &Owner,
        id: &str,
        edit: &ConversationEdit,
        now: SystemTime,
    ) -> Result<Conversation, ReadError> {
        if !is_ulid(id) {
            return Err(ReadError::NotFound);
        }
        let change = edit.expression(now).and_when(format!("attribute_exists(pk) AND attribute_not_exists({EXPIRES})"));
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
        let expires_secs = self.release_chat_id(owner, id).await?.optional_number(EXPIRES)?;
        let head = self.table.delete(&head_key(owner, id)).await?;
        let rest = self.delete_items(owner, id).await?;
        match head {
            // Without a head there may be leftovers of an interrupted deletion, or of this one's first attempt.
            WriteOutcome::ConditionFailed(_) if rest == 0 => Err(ReadError::NotFound),
            _ if has_expired(expires_secs, SystemTime::now()) => Err(ReadError::NotFound),
            _ => Ok(()),
        }
    }
}

impl ConversationEdit {
    fn expression(&self, now: SystemTime) -> Expression {
        let title = self.title.as_ref().map(|title| {
            let source = (TITLE_FROM, variant(TitleSource::User));
            [("title", s(truncate_title(title))), source, (UPDATED_AT, n(millis(now)))]
        });
        let flags = [(PINNED, self.pinned), (ARCHIVED, self.archived)];
        let marked = flags.into_iter().filter(|(_, flag)| *flag == Some(true)).map(|(name, _)| (name, n(1)));
        let change = Expression::set(title.into_iter().flatten().chain(marked));
        let unmarked = flags.into_iter().filter(|(_, flag)| *flag == Some(false)).map(|(name, _)| name);
        match unmarked.collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => change,
            names if change.values.is_empty() => Expression::update(format!("REMOVE {names}")),
            names => change.and(&format!("REMOVE {names}")),
        }
    }
}
