//! What a conversation has outside of its partition, because others than its owner read it: copies of shares, and ratings.
//! The sort key of an item in the partition leads to each, so it is deleted with the conversation.

use domain::Owner;

use super::ConversationStore;
use crate::Result;
use crate::item::ItemExt;
use crate::key::{Key, OwnerPartitions, SK};
use crate::table::Expression;

/// The prefix of the sort keys of a conversation's shares; the id follows.
pub(super) const SHARE_PREFIX: &str = "L#";

/// The prefix of the sort keys of a conversation's ratings; the sort key in the list follows.
pub(super) const RATED_PREFIX: &str = "F#";

/// The partition of the list of ratings; it takes a thousand of them a second.
pub(super) const FEEDBACK_PARTITION: &str = "FEEDBACK";

/// The condition on the head of a conversation that may have anything outside; the attribute's name is a reserved keyword.
pub(super) fn is_lasting() -> Expression {
    let condition = Expression::when("attribute_exists(pk) AND attribute_not_exists(#temporary)");
    condition.name("#temporary".to_owned(), "temporary".to_owned())
}

/// The partition of a share's copy.
pub(super) fn copy_partition(share_id: &str) -> String {
    format!("SH#{share_id}")
}

impl ConversationStore {
    /// Deletes the items of a conversation except its head, each after what it has outside; returns their number.
    pub(crate) async fn delete_items(&self, owner: &Owner, id: &str) -> Result<usize> {
        let query = self.table.query(&owner.conversation_partition(id)).projection_expression("pk, sk");
        let (mut pages, mut count) = (self.table.pages(query), 0);
        while let Some(keys) = pages.next().await? {
            for key in &keys {
                self.delete_outside(key.text(SK)?).await?;
            }
            count += keys.len();
            self.table.delete_all(keys).await?;
        }
        Ok(count)
    }

    /// Deletes what belongs to the item with this sort key.
    pub(super) async fn delete_outside(&self, sk: &str) -> Result<()> {
        if let Some(share_id) = sk.strip_prefix(SHARE_PREFIX) {
            self.ephemeral.delete_partition(&copy_partition(share_id)).await?;
        } else if let Some(rated) = sk.strip_prefix(RATED_PREFIX) {
            self.ephemeral.delete_all(vec![Key::new(FEEDBACK_PARTITION, rated).attributes()]).await?;
        }
        Ok(())
    }
}
