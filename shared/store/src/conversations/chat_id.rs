use std::time::SystemTime;

use super::head::head_key;
use super::history_builder::prompt_text;
use super::sort_keys::message_key;
use super::{ConversationStore, Role};
use crate::Result;
use crate::item::{Item, ItemExt, item, s};
use crate::key::{Key, OwnerPartitions, encode};
use crate::table::Expression;
use domain::Owner;

/// The attribute of a head with the chat id under which its conversation was created.
pub(super) const CHAT_ID_ATTRIBUTE: &str = "chat";

/// The attribute of a chat id's item with the id of its conversation.
pub(super) const CONVERSATION_ATTRIBUTE: &str = "conversation";

impl ConversationStore {
    /// The conversation for a client's chat id: the one created under it, else the one whose own id it is.
    ///
    /// The same chat id of another owner is a different chat.
    pub async fn find_by_chat_id(&self, owner: &Owner, chat_id: &str) -> Result<Option<String>> {
        match self.table.get(&chat_id_key(owner, chat_id)).await? {
            Some(item) => Ok(Some(item.text(CONVERSATION_ATTRIBUTE)?.to_owned())),
            None => Ok(self.head(owner, chat_id, SystemTime::now()).await?.map(|head| head.id)),
        }
    }

    /// The last message of the user on the shown branch of a conversation; `None` if it is unknown.
    pub async fn last_user_message(&self, owner: &Owner, conversation: &str) -> Result<Option<String>> {
        let now = SystemTime::now();
        let Some(head) = self.head_with_tree(owner, conversation, now).await? else { return Ok(None) };
        let leaf = head.shown_leaf(now);
        let question = if head.tree.role(leaf) == Some(Role::User) { leaf } else { head.tree.parent(leaf) };
        let item = self.table.get(&message_key(&owner.conversation_partition(conversation), question)).await?;
        item.map(|item| prompt_text(&item)).transpose()
    }

    /// Frees the chat id of a conversation before its deletion; returns its head.
    pub(super) async fn release_chat_id(&self, owner: &Owner, conversation: &str) -> Result<Item> {
        let head = self.table.get(&head_key(owner, conversation)).await?.unwrap_or_default();
        if head.contains_key(CHAT_ID_ATTRIBUTE) {
            let ours = Expression::when(format!("{CONVERSATION_ATTRIBUTE} = :id")).value(":id", s(conversation));
            self.table.delete_where(&chat_id_key(owner, head.text(CHAT_ID_ATTRIBUTE)?), ours).await?;
        }
        Ok(head)
    }
}

pub(super) fn chat_id_item(owner: &Owner, chat_id: &str, conversation: &str) -> Item {
    item(&chat_id_key(owner, chat_id), [(CONVERSATION_ATTRIBUTE, s(conversation))])
}

fn chat_id_key(owner: &Owner, chat_id: &str) -> Key {
    Key::new(owner.partition(), format!("N#{}", encode(chat_id)))
}
