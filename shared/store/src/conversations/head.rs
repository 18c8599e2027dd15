use std::time::{Duration, SystemTime};

use aws_sdk_dynamodb::types::AttributeValue;

use super::sources::LAST_SOURCE;
use super::tree::MessageTree;
use super::turn::{FIRST_ANSWER, NewTurn, TurnLease};
use super::{Conversation, ConversationStore, TitleSource};
use crate::clock::{millis, rfc3339, seconds, span_millis};
use crate::item::{Item, ItemExt, item, n, s, variant};
use crate::key::{Key, OwnerPartitions, is_ulid};
use crate::table::Expression;
use crate::turn_ref::TurnRef;
use crate::{EXPIRES, Result, UPDATED_AT};
use domain::{Language, Owner};

/// The prefix of the sort keys of heads.
pub(crate) const HEAD_PREFIX: &str = "C#";

// Attributes of a head, which the table in `lib.rs` describes.
pub(super) const LANGUAGE: &str = "language";
pub(super) const STOPPING: &str = "stopping";
pub(super) const FORKS: &str = "forks";
pub(super) const BACK: &str = "tipBefore";
pub(super) const ANSWERING: &str = "answering";
pub(super) const TITLE_FROM: &str = "titleFrom";
pub(super) const TITLED_IN: &str = "titledIn";
pub(super) const PINNED: &str = "pinned";
pub(super) const ARCHIVED: &str = "archived";
pub(super) const TEMPORARY: &str = "temporary";

/// How long a temporary conversation exists.
const TEMPORARY_LIFE: Duration = Duration::from_hours(24);

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
    /// The seq of the last message on any branch, also of a deleted one.
    pub(super) last_seq: u64,
    /// The end of the shown branch; 0 if all messages are deleted.
    pub(super) tip: u64,
    /// The end of the branch that is shown again unless the answer at the tip replaces it.
    pub(super) back: Option<u64>,
    pub(super) tree: MessageTree,
    /// Whether the tree has all messages; an earlier release adds some without it.
    pub(super) has_tree: bool,
    /// The tip and the tree as they are stored, which changes are conditional on.
    stored_tip: u64,
    pub(super) forks: Option<String>,
    pub(super) running: Option<RunningTurn>,
    /// The highest number of a page; `None` in heads of older releases.
    pub(super) last_source: Option<usize>,
    /// `None` in heads of older releases, whose title may be the owner's.
    title_from: Option<TitleSource>,
    /// The seq of the answer with which a model's title was stored.
    titled_in: Option<u64>,
    is_pinned: bool,
    is_archived: bool,
    /// [`TurnLease::expires_secs`].
    pub(super) expires_secs: Option<i64>,
}

/// The turn that holds the conversation, or held it when its process died.
#[derive(Clone, Debug)]
pub(super) struct RunningTurn {
    pub(super) turn_id: String,
    pub(super) answer_seq: u64,
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
    /// Reads a head; `None` for a malformed id, without a database call, and for a conversation that has expired by `now`,
    /// because the database deletes it days later.
    pub(super) async fn head(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<Option<Head>> {
        if !is_ulid(id) {
            return Ok(None);
        }
        let head = self.table.get(&head_key(owner, id)).await?.map(|item| Head::read(&item)).transpose()?;
        Ok(head.filter(|head| !has_expired(head.expires_secs, now)))
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
pub(super) fn latest_lease_end(now: SystemTime) -> i64 {
    lease_end(now).saturating_add(span_millis(MAX_SKEW))
}

pub(super) fn truncate_title(title: &str) -> String {
    title.chars().take(MAX_TITLE_CHARS).collect()
}

impl Head {
    pub(super) fn read(item: &Item) -> Result<Self> {
        item.check_version("a conversation")?;
        let (last_seq, message_count) = (item.number("seq")?, item.number("messageCount")?);
        let forks = if item.contains_key(FORKS) { Some(item.text(FORKS)?.to_owned()) } else { None };
        let tree = forks.as_deref().and_then(MessageTree::parse).filter(|tree| tree.last() == last_seq);
        // In earlier releases only answers were written again, and these did not count.
        let is_linear = forks.is_none() && message_count == last_seq;
        // Older items have none: they end with their last answer.
        let stored_tip = item.optional_number("tip")?.unwrap_or(last_seq);
        let running = RunningTurn::read(item, last_seq, tree.is_some())?;
        let mut head = Self {
            id: item.text("sk")?.trim_start_matches(HEAD_PREFIX).to_owned(),
            title: item.text("title")?.to_owned(),
            language: read_language(item)?,
            model: item.text("model")?.to_owned(),
            message_count,
            created_at: item.number("createdAt")?,
            updated_at: item.number(UPDATED_AT)?,
            last_seq,
            tip: stored_tip,
            // An earlier release that wrote since has left this attribute as it was.
            back: item.optional_number(BACK)?.filter(|_| tree.is_some() && running.is_some()),
            has_tree: tree.is_some() || is_linear,
            tree: tree.unwrap_or_else(|| MessageTree::linear(last_seq)),
            stored_tip,
            forks,
            running,
            last_source: item.optional_number(LAST_SOURCE)?,
            title_from: item.variant(TITLE_FROM).ok(),
            titled_in: item.optional_number(TITLED_IN)?,
            is_pinned: item.contains_key(PINNED),
            is_archived: item.contains_key(ARCHIVED),
            expires_secs: item.optional_number(EXPIRES)?,
        };
        if !head.has_tree && head.running.is_some() && head.tip < last_seq {
            // An earlier release regenerates: its answer is at the end, and becomes the tip once it is complete.
            (head.tip, head.back) = (last_seq, Some(head.tip));
        }
        Ok(head)
    }

    /// The end of the shown branch. A regenerated answer is shown while it runs.
    pub(super) fn shown_leaf(&self, now: SystemTime) -> u64 {
        self.back.filter(|_| self.remaining_lease(now).is_none()).unwrap_or(self.tip)
    }

    /// The remaining time of the running turn's lease; `None` if no turn runs.
    pub(super) fn remaining_lease(&self, now: SystemTime) -> Option<Duration> {
        self.running.as_ref()?.remaining_lease(now)
    }

    /// The condition that no message was added or deleted and no branch selected since the head was read.
    pub(super) fn unchanged(&self, change: Expression) -> Expression {
        let change = change.and_when("seq = :last AND (attribute_not_exists(tip) OR tip = :before)");
        let change = change.value(":last", n(self.last_seq)).value(":before", n(self.stored_tip));
        match &self.forks {
            Some(forks) => change.and_also(&format!("{FORKS} = :known")).value(":known", s(forks)),
            None => change.and_also(&format!("attribute_not_exists({FORKS})")),
        }
    }

    /// The attributes that describe the branches.
    pub(super) fn branch_attributes(tree: &MessageTree, tip: u64) -> [(&'static str, AttributeValue); 3] {
        [("tip", n(tip)), (FORKS, s(tree.to_text())), ("messageCount", n(tree.path(tip).count()))]
    }

    pub(super) fn into_conversation(self) -> Conversation {
        let shown = self.shown_leaf(SystemTime::now());
        // The count of an earlier release is right until this one changes something.
        let message_count = if self.has_tree { self.tree.path(shown).count() } else { self.message_count };
        Conversation {
            id: self.id,
            title: self.title,
            model: self.model,
            message_count,
            created_at: rfc3339(self.created_at),
            updated_at: rfc3339(self.updated_at),
            title_from: self.title_from.unwrap_or_default(),
            pinned: self.is_pinned,
            archived: self.is_archived,
            expires_at: self.expires_secs.map(|seconds| rfc3339(seconds.saturating_mul(1000))),
        }
    }

    /// The lease of the turn with this id, if it is the running one.
    pub(super) fn lease_of(&self, owner: &Owner, turn_id: &str) -> Option<TurnLease> {
        let running = self.running.as_ref().filter(|running| running.turn_id == turn_id)?;
        let lease = new_lease(owner, &self.id, turn_id, self.language, &self.tree, running.answer_seq);
        Some(TurnLease { back: self.back, ..lease.continuing(self) })
    }

    /// Whether a model may replace the title: only the first turn is in the conversation, and the title is its message's.
    fn has_replaceable_title(&self) -> bool {
        let is_early = self.last_seq <= FIRST_ANSWER && self.expires_secs.is_none();
        is_early && self.title_from == Some(TitleSource::Message)
    }

    /// Whether the turn with this answer announced a title.
    pub(super) fn was_titled_in(&self, answer_seq: u64) -> bool {
        answer_seq == FIRST_ANSWER || self.titled_in == Some(answer_seq)
    }

    /// The turn whose lease is in the head, whether or not it is valid.
    pub(super) fn leased_turn(&self) -> Option<TurnRef> {
        let RunningTurn { turn_id, answer_seq, .. } = self.running.as_ref()?;
        Some(TurnRef::new(turn_id, &self.id, *answer_seq))
    }
}

impl RunningTurn {
    /// `is_own`: whether this release wrote the head last.
    fn read(item: &Item, last_seq: u64, is_own: bool) -> Result<Option<Self>> {
        let answer_seq = item.optional_number(ANSWERING)?.filter(|_| is_own).unwrap_or(last_seq);
        let read = |turn: &str| {
            Ok(Self { turn_id: turn.to_owned(), answer_seq, lease_end_millis: item.number("leaseUntil")? })
        };
        item.contains_key("turn").then(|| item.text("turn").and_then(read)).transpose()
    }
}

/// Older items have no language: their title began as the first message.
fn read_language(item: &Item) -> Result<Language> {
    match item.get(LANGUAGE) {
        None => Ok(Language::of(item.text("title")?)),
        Some(_) => Ok(Language::from_code(item.text(LANGUAGE)?).unwrap_or_default()),
    }
}

/// The lease of a turn whose answer has this seq, without sources.
pub(super) fn new_lease(
    owner: &Owner,
    id: &str,
    turn_id: &str,
    language: Language,
    tree: &MessageTree,
    answer_seq: u64,
) -> TurnLease {
    let question_seq = tree.parent(answer_seq);
    TurnLease {
        conversation_id: id.to_owned(),
        turn_id: turn_id.to_owned(),
        language,
        head: head_key(owner, id),
        partition: owner.conversation_partition(id),
        answer_seq,
        question_seq,
        before: tree.path(tree.parent(question_seq)),
        back: None,
        continued: None,
        interrupted: None,
        last_source: Some(0),
        replaceable_title: None,
        expires_secs: None,
    }
}

impl TurnLease {
    /// The lease of a turn that continues the conversation of a head.
    pub(super) fn continuing(self, head: &Head) -> Self {
        let title = Some(&head.title).filter(|_| head.has_replaceable_title()).cloned();
        Self { last_source: head.last_source, replaceable_title: title, expires_secs: head.expires_secs, ..self }
    }

    /// The lease of the first turn.
    pub(super) fn beginning(self, turn: &NewTurn, now: SystemTime) -> Self {
        let expires_secs = turn.temporary.then(|| seconds(now + TEMPORARY_LIFE));
        let title = expires_secs.is_none().then(|| truncate_title(&turn.title));
        Self { replaceable_title: title, expires_secs, ..self }
    }

    /// Adds the expiry of a temporary conversation to one of its items.
    pub(super) fn expiring(&self, item: Item) -> Item {
        expiring(self.expires_secs, item)
    }
}

/// Adds the expiry to an item, if there is one.
pub(super) fn expiring(expires_secs: Option<i64>, mut item: Item) -> Item {
    item.extend(expires_secs.map(|seconds| (EXPIRES.to_owned(), n(seconds))));
    item
}

pub(super) fn has_expired(expires_secs: Option<i64>, now: SystemTime) -> bool {
    expires_secs.is_some_and(|end| end <= seconds(now))
}

/// The head of a new conversation whose first turn runs.
pub(super) fn new_head_item(lease: &TurnLease, turn: &NewTurn, now: SystemTime) -> Item {
    let mut head = item(
        &lease.head,
        [
            ("title", s(truncate_title(&turn.title))),
            (TITLE_FROM, variant(TitleSource::Message)),
            ("model", s(&turn.model)),
            (LANGUAGE, s(turn.language.code())),
            ("messageCount", n(lease.answer_seq)),
            ("createdAt", n(millis(now))),
            (UPDATED_AT, n(millis(now))),
            ("seq", n(lease.answer_seq)),
            ("tip", n(lease.answer_seq)),
            (FORKS, s(MessageTree::linear(lease.answer_seq).to_text())),
            ("turn", s(&lease.turn_id)),
            ("leaseUntil", n(lease_end(now))),
            (LAST_SOURCE, n(0)),
        ],
    );
    head.extend(lease.is_temporary().then(|| (TEMPORARY.to_owned(), n(1))));
    lease.expiring(head)
}
