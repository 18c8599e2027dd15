use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Failed attempts that an address may make at once.
const BURST: u32 = 600;

/// After this long one attempt comes back.
const INTERVAL: Duration = Duration::from_millis(100);

/// The most addresses that are remembered.
const MOST: usize = 10_000;

/// Failed attempts by address, in this instance: each address has a burst and gets one back at every interval.
///
/// No secret can be guessed at any speed; what is limited is the cost of look-ups and signatures.
#[derive(Default)]
pub(super) struct Attempts {
    /// The time at which an address is back at its full burst.
    full: Mutex<HashMap<IpAddr, SystemTime>>,
}

impl Attempts {
    /// How long an address must wait before its next attempt, if it must.
    pub(super) fn wait(&self, address: IpAddr, now: SystemTime) -> Option<Duration> {
        let full = self.full().get(&address).copied()?;
        let over = full.duration_since(now).ok()?.checked_sub(INTERVAL * (BURST - 1))?;
        (!over.is_zero()).then_some(over)
    }

    /// Counts a failed attempt.
    pub(super) fn count(&self, address: IpAddr, now: SystemTime) {
        let mut full = self.full();
        if full.len() >= MOST && !full.contains_key(&address) {
            full.retain(|_, at| *at > now);
        }
        if full.len() >= MOST && !full.contains_key(&address) {
            full.clear();
        }
        let at = full.entry(address).or_insert(now);
        *at = (*at).max(now) + INTERVAL;
    }

    fn full(&self) -> MutexGuard<'_, HashMap<IpAddr, SystemTime>> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::UNIX_EPOCH;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(number).into()
    }

    #[test]
    fn f142_an_address_has_a_burst_and_then_waits_and_others_do_not() {
        let attempts = Attempts::default();
        for made in 0..BURST {
            assert_eq!(attempts.wait(address(1), UNIX_EPOCH), None, "{made}");
            attempts.count(address(1), UNIX_EPOCH);
        }
        assert_eq!(attempts.wait(address(1), UNIX_EPOCH), Some(INTERVAL));
        assert_eq!(attempts.wait(address(2), UNIX_EPOCH), None);
        assert_eq!(attempts.wait(address(1), UNIX_EPOCH + INTERVAL), None);
        attempts.count(address(1), UNIX_EPOCH + INTERVAL);
        assert_eq!(attempts.wait(address(1), UNIX_EPOCH + INTERVAL), Some(INTERVAL));
        assert_eq!(attempts.wait(address(1), UNIX_EPOCH + INTERVAL * BURST), None);
    }

    #[test]
    fn f142_the_memory_of_attempts_has_an_end() {
        let attempts = Attempts::default();
        for number in 0..=u32::try_from(MOST).unwrap() {
            attempts.count(address(number), UNIX_EPOCH);
        }
        assert_eq!(attempts.full().len(), 1);
    }
}
