//! Ratings of answers: with the message for its owner, and in one list for administrators.

use std::time::{Duration, SystemTime};

use domain::{Owner, new_id};
use serde_json::{Value, json};

use super::head::head_key;
use super::message::FEEDBACK;
use super::outside::{FEEDBACK_PARTITION, RATED_PREFIX, is_lasting};
use super::{ConversationStore, Feedback, Page, ReadError, Role, cursor};
use crate::StoreError;
use crate::clock::{millis, rfc3339};
use crate::item::{ItemExt, UNDER, expires_at, item, s, to_json};
use crate::key::{Key, OwnerPartitions, PK, SK};
use crate::table::{Expression, WriteOutcome};

/// The attribute of a rated answer with the sort key of its rating in the list.
pub(super) const RATED: &str = "rated";

/// How long the list has a rating; its message keeps it.
const TTL: Duration = Duration::from_hours(365 * 24);

/// Rows of a page of the list.
const PAGE_ROWS: i32 = 100;

impl ConversationStore {
    /// Rates an answer; without feedback, removes its rating. False for a question, which has none.
    pub async fn rate(
        &self,
        owner: &Owner,
        id: &str,
        message_id: &str,
        feedback: Option<&Feedback>,
        now: SystemTime,
    ) -> Result<bool, ReadError> {
        let message = self.find_message(owner, id, message_id).await?.ok_or(ReadError::NotFound)?;
        if message.variant::<Role>("author")? != Role::Assistant {
            return Ok(false);
        }
        let link = |rated: &str| Key::new(owner.conversation_partition(id), format!("{RATED_PREFIX}{rated}"));
        let row = |rated: &str| Key::new(FEEDBACK_PARTITION, rated);
        let mut writes = vec![self.table.check_write(&head_key(owner, id), is_lasting())];
        let mut change = Expression::update(format!("REMOVE {FEEDBACK}, {RATED}"));
        if let Some(feedback) = feedback {
            let rated = format!("{:013}#{}", millis(now), new_id());
            change = Expression::set([(FEEDBACK, s(to_json(feedback))), (RATED, s(&rated))]);
            let entry = json!({
                "conversationId": id, "messageId": message_id, "owner": owner.as_str(), "rating": feedback.rating,
                "reason": feedback.reason, "model": message.text("model")?, "createdAt": rfc3339(millis(now)),
            });
            let attributes = [("entry", s(entry.to_string())), (UNDER, s(owner.partition())), expires_at(now + TTL)];
            writes.push(self.ephemeral.put_write(item(&row(&rated), attributes), Expression::default()));
            writes.push(self.table.put_write(item(&link(&rated), []), Expression::default()));
        }
        change = change.and_when(format!("attribute_exists(pk) AND attribute_not_exists({RATED})"));
        if let Some(before) = message.get(RATED).and_then(|rated| rated.as_s().ok()) {
            writes.push(self.table.delete_write(&link(before)));
            writes.push(self.ephemeral.delete_write(&row(before)));
            change = change.and_when(format!("{RATED} = :before")).value(":before", s(before));
        }
        writes.push(self.table.update_write(&Key::new(message.text(PK)?, message.text(SK)?), change));
        match self.table.commit(writes).await? {
            WriteOutcome::Written(_) => Ok(true),
            // Deleted, temporary, or rated by another request at the same moment.
            WriteOutcome::ConditionFailed(_) => Err(ReadError::NotFound),
        }
    }

    /// The ratings of all owners as JSON objects, the newest first.
    pub async fn list_feedback(&self, cursor: Option<&str>, now: SystemTime) -> Result<Page<Value>, ReadError> {
        let after = cursor.map(|text| cursor::read::<String>(FEEDBACK_PARTITION, text)).transpose()?;
        let start = after.map(|sk| Key::new(FEEDBACK_PARTITION, sk).attributes());
        let query = self.ephemeral.query(FEEDBACK_PARTITION).scan_index_forward(false).limit(PAGE_ROWS);
        let (rows, next) = self.ephemeral.query_page(query, start).await?;
        let next_cursor =
            next.map(|key| Ok::<_, StoreError>(cursor::encode(FEEDBACK_PARTITION, key.text(SK)?))).transpose()?;
        let rows = rows.iter().filter(|row| row.is_unexpired(now));
        let items = rows.map(|row| row.json("entry")).collect::<Result<_, _>>()?;
        Ok(Page { items, next_cursor })
    }
}
