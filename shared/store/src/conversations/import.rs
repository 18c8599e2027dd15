//! Conversations that come from another program: their messages are stored first and their head last, so that one is there
//! as a whole or not at all.

use std::time::SystemTime;

use domain::{Language, Owner, Source, new_id};

use super::bounds::{bounded_sources, split_pieces};
use super::continued::RECOVERED;
use super::head::{Head, LANGUAGE, TITLE_FROM, head_key, truncate_title};
use super::message::{PARENT, PARTS, further_items};
use super::sort_keys::message_key;
use super::transcript::TRANSCRIPT;
use super::tree::MessageTree;
use super::{ConversationStore, Role, Status, TitleSource};
use crate::clock::millis;
use crate::item::{Item, item, n, s, to_json, variant};
use crate::key::{Key, OwnerPartitions};
use crate::table::Expression;
use crate::{Result, UPDATED_AT};

/// The prefix of the sort keys, in the owner's partition, of conversations whose messages are being stored: an import that
/// never ends leaves messages without a head.
pub(crate) const IMPORTING_PREFIX: &str = "P#";

/// How many items are collected before they are written.
const ITEMS_PER_WRITE: usize = 100;

/// A conversation to be stored as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct NewConversation {
    /// At most 200 characters count.
    pub title: String,
    /// Whether its user knows it by that title.
    pub has_own_title: bool,
    /// When it began.
    pub created_at: SystemTime,
    /// When it last changed.
    pub updated_at: SystemTime,
    /// Its messages; the first one is a question.
    pub messages: Vec<NewMessage>,
    /// The index of the last message of the branch that clients show, an answer that no message follows.
    pub last: usize,
}

/// A message to be stored.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMessage {
    /// The index of the message that it follows, a lower one; `None` for a first question.
    pub parent: Option<usize>,
    /// Who wrote it.
    pub role: Role,
    /// Its text.
    pub content: String,
    /// The pages that an answer cites.
    pub sources: Vec<Source>,
    /// The name of an answer's model; may be empty.
    pub model: String,
    /// Whether the answer is complete.
    pub is_complete: bool,
    /// When it was written.
    pub created_at: SystemTime,
}

impl NewConversation {
    /// Whether it has more branches than a conversation may have.
    pub fn has_too_many_branches(&self) -> bool {
        self.tree().is_too_large()
    }

    fn tree(&self) -> MessageTree {
        let messages = self.messages.iter().enumerate();
        let message = |(at, one): (usize, &NewMessage)| (seq(at), one.parent.map_or(0, seq), one.role);
        MessageTree::of(messages.map(message), self.messages.len() as u64)
    }
}

impl ConversationStore {
    /// Stores a conversation under this id, unless the owner has it already; the same call completes one that failed.
    pub async fn import(&self, owner: &Owner, id: &str, new: &NewConversation) -> Result<()> {
        if self.head(owner, id, SystemTime::now()).await?.is_some() {
            return Ok(());
        }
        let importing = Key::new(owner.partition(), format!("{IMPORTING_PREFIX}{id}"));
        self.table.put_all(vec![item(&importing, [])]).await?;
        let (partition, mut items) = (owner.conversation_partition(id), Vec::new());
        for (at, message) in new.messages.iter().enumerate() {
            items.extend(message_items(&partition, at, message));
            if items.len() >= ITEMS_PER_WRITE {
                self.table.put_all(std::mem::take(&mut items)).await?;
            }
        }
        self.table.put_all(items).await?;
        let head = self.table.put_write(head_item(owner, id, new), Expression::when("attribute_not_exists(pk)"));
        self.table.commit(vec![head, self.table.delete_write(&importing)]).await.map(drop)
    }
}

fn seq(at: usize) -> u64 {
    at as u64 + 1
}

fn message_items(partition: &str, at: usize, message: &NewMessage) -> impl Iterator<Item = Item> {
    let (pieces, own_seq) = (split_pieces(&message.content, ""), seq(at));
    let status = if message.is_complete { Status::Complete } else { Status::Interrupted };
    let attributes = [
        ("id", s(new_id())),
        ("turn", s(new_id())),
        ("author", variant(message.role)),
        ("model", s(&message.model)),
        ("progress", variant(status)),
        ("createdAt", n(millis(message.created_at))),
        ("content", s(&pieces[0].content)),
        ("thinking", s("")),
        ("calls", s("[]")),
        ("sources", s(to_json(&bounded_sources(&message.sources)))),
        (PARTS, n(pieces.len() - 1)),
        (PARENT, n(message.parent.map_or(0, seq))),
    ];
    // An answer has no transcript and no log.
    let answer = [("endedAt", n(millis(message.created_at))), (TRANSCRIPT, n(0)), (RECOVERED, n(0))];
    let answer = answer.into_iter().filter(|_| message.role == Role::Assistant);
    let first = item(&message_key(partition, own_seq), attributes.into_iter().chain(answer));
    [first].into_iter().chain(further_items(partition, own_seq, &pieces))
}

/// The head, like those of older releases without the highest number of a page: the next turn takes the pages of the messages.
fn head_item(owner: &Owner, id: &str, new: &NewConversation) -> Item {
    let title_from = if new.has_own_title { TitleSource::User } else { TitleSource::Message };
    let attributes = [
        ("title", s(truncate_title(&new.title))),
        (TITLE_FROM, variant(title_from)),
        ("model", s(&new.messages[new.last].model)),
        (LANGUAGE, s(Language::of(&new.messages[0].content).code())),
        ("createdAt", n(millis(new.created_at))),
        (UPDATED_AT, n(millis(new.updated_at))),
        ("seq", n(new.messages.len())),
    ];
    let branches = Head::branch_attributes(&new.tree(), seq(new.last));
    item(&head_key(owner, id), attributes.into_iter().chain(branches))
}
