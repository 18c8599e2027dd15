//! Which turns may start, and until when they run.

use std::time::{Duration, SystemTime};

use domain::{ErrorCode, Failure, Groups, Owner, RequestOrigin, TurnError};
use store::{Admission, RateLimit, Store, StoreError};
use tokio::time::Instant;
use work::{FairSlot, FairSlots};

use crate::budgets::{Budgets, retry_seconds};

/// The part of an invocation's time that is reserved for storing the answer and ending the stream.
const RESERVE: Duration = Duration::from_secs(8);

/// Maximum number of turns that start at the same time. Each makes a few calls of the store one after the other, so DynamoDB
/// still gets hundreds of turns a second.
const MAX_STARTING: usize = 8;

/// Maximum number of turns of one owner that start at the same time. A turn of another owner waits for so few of them,
/// because the queue for a start holds no more of each owner.
const MAX_STARTING_PER_OWNER: usize = 2;

/// The limits that a turn must pass to start.
#[derive(Clone, Debug)]
pub struct TurnLimits {
    /// The rate limit of turns, per owner.
    pub rate: RateLimit,
    /// The daily budgets.
    pub budgets: Budgets,
    /// The maximum duration of a turn.
    pub max_duration: Duration,
}

impl TurnLimits {
    /// Rejects a turn whose owner has exhausted the rate limit or a budget, or whose groups have exhausted one. Returns the
    /// owner's instructions, `None` if they could not be read.
    pub(crate) async fn check(
        &self,
        store: &Store,
        owner: &Owner,
        groups: &Groups,
        now: SystemTime,
    ) -> Result<Option<String>, TurnError> {
        let instructions = self.check_rate(store, owner, now).await?;
        self.budgets.check(&store.ledger, owner, groups, now).await?;
        Ok(instructions)
    }

    async fn check_rate(&self, store: &Store, owner: &Owner, now: SystemTime) -> Result<Option<String>, TurnError> {
        let admission = store.rate_limiter.admit_turn(owner, self.rate, now).await;
        let (admission, instructions) = admission.map_err(|error| match error {
            StoreError::Full | StoreError::Damaged => error.into(),
            StoreError::Busy | StoreError::Fault(_) => TurnError::caused_by(ErrorCode::StorageBusy, error),
        })?;
        match admission {
            Admission::Admitted => Ok(instructions),
            Admission::Denied { retry_after } => {
                Err(Failure::from(ErrorCode::RateLimited).with_retry_after(retry_seconds(retry_after)).into())
            }
        }
    }
}

/// Limits how many turns start at the same time, in all and of each owner.
///
/// A load spike waits here, before any timer runs, and not at the store: there it would delay the running turns, which must
/// store their answers and renew their leases in time, and requests of other owners.
pub(crate) struct AdmissionGate(FairSlots<Owner>);

impl Default for AdmissionGate {
    fn default() -> Self {
        Self(FairSlots::new(MAX_STARTING).with_per_owner(MAX_STARTING_PER_OWNER))
    }
}

impl AdmissionGate {
    pub(crate) async fn acquire(&self, owner: &Owner) -> Result<FairSlot<Owner>, TurnError> {
        self.0.acquire(owner).await.map_err(|_| ErrorCode::Interrupted.into())
    }
}

/// When a turn that starts now must be over: shortly before the invocation that carries it, so that its answer is stored in
/// time.
pub fn deadline(limits: &TurnLimits, request: Option<&RequestOrigin>) -> Instant {
    let now = Instant::now();
    let longest = now + limits.max_duration;
    let Some(deadline) = request.and_then(|request| request.deadline) else { return longest };
    longest.min(Instant::from_std(deadline).checked_sub(RESERVE).unwrap_or(now))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn starting_turns_are_limited_and_dropped_permits_reused() {
        let (gate, owners) = (AdmissionGate::default(), (0..MAX_STARTING).map(|id| Owner::new(id.to_string())));
        let owners: Vec<_> = owners.collect();
        let mut permits: Vec<_> = owners.iter().filter_map(|owner| gate.acquire(owner).now_or_never()).collect();
        assert!(permits.len() == MAX_STARTING && permits.iter().all(Result::is_ok));
        assert!(gate.acquire(&Owner::new("ada")).now_or_never().is_none());
        permits.pop();
        assert!(gate.acquire(&Owner::new("ada")).now_or_never().is_some_and(|permit| permit.is_ok()));
    }

    #[test]
    fn load_spike_leaves_starts_to_other_owners() {
        let (gate, ada, bob) = (AdmissionGate::default(), Owner::new("ada"), Owner::new("bob"));
        let permits: Vec<_> = (0..100).filter_map(|_| gate.acquire(&ada).now_or_never()).collect();
        assert_eq!(permits.len(), MAX_STARTING_PER_OWNER);
        assert!(gate.acquire(&bob).now_or_never().is_some());
    }
}
