use std::time::SystemTime;

use super::head::{STOPPING, head_key};
use super::turn::{LeaseState, TurnLease};
use super::{ConversationStore, ReadError};
use crate::item::{Item, ItemExt, s};
use crate::table::{Expression, WriteOutcome};
use domain::Owner;

impl ConversationStore {
    /// Requests that the running turn of a conversation stops, or only this one; false when it does not run.
    ///
    /// The turn's task receives the request with the next renewal of its lease. The request names the turn, so that it
    /// never affects a later one.
    pub async fn request_stop(
        &self,
        owner: &Owner,
        id: &str,
        turn_id: Option<&str>,
        now: SystemTime,
    ) -> Result<bool, ReadError> {
        let head = self.head(owner, id, now).await?.ok_or(ReadError::NotFound)?;
        let running = head.running.filter(|running| running.remaining_lease(now).is_some());
        let Some(running) = running.filter(|running| turn_id.is_none_or(|id| running.turn_id == id)) else {
            return Ok(false);
        };
        let request = Expression::update(format!("SET {STOPPING} = :turn")).and_when("turn = :turn");
        match self.table.update(&head_key(owner, id), request.value(":turn", s(running.turn_id))).await? {
            WriteOutcome::Written(_) => Ok(true),
            WriteOutcome::ConditionFailed(Some(_)) => Ok(false),
            WriteOutcome::ConditionFailed(None) => Err(ReadError::NotFound),
        }
    }
}

pub(super) fn lease_state(head: &Item, lease: &TurnLease) -> LeaseState {
    let stop_requested = head.contains_key(STOPPING) && head.text(STOPPING).is_ok_and(|turn| turn == lease.turn_id);
    if stop_requested { LeaseState::StopRequested } else { LeaseState::Active }
}
