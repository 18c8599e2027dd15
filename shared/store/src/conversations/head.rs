use std::time::{Duration, SystemTime};

use super::sources::LAST_SOURCE;
use super::turn::{NewTurn, TurnLease};
use super::{Conversation, ConversationStore};
use crate::clock::{millis, rfc3339, span_millis};
use crate::item::{Item, ItemExt, item, n, s};
use crate::key::{Key, OwnerPartitions, is_ulid};
use crate::table::Expression;
use crate::turn_ref::TurnRef;
use crate::{StoreError, UPDATED_AT};
use domain::{Language, Owner};

/// The prefix of the sort keys of heads.
pub(crate) const HEAD_PREFIX: &str = "C#";

/// The attribute of a head with the language of the first message.
const LANGUAGE: &str = "language";

/// The attribute of a head with the turn that must stop.
pub(super) const STOPPING: &str = "stopping";

/// The maximum length of a stored title, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// The maximum clock difference between two instances. A lease further ahead was taken by a clock that is or was wrong,
/// and blocks no new turn: the next renewal by its holder returns `Lost`.
const MAX_SKEW: Duration = Duration::from_mins(1);

/// The head item of a conversation, with its running turn and the position of its next message.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) title: String,
    /// The language of the first message.
    pub(super) language: Language,
    model: String,
    message_count: u64,
    created_at: i64,
    pub(super) updated_at: i64,
    /// The seq of the last message, also of a hidden one.
    pub(super) last_seq: u64,
    /// The seq of the conversation's current last answer. During a regeneration it is lower than `last_seq`, until the
    /// new answer is complete.
    pub(super) current_answer_seq: u64,
    pub(super) running: Option<RunningTurn>,
    /// The highest number of a page; `None` in heads of older releases.
    pub(super) last_source: Option<usize>,
}

/// The turn that holds the conversation, or held it when its process died.
#[derive(Clone, Debug)]
pub(super) struct RunningTurn {
    pub(super) turn_id: String,
    pub(super) lease_end_millis: i64,
}

impl RunningTurn {
    /// The remaining time of the lease; `None` when it is expired, or further ahead than a lease can be.
    pub(super) fn remaining_lease(&self, now: SystemTime) -> Option<Duration> {
        let remaining = self.lease_end_millis.saturating_sub(millis(now));
        let remaining = u64::try_from(remaining)
            .ok()
            .filter(|remaining| *remaining > 0 && self.lease_end_millis <= latest_lease_end(now));
        remaining.map(Duration::from_millis)
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
pub(super) fn truncate_title(title: &str) -> String {
    title.chars().take(MAX_TITLE_CHARS).collect()
}

impl Head {
    pub(super) fn read(item: &Item) -> Result<Self, StoreError> {
        item.check_version("a conversation")?;
        Ok(Self {
            id: item.text("sk")?.trim_start_matches(HEAD_PREFIX).to_owned(),
            title: item.text("title")?.to_owned(),
            language: read_language(item)?,
            model: item.text("model")?.to_owned(),
            message_count: item.number("messageCount")?,
            created_at: item.number("createdAt")?,
            updated_at: item.number(UPDATED_AT)?,
            last_seq: item.number("seq")?,
            // Older items have none: they end with their last answer.
            current_answer_seq: item.optional_number("tip")?.unwrap_or(item.number("seq")?),
            running: RunningTurn::read(item)?,
            last_source: item.optional_number(LAST_SOURCE)?,
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
        let running = self.running.as_ref().filter(|running| running.turn_id == turn_id)?;
        let replaced_seq = (self.current_answer_seq < self.last_seq).then_some(self.current_answer_seq);
        let lease = new_lease(owner, &self.id, &running.turn_id, self.language, self.last_seq);
        Some(TurnLease { replaced_seq, ..lease.with_sources_of(self) })
    }

    /// The turn whose lease is in the head, whether or not it is valid.
    pub(super) fn leased_turn(&self) -> Option<TurnRef> {
        let turn_id = self.running.as_ref()?.turn_id.clone();
        Some(TurnRef { turn_id, conversation_id: self.id.clone(), answer_seq: self.last_seq })
    }

    /// Whether a message is part of the conversation at `now`; superseded answers are not.
    ///
    /// During a regeneration the running answer is visible and the previous one is not.
    pub(super) fn is_visible(&self, seq: u64, is_superseded: bool, now: SystemTime) -> bool {
        let is_regenerating = self.current_answer_seq < self.last_seq
            && self.running.as_ref().is_some_and(|running| running.remaining_lease(now).is_some());
        match seq {
            _ if !is_regenerating => !is_superseded,
            seq if seq == self.current_answer_seq => false,
            seq => seq == self.last_seq || !is_superseded,
        }
    }
}

impl RunningTurn {
    fn read(item: &Item) -> Result<Option<Self>, StoreError> {
        let read = |turn: &str| Ok(Self { turn_id: turn.to_owned(), lease_end_millis: item.number("leaseUntil")? });
        item.contains_key("turn").then(|| item.text("turn").and_then(read)).transpose()
    }
}

/// Older items have no language: their title began as the first message.
fn read_language(item: &Item) -> Result<Language, StoreError> {
    match item.get(LANGUAGE) {
        None => Ok(Language::of(item.text("title")?)),
        Some(_) => Ok(Language::from_code(item.text(LANGUAGE)?).unwrap_or_default()),
    }
}

pub(super) fn new_lease(owner: &Owner, id: &str, turn_id: &str, language: Language, answer_seq: u64) -> TurnLease {
    TurnLease {
        conversation_id: id.to_owned(),
        turn_id: turn_id.to_owned(),
        language,
        head: head_key(owner, id),
        partition: owner.conversation_partition(id),
        answer_seq,
        replaced_seq: None,
        interrupted: None,
        last_source: Some(0),
    }
}

impl TurnLease {
    /// The lease of a turn that continues the numbers of a head.
    pub(super) fn with_sources_of(self, head: &Head) -> Self {
        Self { last_source: head.last_source, ..self }
    }
}

/// The head of a new conversation whose first turn runs.
pub(super) fn new_head_item(lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Item {
    item(
        &lease.head,
        [
            ("title", s(truncate_title(&turn.title))),
            ("model", s(&turn.model)),
            (LANGUAGE, s(turn.language.code())),
            ("messageCount", n(2)),
            ("createdAt", n(millis(now))),
            (UPDATED_AT, n(millis(now))),
            ("seq", n(lease.answer_seq)),
            ("tip", n(lease.answer_seq)),
            ("turn", s(&lease.turn_id)),
            ("leaseUntil", n(lease_end(now))),
            (LAST_SOURCE, n(0)),
        ],
    )
}

/// Builds the update by which the next turn acquires the conversation, if nothing has changed since `before` was read
/// and no lease is valid. A turn that has ended meanwhile is a change: its answer is not interrupted.
pub(super) fn acquire_update(before: &Head, lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Expression {
    let change = Expression::set([
        ("seq", n(lease.answer_seq)),
        ("tip", n(lease.replaced_seq.unwrap_or(lease.answer_seq))),
        ("turn", s(&lease.turn_id)),
        ("leaseUntil", n(lease_end(now))),
        ("model", s(&turn.model)),
        (UPDATED_AT, n(before.updated_at.max(millis(now)))),
    ])
    .and(&format!("REMOVE {STOPPING} ADD messageCount :more"));
    let unchanged = "seq = :last AND (attribute_not_exists(tip) OR tip = :before)";
    let change = match &before.running {
        None => change.and_when(format!("{unchanged} AND attribute_not_exists(turn)")),
        Some(dead) => change
            .and_when(format!("{unchanged} AND turn = :dead AND (leaseUntil <= :now OR leaseUntil > :latest)"))
            .value(":dead", s(&dead.turn_id))
            .value(":now", n(millis(now)))
            .value(":latest", n(latest_lease_end(now))),
    };
    change
        .value(":last", n(before.last_seq))
        .value(":before", n(before.current_answer_seq))
        .value(":more", n(if lease.replaced_seq.is_some() { 0 } else { 2 }))
}
