//! Limits the number of open connections, and closes idle ones for new ones.
//!
//! When all slots are taken, a new connection evicts the oldest one without a request in progress: idle, with an
//! incomplete head, or waiting for its body. So clients that open connections and send nothing do not block others.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::task::AbortHandle;

use crate::open_files;

/// Upper limit of connections, even if the system allows more: each may need 128 KiB.
const MAX_CONNECTIONS: usize = 8_192;

/// Lower limit of connections, even if the system allows fewer.
const MIN_CONNECTIONS: usize = 16;

/// Descriptors reserved for files and for the server's own connections.
const RESERVED_DESCRIPTORS: usize = 64;

/// Limits of the number of open connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// In total.
    pub(crate) total: usize,
    /// Per remote address (for IPv6 per network); connections from this machine count only towards the total.
    pub(crate) per_address: usize,
}

impl Limits {
    /// A third of the process's limit of open files: a turn also needs a connection to a model and one to a tool.
    pub(crate) fn of_this_process() -> Self {
        Self::within(open_files::limit())
    }

    fn within(open_files: Option<u64>) -> Self {
        let open_files = open_files.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let total = (open_files.saturating_sub(RESERVED_DESCRIPTORS) / 3).clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
        Self { total, per_address: total / 4 }
    }
}

/// The open connections.
#[derive(Clone)]
pub(super) struct ConnectionSlots(Arc<Shared>);

struct Shared {
    limits: Limits,
    open: Mutex<OpenConnections>,
}

#[derive(Default)]
struct OpenConnections {
    /// Keyed by arrival order.
    connections: BTreeMap<u64, Arc<OpenConnection>>,
    next: u64,
    per_address: HashMap<IpAddr, usize>,
}

const IDLE: u8 = 0;
const BUSY: u8 = 1;
const EVICTED: u8 = 2;
/// A request began and waits for more of its body.
const AWAITING: u8 = 3;

struct OpenConnection {
    address: IpAddr,
    state: AtomicU8,
    task: OnceLock<AbortHandle>,
}

/// The slot of one connection, given up when dropped.
pub(super) struct ConnectionSlot {
    slots: ConnectionSlots,
    id: u64,
    slot: Arc<OpenConnection>,
}

/// A request in progress; its connection is idle again when this is dropped.
pub(super) struct ActiveRequest {
    slot: Arc<OpenConnection>,
    stays_busy: bool,
}

impl ConnectionSlots {
    pub(super) fn new(limits: Limits) -> Self {
        Self(Arc::new(Shared { limits, open: Mutex::default() }))
    }

    /// Acquires a slot for a client's connection, evicting an idle one if needed; `None` when all are in use.
    pub(super) fn acquire(&self, client: IpAddr) -> Option<ConnectionSlot> {
        let Limits { total, per_address } = self.0.limits;
        let (address, mut open) = (web::network_prefix(client), self.open());
        let of_address = open.per_address.get(&address).copied().unwrap_or_default();
        if !address.is_loopback() && of_address >= per_address && !open.evict(|slot| slot.address == address) {
            return None;
        }
        if open.connections.len() >= total && !open.evict(|_| true) {
            return None;
        }
        let slot = Arc::new(OpenConnection { address, state: AtomicU8::new(IDLE), task: OnceLock::new() });
        let id = open.next;
        open.next += 1;
        open.connections.insert(id, Arc::clone(&slot));
        *open.per_address.entry(address).or_default() += 1;
        Some(ConnectionSlot { slots: self.clone(), id, slot })
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    /// Closes the oldest idle connection that matches `of`; returns whether there was one.
    fn evict(&mut self, of: impl Fn(&OpenConnection) -> bool) -> bool {
        let waits = |slot: &OpenConnection| slot.transition(IDLE, EVICTED) || slot.transition(AWAITING, EVICTED);
        let closes = |slot: &OpenConnection| slot.task.get().is_some() && waits(slot);
        let id = self.connections.iter().find(|(_, slot)| of(slot) && closes(slot)).map(|(id, _)| *id);
        let slot = id.and_then(|id| self.remove(id));
        if let Some(task) = slot.as_ref().and_then(|slot| slot.task.get()) {
            task.abort();
        }
        slot.is_some()
    }

    fn remove(&mut self, id: u64) -> Option<Arc<OpenConnection>> {
        let slot = self.connections.remove(&id)?;
        if let Some(count) = self.per_address.get_mut(&slot.address) {
            *count -= 1;
            if *count == 0 {
                self.per_address.remove(&slot.address);
            }
        }
        Some(slot)
    }
}

impl OpenConnection {
    fn transition(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl ConnectionSlot {
    /// Returns the cell that receives the connection's task.
    pub(super) fn task(&self) -> SlotTask {
        SlotTask(Arc::clone(&self.slot))
    }

    /// Marks a request as in progress; `None` when the connection was just evicted.
    pub(super) fn begin(&self) -> Option<ActiveRequest> {
        let begins = self.slot.transition(IDLE, BUSY) || self.slot.state.load(Ordering::Acquire) != EVICTED;
        begins.then(|| ActiveRequest { slot: Arc::clone(&self.slot), stays_busy: false })
    }
}

/// Cell for the task of a connection; once it is set, the connection can be evicted while idle.
pub(super) struct SlotTask(Arc<OpenConnection>);

impl SlotTask {
    pub(super) fn set(self, task: AbortHandle) {
        let _first = self.0.task.set(task);
    }
}

/// Records for a connection whether its request waits for more of its body.
pub(super) struct BodyWait(Arc<OpenConnection>);

impl BodyWait {
    pub(super) fn set(&self, waits: bool) {
        let (from, to) = if waits { (BUSY, AWAITING) } else { (AWAITING, BUSY) };
        self.0.transition(from, to);
    }
}

/// A dropped body is no longer waited for.
impl Drop for BodyWait {
    fn drop(&mut self) {
        self.set(false);
    }
}

impl ActiveRequest {
    /// Returns the wait marker for the request's body.
    pub(super) fn body_wait(&self) -> BodyWait {
        BodyWait(Arc::clone(&self.slot))
    }

    /// Leaves the connection busy until its next request, because the end of the response is not observed.
    pub(super) fn leave_busy(mut self) {
        self.stays_busy = true;
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        if !self.stays_busy {
            let _one = self.slot.transition(BUSY, IDLE) || self.slot.transition(AWAITING, IDLE);
        }
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.slots.open().remove(self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::net::Ipv4Addr;

    use super::*;

    fn acquire_with_task(
        slots: &ConnectionSlots,
        client: IpAddr,
    ) -> Option<(ConnectionSlot, tokio::task::JoinHandle<()>)> {
        let slot = slots.acquire(client)?;
        let task = tokio::spawn(pending());
        slot.task().set(task.abort_handle());
        Some((slot, task))
    }

    #[test]
    fn connection_limit_follows_open_file_limit() {
        let total = |open_files| Limits::within(open_files).total;
        assert_eq!([Some(0), Some(300), Some(1024), None].map(total), [16, 78, 320, MAX_CONNECTIONS]);
    }

    #[tokio::test]
    async fn new_connection_evicts_oldest_idle_one() {
        let slots = ConnectionSlots::new(Limits { total: 3, per_address: 3 });
        let local = IpAddr::from(Ipv4Addr::LOCALHOST);
        let (first, second) = (acquire_with_task(&slots, local).unwrap(), acquire_with_task(&slots, local).unwrap());
        let third = acquire_with_task(&slots, local).unwrap();
        let busy = first.0.begin().unwrap();
        let fourth = acquire_with_task(&slots, local).unwrap();
        assert!(second.1.await.unwrap_err().is_cancelled());
        assert!(second.0.begin().is_none(), "what was closed begins nothing");
        drop(second.0);
        let requests = [third.0.begin().unwrap(), fourth.0.begin().unwrap()];
        assert!(acquire_with_task(&slots, local).is_none(), "nobody who is being answered gives way");
        drop(busy);
        let fifth = acquire_with_task(&slots, local).unwrap();
        assert!(first.1.await.unwrap_err().is_cancelled());
        drop((requests, third, fourth, fifth, first.0));
        assert!(slots.open().connections.is_empty() && slots.open().per_address.is_empty());
    }

    #[tokio::test]
    async fn remote_address_is_limited_to_its_share() {
        let slots = ConnectionSlots::new(Limits { total: 8, per_address: 2 });
        let remote = |text: &str| text.parse().unwrap();
        let mut requests = Vec::new();
        for text in ["2001:db8::1", "2001:db8::2"] {
            let (slot, _) = acquire_with_task(&slots, remote(text)).unwrap();
            requests.push((slot.begin().unwrap(), slot));
        }
        assert!(acquire_with_task(&slots, remote("2001:db8::3")).is_none(), "a network counts as one address");
        assert!(acquire_with_task(&slots, remote("2001:db8:0:1::1")).is_some());
        let own: Vec<_> = (0..6).map_while(|_| acquire_with_task(&slots, remote("127.0.0.1"))).collect();
        assert_eq!(own.len(), 6, "this machine's own count in all alone");
    }
}
