use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::lock;

/// A fixed number of slots; each owner uses or awaits at most one at a time, or a few where that is set.
///
/// Further requests of an owner wait in order until one is done. So the queue for a slot holds each owner once: a request
/// waits for at most one task of every other owner, however many tasks each of them has.
#[derive(Debug)]
pub struct FairSlots<K> {
    slots: Arc<Semaphore>,
    per_owner: usize,
    lanes: Lanes<K>,
}

type Lanes<K> = Arc<Mutex<HashMap<K, Lane>>>;

/// The requests of one owner; its gate admits as many at a time as an owner may have.
#[derive(Debug)]
struct Lane {
    gate: Arc<Semaphore>,
    requests: usize,
}

/// A slot; dropping it frees it for the next request.
#[derive(Debug)]
#[must_use = "dropping a slot frees it"]
pub struct FairSlot<K: Eq + Hash> {
    // Fields are dropped in this order: the slot first, so that another owner gets it before this owner's next request.
    _slot: OwnedSemaphorePermit,
    _gate_permit: OwnedSemaphorePermit,
    _request: LaneRequest<K>,
}

/// Counts a request in the lane of its owner until it is dropped.
#[derive(Debug)]
struct LaneRequest<K: Eq + Hash> {
    lanes: Lanes<K>,
    owner: K,
    gate: Arc<Semaphore>,
}

impl<K: Clone + Eq + Hash> FairSlots<K> {
    /// Creates this many slots, all free.
    pub fn new(slots: usize) -> Self {
        Self { slots: Arc::new(Semaphore::new(slots)), per_owner: 1, lanes: Arc::default() }
    }

    /// Lets each owner use or await this many slots at a time.
    #[must_use]
    pub fn with_per_owner(self, per_owner: usize) -> Self {
        Self { per_owner, ..self }
    }

    /// Waits for a slot. Dropping the future gives up the request.
    ///
    /// # Errors
    /// None in practice: the slots are never closed.
    pub async fn acquire(&self, owner: &K) -> Result<FairSlot<K>, AcquireError> {
        let request = LaneRequest::new(Arc::clone(&self.lanes), owner.clone(), self.per_owner);
        let gate_permit = Arc::clone(&request.gate).acquire_owned().await?;
        let slot = Arc::clone(&self.slots).acquire_owned().await?;
        Ok(FairSlot { _slot: slot, _gate_permit: gate_permit, _request: request })
    }
}

impl<K: Clone + Eq + Hash> LaneRequest<K> {
    fn new(lanes: Lanes<K>, owner: K, per_owner: usize) -> Self {
        let gate = {
            let mut lanes = lock(&lanes);
            let new = || Lane { gate: Arc::new(Semaphore::new(per_owner)), requests: 0 };
            let lane = lanes.entry(owner.clone()).or_insert_with(new);
            lane.requests += 1;
            Arc::clone(&lane.gate)
        };
        Self { lanes, owner, gate }
    }
}

impl<K: Eq + Hash> Drop for LaneRequest<K> {
    fn drop(&mut self) {
        let mut lanes = lock(&self.lanes);
        let Some(lane) = lanes.get_mut(&self.owner) else { return };
        lane.requests -= 1;
        if lane.requests == 0 {
            lanes.remove(&self.owner);
        }
    }
}

#[cfg(test)]
mod tests;
