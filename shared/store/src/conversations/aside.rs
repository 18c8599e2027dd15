//! Answers that are not a part of the conversation because another one stands for them.

use super::message::message_key;
use super::turn::{Answer, TurnEnd, TurnLease};
use crate::item::{Item, n};
use crate::key::Key;
use crate::table::Expression;

/// The mark of such an answer.
pub(super) const ASIDE: &str = "aside";

/// What answers a question again is not a part of the conversation until it is an answer: that way nothing need be
/// undone when it never does.
pub(super) fn set_aside(lease: &TurnLease, mut item: Item) -> Item {
    if lease.replaces.is_some() {
        item.insert(ASIDE.to_owned(), n(1));
    }
    item
}

/// Whether an answer is a part of the conversation from the end of its turn on: another one to a question has to be one,
/// or a good answer would be lost to a try that broke off.
pub(super) fn stands(lease: &TurnLease, answer: &Answer) -> bool {
    let is_one = matches!(answer.end, TurnEnd::Done(_)) && !answer.content.trim().is_empty();
    lease.replaces.is_none() || is_one
}

/// The change of an answer at the end of its turn, which makes it a part of the conversation if it is to be one.
pub(super) fn placed(change: &str, lease: &TurnLease, answer: &Answer) -> String {
    if stands(lease, answer) { format!("{change} REMOVE {ASIDE}") } else { change.to_owned() }
}

/// The answer that the turn's own stands for, if it does, and what is to become of it.
pub(super) fn replaced(lease: &TurnLease, answer: &Answer) -> Option<(Key, Expression)> {
    let place = lease.replaces.filter(|_| stands(lease, answer))?;
    let aside = Expression::update(format!("SET {ASIDE} = :aside")).and_when("attribute_exists(pk)");
    Some((message_key(&lease.partition, place), aside.value(":aside", n(1))))
}
