use super::ConversationStore;
use super::head::head_key;
use crate::StoreError;
use crate::item::{Item, Read, item, s};
use crate::key::{Key, Owner, encode};
use crate::table::Expression;

/// What the sort keys of chat ids begin with.
pub(crate) const CHAT_PREFIX: &str = "N#";

/// The attribute of a head that holds the chat id under which its conversation was made.
pub(crate) const CHAT: &str = "chat";

/// The attribute of a chat id's item that says where it leads.
pub(crate) const LEADS_TO: &str = "conversation";

impl ConversationStore {
    /// The conversation that a client knows by this id: the one that was made under it, else the one whose own id it is.
    ///
    /// The same chat id of another owner is another chat.
    pub async fn of_chat(&self, owner: &Owner, chat_id: &str) -> Result<Option<String>, StoreError> {
        match self.table.get(&chat_key(owner, chat_id)).await? {
            Some(item) => Ok(Some(item.text(LEADS_TO)?.to_owned())),
            None => Ok(self.head(owner, chat_id).await?.map(|head| head.id)),
        }
    }

    /// What the user said last in a conversation; `None` where that is not known.
    pub async fn last_asked(&self, owner: &Owner, conversation: &str) -> Result<Option<String>, StoreError> {
        let Some(head) = self.head(owner, conversation).await? else { return Ok(None) };
        self.asked_before(&owner.conversation_partition(conversation), head.tip).await
    }

    /// Frees the chat id of a conversation that is about to be deleted.
    pub(super) async fn free_chat(&self, owner: &Owner, conversation: &str) -> Result<(), StoreError> {
        let head = self.table.get(&head_key(owner, conversation)).await?.unwrap_or_default();
        if head.contains_key(CHAT) {
            let ours = Expression::when(format!("{LEADS_TO} = :id")).value(":id", s(conversation));
            self.table.delete_where(&chat_key(owner, head.text(CHAT)?), ours).await?;
        }
        Ok(())
    }
}

/// What leads from a chat id to its conversation.
pub(super) fn chat_item(owner: &Owner, chat_id: &str, conversation: &str) -> Item {
    item(&chat_key(owner, chat_id), [(LEADS_TO, s(conversation))])
}

fn chat_key(owner: &Owner, chat_id: &str) -> Key {
    chat_key_in(owner.partition(), chat_id)
}

/// Where a chat id of the owner of this partition lies.
pub(crate) fn chat_key_in(partition: impl Into<String>, chat_id: &str) -> Key {
    Key::new(partition, format!("{CHAT_PREFIX}{}", encode(chat_id)))
}
