use std::time::{Duration, SystemTime};

use super::stop::STOPPING;
use super::turn::{NewTurn, TurnLease};
use super::{Conversation, ConversationStore};
use crate::clock::{millis, rfc3339, span_millis};
use crate::item::{Item, Read, item, n, s};
use crate::key::{Key, Owner, is_ulid};
use crate::shape::SHAPES;
use crate::table::Expression;
use crate::{StoreError, UPDATED_AT};

/// The prefix of the sort keys of heads.
pub(crate) const HEAD_PREFIX: &str = "C#";

/// The maximum length of a stored title, in characters.
const LONGEST_TITLE: usize = 200;

/// The maximum clock difference between two instances. A lease further ahead was taken by a clock that is or was wrong,
/// and blocks no new turn: the next renewal by its holder returns `Lost`.
const MAX_SKEW: Duration = Duration::from_mins(1);

/// The head item of a conversation, with its running turn and the position of its next message.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: String,
    title: String,
    model: String,
    message_count: u64,
    created_at: i64,
    pub(super) updated_at: i64,
    /// The seq of the last message, also of a hidden one.
    pub(super) seq: u64,
    /// The seq of the conversation's current last answer. During a regeneration it is lower than `last_seq`, until the
    /// new answer is complete.
    pub(super) tip: u64,
    pub(super) running: Option<Running>,
}

/// The turn that holds the conversation, or held it when its process died.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) turn: String,
    pub(super) until: i64,
}

impl Running {
    /// The remaining time of the lease; `None` when it is expired, or further ahead than a lease can be.
    pub(super) fn left(&self, now: SystemTime) -> Option<Duration> {
        let left = self.until.saturating_sub(millis(now));
        let left = u64::try_from(left).ok().filter(|left| *left > 0 && self.until <= latest_lease_end(now));
        left.map(Duration::from_millis)
    }
}

impl ConversationStore {
    /// Reads a head; `None` for a malformed id, without a database call.
    pub(super) async fn head(&self, owner: &Owner, id: &str) -> Result<Option<Head>, StoreError> {
        if !is_ulid(id) {
            return Ok(None);
        }
        self.table.get(&head_key(owner, id)).await?.map(|item| Head::read(&item)).transpose()
    }
}

/// Whether this release can read an item as the head of a conversation, also one of an older release.
pub(crate) fn is_head(item: &Item) -> bool {
    Head::read(&SHAPES.brought_up(item.clone())).is_ok()
}

pub(super) fn head_key(owner: &Owner, id: &str) -> Key {
    Key::new(owner.partition(), format!("{HEAD_PREFIX}{id}"))
}

/// The end of a lease that is acquired or renewed at `now`.
pub(super) fn lease_end(now: SystemTime) -> i64 {
    millis(now).saturating_add(span_millis(ConversationStore::LEASE))
}

/// The latest end of a lease by a clock that may be ahead.
fn latest_lease_end(now: SystemTime) -> i64 {
    lease_end(now).saturating_add(span_millis(MAX_SKEW))
}

/// Truncates a title to its maximum length.
pub(super) fn bounded_title(title: &str) -> String {
    title.chars().take(LONGEST_TITLE).collect()
}

impl Head {
    pub(super) fn read(item: &Item) -> Result<Self, StoreError> {
        if !item.is_understood() {
            return Err(StoreError::fault("a conversation of another version"));
        }
        Ok(Self {
            id: item.text("sk")?.trim_start_matches(HEAD_PREFIX).to_owned(),
            title: item.text("title")?.to_owned(),
            model: item.text("model")?.to_owned(),
            message_count: item.number("messageCount")?,
            created_at: item.number("createdAt")?,
            updated_at: item.number(UPDATED_AT)?,
            seq: item.number("seq")?,
            // Older items have none: they end with their last answer.
            tip: if item.contains_key("tip") { item.number("tip")? } else { item.number("seq")? },
            running: Running::read(item)?,
        })
    }

    pub(super) fn into_conversation(self) -> Conversation {
        Conversation {
            id: self.id,
            title: self.title,
            model: self.model,
            message_count: self.message_count,
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
        }
    }

    /// The lease of the turn with this id, if it is the running one.
    pub(super) fn lease_of(&self, owner: &Owner, turn_id: &str) -> Option<TurnLease> {
        let running = self.running.as_ref().filter(|running| running.turn == turn_id)?;
        let replaces = (self.tip < self.seq).then_some(self.tip);
        Some(TurnLease { replaces, ..lease(owner, &self.id, &running.turn, self.seq) })
    }

    /// Whether a message is part of the conversation at `now`; superseded answers are not.
    ///
    /// During a regeneration the running answer is visible and the previous one is not.
    pub(super) fn shows(&self, place: u64, is_aside: bool, now: SystemTime) -> bool {
        let again = self.tip < self.seq && self.running.as_ref().is_some_and(|running| running.left(now).is_some());
        match place {
            _ if !again => !is_aside,
            place if place == self.tip => false,
            place => place == self.seq || !is_aside,
        }
    }
}

impl Running {
    fn read(item: &Item) -> Result<Option<Self>, StoreError> {
        if !item.contains_key("turn") {
            return Ok(None);
        }
        Ok(Some(Self { turn: item.text("turn")?.to_owned(), until: item.number("leaseUntil")? }))
    }
}

pub(super) fn lease(owner: &Owner, id: &str, turn_id: &str, answer: u64) -> TurnLease {
    TurnLease {
        conversation_id: id.to_owned(),
        turn_id: turn_id.to_owned(),
        head: head_key(owner, id),
        partition: owner.conversation_partition(id),
        answer,
        replaces: None,
    }
}

/// The head of a new conversation whose first turn runs.
pub(super) fn first(lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Item {
    item(
        &lease.head,
        [
            ("title", s(bounded_title(&turn.title))),
            ("model", s(&turn.model)),
            ("messageCount", n(2)),
            ("createdAt", n(millis(now))),
            (UPDATED_AT, n(millis(now))),
            ("seq", n(lease.answer)),
            ("tip", n(lease.answer)),
            ("turn", s(&lease.turn_id)),
            ("leaseUntil", n(lease_end(now))),
        ],
    )
}

/// Builds the update by which the next turn acquires the conversation, if nothing has changed since `before` was read
/// and no lease is valid.
pub(super) fn taken(before: &Head, lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Expression {
    Expression::update(format!(
        "SET seq = :next, tip = :tip, turn = :turn, leaseUntil = :until, model = :model, {UPDATED_AT} = :updated \
         REMOVE {STOPPING} ADD messageCount :more"
    ))
    .and_when(
        "seq = :seq AND (attribute_not_exists(tip) OR tip = :before) \
         AND (attribute_not_exists(turn) OR leaseUntil <= :now OR leaseUntil > :latest)",
    )
    .value(":latest", n(latest_lease_end(now)))
    .value(":seq", n(before.seq))
    .value(":before", n(before.tip))
    .value(":tip", n(lease.replaces.unwrap_or(lease.answer)))
    .value(":next", n(lease.answer))
    .value(":turn", s(&lease.turn_id))
    .value(":until", n(lease_end(now)))
    .value(":model", s(&turn.model))
    .value(":updated", n(before.updated_at.max(millis(now))))
    .value(":more", n(if lease.replaces.is_some() { 0 } else { 2 }))
    .value(":now", n(millis(now)))
}
