use std::time::SystemTime;

use domain::Owner;

use super::Role;
use super::head::{ANSWERING, BACK, Head, STOPPING, latest_lease_end, lease_end, new_lease};
use super::tree::MessageTree;
use super::turn::{BeginError, NewTurn, Target, TurnLease, UserInput};
use crate::UPDATED_AT;
use crate::clock::millis;
use crate::item::{n, s};
use crate::table::Expression;

/// What the next turn makes of an existing conversation.
pub(super) struct NextTurn {
    pub(super) lease: TurnLease,
    tree: MessageTree,
    /// The end of the shown branch.
    tip: u64,
}

impl NextTurn {
    /// `target` is the seq of the message that the turn names, if it names one.
    pub(super) fn after(
        owner: &Owner,
        before: &Head,
        turn: &NewTurn,
        target: Option<u64>,
        now: SystemTime,
    ) -> Result<Self, BeginError> {
        if target.is_some_and(|seq| before.tree.role(seq).is_none()) {
            return Err(BeginError::NotFound);
        }
        let (mut tree, leaf) = (before.tree.clone(), before.shown_leaf(now));
        let target = target.unwrap_or(if turn.target == Target::Start { 0 } else { leaf });
        let role = tree.role(target);
        let (mut tip, mut back) = (None, None);
        let answer_seq = match &turn.input {
            UserInput::Message(_) if turn.target != Target::End && role == Some(Role::User) => {
                return Err(BeginError::Unsuitable("`parentId` must be the id of an assistant message, or null"));
            }
            UserInput::Message(_) => {
                let question = tree.push(target, Role::User);
                tree.push(question, Role::Assistant)
            }
            UserInput::Regenerate => {
                let question = if role == Some(Role::User) { target } else { tree.parent(target) };
                if question == 0 {
                    return Err(BeginError::NothingToRegenerate);
                }
                // A failed attempt must not replace an answer. Without one there is nothing to return to.
                back = Some(leaf).filter(|leaf| *leaf != question);
                tree.push(question, Role::Assistant)
            }
            UserInput::Continue if role == Some(Role::Assistant) => {
                tip = Some(if tree.path(leaf).contains(target) { leaf } else { tree.newest_below(target) });
                target
            }
            UserInput::Continue => return Err(BeginError::Unsuitable("Only an answer can be continued")),
        };
        if tree.is_too_large() {
            return Err(BeginError::Unsuitable("This conversation has reached the limit of branches"));
        }
        let lease = TurnLease {
            back,
            interrupted: before.leased_turn(),
            ..new_lease(owner, &before.id, &turn.turn_id, before.language, &tree, answer_seq).continuing(before)
        };
        Ok(Self { lease, tip: tip.unwrap_or(answer_seq), tree })
    }
}

/// Builds the update by which the next turn acquires the conversation, if nothing has changed since `before` was read
/// and no lease is valid. A turn that has ended meanwhile is a change: its answer is not interrupted.
pub(super) fn acquire_update(before: &Head, next: &NextTurn, turn: &NewTurn, now: SystemTime) -> Expression {
    let NextTurn { lease, tree, tip } = next;
    let is_last = lease.answer_seq == tree.last();
    let optional = [(BACK, lease.back), (ANSWERING, (!is_last).then_some(lease.answer_seq))];
    let set = optional.iter().filter_map(|(name, value)| Some((*name, n((*value)?))));
    let removed = optional.iter().filter(|(_, value)| value.is_none());
    let removed = removed.fold(STOPPING.to_owned(), |list, (name, _)| format!("{list}, {name}"));
    let change = [
        ("seq", n(tree.last())),
        ("turn", s(&lease.turn_id)),
        ("leaseUntil", n(lease_end(now))),
        ("model", s(&turn.model)),
        (UPDATED_AT, n(before.updated_at.max(millis(now)))),
    ];
    let change = change.into_iter().chain(Head::branch_attributes(tree, *tip)).chain(set);
    let change = before.unchanged(Expression::set(change).and(&format!("REMOVE {removed}")));
    match &before.running {
        None => change.and_also("attribute_not_exists(turn)"),
        Some(dead) => change
            .and_also("turn = :dead AND (leaseUntil <= :now OR leaseUntil > :latest)")
            .value(":dead", s(&dead.turn_id))
            .value(":now", n(millis(now)))
            .value(":latest", n(latest_lease_end(now))),
    }
}
