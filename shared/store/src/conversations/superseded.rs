//! Answers that are not part of the conversation because another one supersedes them.

use super::sort_keys::message_key;
use super::turn::{Answer, TurnEnd, TurnLease};
use crate::item::{Item, n};
use crate::key::Key;
use crate::table::Expression;

/// The attribute that marks such an answer.
pub(super) const SUPERSEDED: &str = "aside";

/// Marks a regenerated answer as pending: it is not part of the conversation until it is complete. So nothing has to be
/// undone if it never completes.
pub(super) fn mark_pending(lease: &TurnLease, mut item: Item) -> Item {
    if lease.replaced_seq.is_some() {
        item.insert(SUPERSEDED.to_owned(), n(1));
    }
    item
}

/// Whether an answer becomes part of the conversation at the end of its turn. A regenerated one must be complete and
/// have text; a failed attempt must not replace a good answer.
pub(super) fn becomes_current(lease: &TurnLease, answer: &Answer) -> bool {
    let is_complete = matches!(answer.end, TurnEnd::Done(_)) && !answer.content.trim().is_empty();
    lease.replaced_seq.is_none() || is_complete
}

/// Extends the attributes that the final update of an answer removes, so that it becomes part of the conversation, if it
/// qualifies.
pub(super) fn activate(removed: &str, lease: &TurnLease, answer: &Answer) -> String {
    if becomes_current(lease, answer) { format!("{removed}, {SUPERSEDED}") } else { removed.to_owned() }
}

/// The key of the answer that this turn's answer supersedes, if any, and the update that marks it.
pub(super) fn supersede_previous(lease: &TurnLease, answer: &Answer) -> Option<(Key, Expression)> {
    let seq = lease.replaced_seq.filter(|_| becomes_current(lease, answer))?;
    let change = Expression::update(format!("SET {SUPERSEDED} = :aside")).and_when("attribute_exists(pk)");
    Some((message_key(&lease.partition, seq), change.value(":aside", n(1))))
}
