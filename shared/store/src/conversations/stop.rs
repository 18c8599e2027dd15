use std::time::SystemTime;

use super::head::head_key;
use super::turn::{Renewed, TurnLease};
use super::{ConversationStore, ReadError};
use crate::item::{Item, Read, s};
use crate::key::Owner;
use crate::table::{Expression, Write};

/// The attribute of a head that names the turn that shall stop.
pub(super) const STOPPING: &str = "stopping";

impl ConversationStore {
    /// Asks the turn that runs in a conversation to stop; false when none runs.
    ///
    /// Whoever runs it is told by the next renewal of its lease. The turn is named, so that nothing comes of it once that
    /// turn is over, whatever began meanwhile.
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

/// What a head says to the holder of a lease.
pub(super) fn renewed(head: &Item, lease: &TurnLease) -> Renewed {
    let asked = head.contains_key(STOPPING) && head.text(STOPPING).is_ok_and(|turn| turn == lease.turn_id);
    if asked { Renewed::Stopping } else { Renewed::GoingOn }
}
