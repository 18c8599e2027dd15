//! The branches of stored conversations: found, selected and deleted.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use domain::{Owner, Summary};

use super::continued::EARLIER;
use super::feedback::RATED;
use super::head::{ANSWERING, BACK, FORKS, Head, STOPPING, head_key};
use super::message::{PARENT, SUPERSEDED};
use super::outside::RATED_PREFIX;
use super::seq_ranges::SeqRanges;
use super::sort_keys::{AFTER_MESSAGES, MESSAGE_PREFIX, message_sk, seq_in_sk, sources_key, transcript_sk};
use super::transcript::summary_key;
use super::tree::MessageTree;
use super::turn::EarlierTurn;
use super::{Conversation, ConversationStore, ReadError, Role};
use crate::clock::{millis, span_millis};
use crate::item::{Item, ItemExt, n, s};
use crate::key::{Key, OwnerPartitions, SK};
use crate::table::{Expression, WriteOutcome};
use crate::{Result, StoreError};

/// How often a change is tried again when others change the conversation at the same moment.
const MAX_ATTEMPTS: usize = 10;

/// How long after its begin a turn may have a log: it lives for an hour, and no turn is half as long.
const LOGGED: Duration = Duration::from_mins(90);

/// What was deleted besides the messages may be stored under these.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeletedMessages {
    /// The seqs of the messages.
    pub seqs: HashSet<u64>,
    /// Their ids.
    pub ids: HashSet<String>,
    /// The turns among them that may have a log.
    pub turns: HashSet<String>,
}

impl ConversationStore {
    /// Selects the branch through a message, up to the newest message after it, as the shown one.
    pub async fn select_branch(&self, owner: &Owner, id: &str, message: &str) -> Result<Conversation, ReadError> {
        let (head, seq) = self.head_and_message(owner, id, message, SystemTime::now()).await?;
        let select = |head: &Head| {
            head.tree.role(seq).ok_or(ReadError::NotFound)?;
            let selected = Head::branch_attributes(&head.tree, head.tree.newest_below(seq));
            Ok(Expression::set(selected).and(&format!("REMOVE {BACK}")))
        };
        let (_, changed) = self.change_branches(owner, head, select).await?;
        Ok(Head::read(&changed)?.into_conversation())
    }

    /// Deletes a message with all messages after it, on every branch. A turn that runs there loses its lease. If the shown
    /// branch ends there, that of the previous sibling is shown, else that of the next one, else the rest.
    ///
    /// The next deletion of the same message completes an interrupted one.
    pub async fn delete_message(
        &self,
        owner: &Owner,
        id: &str,
        message: &str,
        now: SystemTime,
    ) -> Result<DeletedMessages, ReadError> {
        let (head, seq) = self.head_and_message(owner, id, message, now).await?;
        let delete = |head: &Head| {
            head.tree.role(seq).ok_or(ReadError::NotFound)?;
            Ok(delete_change(head, seq, now))
        };
        let removed = match self.change_branches(owner, head, delete).await {
            Ok((before, _)) => before.tree.subtree(seq),
            // An interrupted deletion, or a first attempt whose response was lost, has left the items of some messages.
            Err(ReadError::NotFound) => {
                self.head_with_tree(owner, id, now).await?.ok_or(ReadError::NotFound)?.tree.deleted()
            }
            Err(error) => return Err(error),
        };
        Ok(self.purge(&owner.conversation_partition(id), &removed, now).await?)
    }

    /// Whether the answer of a turn is deleted, alone or with its conversation.
    pub async fn is_deleted(&self, owner: &Owner, id: &str, answer_seq: u64) -> Result<bool> {
        let head = self.head_with_tree(owner, id, SystemTime::now()).await?;
        Ok(head.is_none_or(|head| head.tree.role(answer_seq).is_none()))
    }

    /// Reads a head with the tree of its messages; `None` for an unknown conversation.
    pub(super) async fn head_with_tree(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<Option<Head>> {
        match self.head(owner, id, now).await? {
            Some(head) => self.with_tree(owner, head).await.map(Some),
            None => Ok(None),
        }
    }

    /// Completes a head that an earlier release wrote by the tree of its messages, and stores it.
    pub(super) async fn with_tree(&self, owner: &Owner, mut head: Head) -> Result<Head> {
        if head.has_tree {
            return Ok(head);
        }
        let query = self.table.query_range(&owner.conversation_partition(&head.id), MESSAGE_PREFIX, AFTER_MESSAGES);
        let query = query.filter_expression("attribute_exists(author)");
        let query = query.projection_expression(format!("sk, author, {PARENT}, {SUPERSEDED}"));
        let messages = parents(&self.table.query_all(query).await?)?;
        (head.tree, head.has_tree) = (MessageTree::of(messages, head.last_seq), true);
        // That release, which may still write the answer of a running turn, does not store the tree.
        if head.running.is_none() {
            let tree = head.tree.to_text();
            let stored = head.unchanged(Expression::set([(FORKS, s(&tree))]));
            if let WriteOutcome::Written(_) = self.table.update(&head_key(owner, &head.id), stored).await? {
                head.forks = Some(tree);
            }
        }
        Ok(head)
    }

    /// Changes a head if nothing else changes its branches meanwhile; returns it as it was, and the changed item.
    async fn change_branches(
        &self,
        owner: &Owner,
        mut head: Head,
        change: impl Fn(&Head) -> Result<Expression, ReadError>,
    ) -> Result<(Head, Item), ReadError> {
        let key = head_key(owner, &head.id);
        for _ in 0..MAX_ATTEMPTS {
            let change = head.unchanged(change(&head)?);
            // A turn that continues an answer changes nothing else.
            let change = match &head.running {
                Some(running) => change.and_also("turn = :running").value(":running", s(&running.turn_id)),
                None => change.and_also("attribute_not_exists(turn)"),
            };
            match self.table.update_and_read(&key, change).await? {
                WriteOutcome::Written(changed) => return Ok((head, changed.unwrap_or_default())),
                WriteOutcome::ConditionFailed(Some(item)) => head = self.with_tree(owner, Head::read(&item)?).await?,
                WriteOutcome::ConditionFailed(None) => return Err(ReadError::NotFound),
            }
        }
        Err(StoreError::Busy.into())
    }

    /// Deletes the items of messages that the head no longer has.
    async fn purge(&self, partition: &str, removed: &SeqRanges, now: SystemTime) -> Result<DeletedMessages> {
        let mut deleted = DeletedMessages::default();
        let since = millis(now).saturating_sub(span_millis(LOGGED));
        let attributes = format!("pk, sk, id, turn, createdAt, continuedAt, {EARLIER}, {RATED}");
        // The message itself is the last: while it is there, the deletion can be repeated.
        for (first, last) in removed.0.iter().rev() {
            let query = self.table.query_range(partition, message_sk(*first), format!("{}$", message_sk(*last)));
            let query = query.scan_index_forward(false).projection_expression(&attributes);
            let mut pages = self.table.pages(query);
            while let Some(items) = pages.next().await? {
                for item in items.iter().filter(|item| item.contains_key("id")) {
                    deleted.add(item, since)?;
                }
                let ratings = items.iter().filter_map(|item| Some(format!("{RATED_PREFIX}{}", item.text(RATED).ok()?)));
                let ratings: Vec<String> = ratings.collect();
                for rating in &ratings {
                    self.delete_outside(rating).await?;
                }
                let ratings = ratings.into_iter().map(|rating| Key::new(partition, rating).attributes());
                self.table.delete_all(items.into_iter().chain(ratings).collect()).await?;
            }
            let sources = |seq, end: &str| format!("{}{end}", sources_key(partition, seq, 0).sk);
            for (first, last) in
                [(transcript_sk(*first), transcript_sk(*last)), (sources(*first, ""), sources(*last, "$"))]
            {
                self.table.delete_queried(self.table.query_range(partition, first, last)).await?;
            }
        }
        let summary = self.table.get(&summary_key(partition)).await?.filter(ItemExt::is_readable);
        if let Some(summary) = summary.map(|item| item.json::<Summary>("summary")).transpose()?
            && removed.contains(summary.up_to_seq)
        {
            self.table.delete(&summary_key(partition)).await?;
        }
        Ok(deleted)
    }
}

impl DeletedMessages {
    fn add(&mut self, message: &Item, since: i64) -> Result<()> {
        self.seqs.extend(seq_in_sk(message.text(SK)?));
        self.ids.insert(message.text("id")?.to_owned());
        let began_at = message.optional_number("continuedAt")?.unwrap_or(message.number::<i64>("createdAt")?);
        if began_at > since {
            self.turns.insert(message.text("turn")?.to_owned());
            let earlier: Option<Vec<EarlierTurn>> = message.optional_json(EARLIER)?;
            self.turns.extend(earlier.into_iter().flatten().map(|earlier| earlier.turn));
        }
        Ok(())
    }
}

/// The change that removes a message and all after it from a head.
fn delete_change(head: &Head, root: u64, now: SystemTime) -> Expression {
    let (subtree, leaf, mut tree) = (head.tree.subtree(root), head.tree.leaf_without(root), head.tree.clone());
    let remaining = |seq: u64| if subtree.contains(seq) { leaf } else { seq };
    tree.delete(&subtree);
    if head.running.as_ref().is_some_and(|running| subtree.contains(running.answer_seq)) {
        let ended = format!("REMOVE turn, leaseUntil, {STOPPING}, {BACK}, {ANSWERING}");
        return Expression::set(Head::branch_attributes(&tree, remaining(head.shown_leaf(now)))).and(&ended);
    }
    let attributes = Head::branch_attributes(&tree, remaining(head.tip)).into_iter();
    Expression::set(attributes.chain(head.back.map(|back| (BACK, n(remaining(back))))))
}

/// The messages with their parents. Those of earlier releases have none: a question follows the last answer that no other
/// one replaced, and an answer the last question.
fn parents(messages: &[Item]) -> Result<Vec<(u64, u64, Role)>> {
    let (mut question, mut answer) = (0, 0);
    let read = |item: &Item| {
        let unreadable = || StoreError::fault("a message that cannot be read");
        let seq = seq_in_sk(item.text(SK)?).ok_or_else(unreadable)?;
        let role: Role = item.variant("author")?;
        let before = if role == Role::User { answer } else { question };
        match role {
            Role::User => question = seq,
            Role::Assistant if item.contains_key(SUPERSEDED) => {}
            Role::Assistant => answer = seq,
        }
        Ok((seq, item.optional_number(PARENT)?.unwrap_or(before), role))
    };
    messages.iter().map(read).collect()
}
