//! Limits the number of open connections, and closes quiet ones for new ones.
//!
//! A connection is quiet without a request in progress: idle, with an incomplete head, waiting for its body, or with a
//! complete response that its client may still be reading. When all slots are taken, a new connection evicts the one that
//! has been quiet for longest. So only requests in progress and streams hold slots, whatever clients send or do not read.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};
use work::lock;

/// Upper limit of connections, even if the system allows more: each may need 128 KiB.
const MAX_CONNECTIONS: usize = 8_192;

/// Lower limit of connections, even if the system allows fewer.
const MIN_CONNECTIONS: usize = 16;

/// All addresses of this machine count as one.
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Descriptors reserved for files and for the server's own connections.
const RESERVED_DESCRIPTORS: usize = 64;

/// Raises the process's limit of open files to the system's maximum.
///
/// A stream takes two connections, so with a limit of 1,024 some hundred concurrent turns would be rejected needlessly.
pub(crate) fn raise_open_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) total: usize,
    /// Per remote address, for IPv6 per /64. The networks of one IPv6 /48 have twice as many together.
    pub(crate) per_address: usize,
    /// From this machine, and so from all clients of a proxy on it.
    pub(crate) local: usize,
}

impl Limits {
    /// A third of the process's limit of open files: a turn also needs a connection to a model and one to a tool.
    pub(crate) fn of_this_process() -> Self {
        Self::within(getrlimit(Resource::Nofile).current)
    }

    fn within(open_files: Option<u64>) -> Self {
        let open_files = open_files.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
        let total = (open_files.saturating_sub(RESERVED_DESCRIPTORS) / 3).clamp(MIN_CONNECTIONS, MAX_CONNECTIONS);
        Self { total, per_address: total / 4, local: total - total / 8 }
    }

    /// The networks by which a client is counted, each with its limit.
    fn of_client(&self, client: IpAddr) -> [(IpAddr, usize); 2] {
        match web::network_prefix(client) {
            _ if client.to_canonical().is_loopback() => [(LOOPBACK, self.local); 2],
            network @ IpAddr::V4(_) => [(network, self.per_address); 2],
            network @ IpAddr::V6(address) => {
                let [a, b, c, ..] = address.segments();
                // Not the address of any /64, because their bits after the prefix are 0.
                let site = Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 1).into();
                [(network, self.per_address), (site, 2 * self.per_address)]
            }
        }
    }
}

/// The open connections; clones share them.
#[derive(Clone)]
pub(super) struct ConnectionSlots {
    limits: Limits,
    open: Arc<Mutex<OpenConnections>>,
    /// Notified when a connection becomes quiet or ends.
    freed: Arc<Notify>,
}

#[derive(Default)]
struct OpenConnections {
    by_id: BTreeMap<u64, OpenConnection>,
    /// Orders what happens to connections.
    clock: u64,
}

struct OpenConnection {
    networks: [IpAddr; 2],
    /// When the connection became quiet; `None` while a request is in progress.
    quiet_since: Option<u64>,
    /// Without it the connection cannot be evicted yet.
    task: Option<AbortHandle>,
}

/// Why a connection gets no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Full {
    /// Its remote network has requests in progress in all its slots.
    Network,
    /// All slots have requests in progress, or all of this machine.
    Server,
}

/// The slot of one connection, given up when dropped.
pub(super) struct ConnectionSlot(pub(super) SlotHandle);

/// Reports what a connection does; without effect once its slot was given up.
#[derive(Clone)]
pub(super) struct SlotHandle {
    slots: ConnectionSlots,
    id: u64,
}

impl ConnectionSlots {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, open: Arc::default(), freed: Arc::default() }
    }

    /// Acquires a slot for a client's connection, evicting a quiet one if needed. Requests in progress that soon have their
    /// response are awaited; `None` when that takes until `give_up_at`.
    pub(super) async fn acquire_until(&self, client: IpAddr, give_up_at: Instant) -> Option<ConnectionSlot> {
        loop {
            let freed = self.freed.notified();
            match self.acquire(client) {
                Ok(slot) => return Some(slot),
                Err(Full::Network) => return None,
                Err(Full::Server) => timeout_at(give_up_at, freed).await.ok()?,
            }
        }
    }

    fn acquire(&self, client: IpAddr) -> Result<ConnectionSlot, Full> {
        let limits = self.limits.of_client(client);
        let mut open = lock(&self.open);
        for (network, limit) in limits {
            let is_from = |connection: &OpenConnection| connection.networks.contains(&network);
            let count = open.by_id.values().filter(|connection| is_from(connection)).count();
            if count >= limit && !open.evict(is_from) {
                return Err(if network == LOOPBACK { Full::Server } else { Full::Network });
            }
        }
        if open.by_id.len() >= self.limits.total && !open.evict(|_| true) {
            return Err(Full::Server);
        }
        let id = open.tick();
        let networks = limits.map(|(network, _)| network);
        open.by_id.insert(id, OpenConnection { networks, quiet_since: Some(id), task: None });
        Ok(ConnectionSlot(SlotHandle { slots: self.clone(), id }))
    }
}

impl OpenConnections {
    /// Closes the connection that matches `of` and has been quiet for longest; returns whether there was one.
    fn evict(&mut self, of: impl Fn(&OpenConnection) -> bool) -> bool {
        let evictable = self.by_id.iter().filter(|(_, connection)| connection.task.is_some() && of(connection));
        let longest = evictable.filter_map(|(id, connection)| Some((connection.quiet_since?, *id))).min();
        let task = longest.and_then(|(_, id)| self.by_id.remove(&id)?.task);
        task.inspect(AbortHandle::abort).is_some()
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

impl SlotHandle {
    /// Lets the connection be evicted while it is quiet.
    pub(super) fn set_task(&self, task: AbortHandle) {
        if let Some(connection) = lock(&self.slots.open).by_id.get_mut(&self.id) {
            connection.task = Some(task);
        }
    }

    /// Marks the first request of the connection as in progress; returns whether it is the first. Later ones wait for their
    /// turn as a quiet connection.
    pub(super) fn set_busy_if_new(&self) -> bool {
        let mut open = lock(&self.slots.open);
        let connection = open.by_id.get_mut(&self.id).filter(|connection| connection.quiet_since == Some(self.id));
        connection.map(|connection| connection.quiet_since = None).is_some()
    }

    /// Marks a request as in progress; returns whether the connection still has its slot.
    pub(super) fn set_busy(&self) -> bool {
        lock(&self.slots.open).by_id.get_mut(&self.id).map(|connection| connection.quiet_since = None).is_some()
    }

    /// Marks the connection as quiet from now on.
    pub(super) fn set_quiet(&self) {
        let mut open = lock(&self.slots.open);
        let now = open.tick();
        if let Some(connection) = open.by_id.get_mut(&self.id) {
            connection.quiet_since = Some(now);
        }
        drop(open);
        self.slots.freed.notify_waiters();
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        lock(&self.0.slots.open).by_id.remove(&self.0.id);
        self.0.slots.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use super::*;

    fn acquire_with_task(
        slots: &ConnectionSlots,
        client: IpAddr,
    ) -> Option<(ConnectionSlot, tokio::task::JoinHandle<()>)> {
        let slot = slots.acquire(client).ok()?;
        let task = tokio::spawn(pending());
        slot.0.set_task(task.abort_handle());
        Some((slot, task))
    }

    #[test]
    fn connection_limit_follows_open_file_limit() {
        let total = |open_files| Limits::within(open_files).total;
        assert_eq!([Some(0), Some(300), Some(1024), None].map(total), [16, 78, 320, MAX_CONNECTIONS]);
    }

    #[tokio::test]
    async fn new_connection_evicts_oldest_idle_one() {
        let slots = ConnectionSlots::new(Limits { total: 3, per_address: 3, local: 3 });
        let local = IpAddr::from(Ipv4Addr::LOCALHOST);
        let (first, second) = (acquire_with_task(&slots, local).unwrap(), acquire_with_task(&slots, local).unwrap());
        let third = acquire_with_task(&slots, local).unwrap();
        assert!(first.0.0.set_busy());
        let fourth = acquire_with_task(&slots, local).unwrap();
        assert!(second.1.await.unwrap_err().is_cancelled());
        assert!(!second.0.0.set_busy(), "what was closed begins nothing");
        drop(second.0);
        assert!(third.0.0.set_busy() && fourth.0.0.set_busy());
        assert!(acquire_with_task(&slots, local).is_none(), "nobody who is being answered gives way");
        first.0.0.set_quiet();
        let fifth = acquire_with_task(&slots, local).unwrap();
        assert!(first.1.await.unwrap_err().is_cancelled());
        drop((third, fourth, fifth, first.0));
        assert!(lock(&slots.open).by_id.is_empty());
    }

    #[tokio::test]
    async fn connection_quiet_for_longest_is_evicted() {
        let slots = ConnectionSlots::new(Limits { total: 2, per_address: 2, local: 2 });
        let local = IpAddr::from(Ipv4Addr::LOCALHOST);
        let (old, new) = (acquire_with_task(&slots, local).unwrap(), acquire_with_task(&slots, local).unwrap());
        assert!(old.0.0.set_busy());
        old.0.0.set_quiet();
        let _next = acquire_with_task(&slots, local).unwrap();
        assert!(new.1.await.unwrap_err().is_cancelled() && !old.1.is_finished());
    }

    #[tokio::test]
    async fn new_connection_waits_for_requests_in_progress() {
        let slots = ConnectionSlots::new(Limits { total: 1, per_address: 1, local: 1 });
        let local = IpAddr::from(Ipv4Addr::LOCALHOST);
        let first = acquire_with_task(&slots, local).unwrap();
        assert!(first.0.0.set_busy());
        assert!(slots.acquire_until(local, Instant::now()).await.is_none());
        let soon = slots.acquire_until(local, Instant::now() + Duration::from_mins(1));
        let (second, ()) = tokio::join!(soon, async { first.0.0.set_quiet() });
        assert!(second.is_some());
    }

    #[tokio::test]
    async fn remote_address_is_limited_to_its_share() {
        let slots = ConnectionSlots::new(Limits { total: 12, per_address: 2, local: 8 });
        let remote = |text: &str| text.parse().unwrap();
        let open = |text: &str| {
            let (slot, _) = acquire_with_task(&slots, remote(text))?;
            slot.0.set_busy().then_some(slot)
        };
        let mut requests = vec![open("2001:db8::1").unwrap(), open("2001:db8::2").unwrap()];
        assert!(open("2001:db8::3").is_none(), "a network counts as one address");
        requests.extend([open("2001:db8:0:1::1").unwrap(), open("2001:db8:0:1::2").unwrap()]);
        assert!(open("2001:db8:0:2::1").is_none(), "all networks of a site have twice the share of one");
        let far = open("2001:db8:1::1").unwrap();
        drop((requests, far));
        let own: Vec<_> =
            ["127.0.0.1", "::1", "127.0.0.1", "::ffff:127.0.0.1"].map(open).into_iter().flatten().collect();
        let more: Vec<_> = (0..8).map_while(|_| open("127.0.0.1")).collect();
        assert_eq!(own.len() + more.len(), 8, "this machine has a larger share");
        assert!(open("203.0.113.9").is_some(), "and leaves some for others");
    }
}
