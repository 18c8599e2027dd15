use std::time::SystemTime;

use super::head::head_key;
use super::turn::{Renewed, TurnLease};
use super::{ConversationStore, ReadError};
use crate::item::{Item, Read, s};
use crate::key::Owner;
use crate::table::{Expression, Write};

/// The attribute of a head with the turn that must stop.
pub(super) const STOPPING: &str = "stopping";

impl ConversationStore {
    /// Requests that the running turn of a conversation stops; false when none runs.
    ///
    /// The turn's task receives the request with the next renewal of its lease. The request names the turn, so that it
    /// never affects a later one.
    pub async fn stop(&self, owner: &Owner, id: &str, now: SystemTime) -> Result<bool, ReadError> {
        let head = self.head(owner, id).await?.ok_or(ReadError::NotFound)?;
        let Some(running) = head.running.filter(|running| running.left(now).is_some()) else { return Ok(false) };
        let asked = Expression::update(format!("SET {STOPPING} = :turn")).and_when("turn = :turn");
        match self.table.update(&head_key(owner, id), asked.value(":turn", s(running.turn))).await? {
            Write::Done(_) => Ok(true),
            Write::Refused(Some(_)) => Ok(false),
            Write::Refused(None) => Err(ReadError::NotFound),
        }
    }
}

/// The state of a lease, read from its head.
pub(super) fn renewed(head: &Item, lease: &TurnLease) -> Renewed {
    let asked = head.contains_key(STOPPING) && head.text(STOPPING).is_ok_and(|turn| turn == lease.turn_id);
    if asked { Renewed::Stopping } else { Renewed::GoingOn }
}
