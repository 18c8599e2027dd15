use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use work::{lock, make_space};

const MAX_ADDRESSES: usize = 10_000;

/// Limits attempts by address in this instance: each address has a burst and regains one attempt per interval.
///
/// Secrets cannot be guessed at any rate; this limits the cost of lookups and signature checks. An attempt is taken
/// before its work begins, so that concurrent ones cannot exceed the limit, and given back if the credential was valid.
pub(super) struct AttemptLimiter {
    burst: u32,
    interval: Duration,
    /// When each address has its full burst again.
    full_at: Mutex<HashMap<IpAddr, SystemTime>>,
}

impl AttemptLimiter {
    pub(super) fn new(burst: u32, interval: Duration) -> Self {
        Self { burst, interval, full_at: Mutex::default() }
    }

    /// Takes a number of attempts of an address.
    ///
    /// # Errors
    /// How long the address must wait for them; then none is taken.
    pub(super) fn take(&self, address: IpAddr, attempts: u32, now: SystemTime) -> Result<(), Duration> {
        let mut full_at = lock(&self.full_at);
        if !full_at.contains_key(&address) {
            make_space(&mut full_at, MAX_ADDRESSES, |at| *at > now);
        }
        let at = full_at.entry(address).or_insert(now);
        // A later time than a whole burst means that the clock was set back.
        *at = (*at).clamp(now, now + self.interval * self.burst);
        let latest = now + self.interval * self.burst.saturating_sub(attempts);
        match at.duration_since(latest) {
            Ok(over) if !over.is_zero() => Err(over),
            _ => {
                *at += self.interval * attempts.min(self.burst);
                Ok(())
            }
        }
    }

    pub(super) fn give_back(&self, address: IpAddr, attempts: u32) {
        if let Some(at) = lock(&self.full_at).get_mut(&address) {
            *at = at.checked_sub(self.interval * attempts).unwrap_or(SystemTime::UNIX_EPOCH);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::UNIX_EPOCH;

    use super::*;

    const INTERVAL: Duration = Duration::from_millis(100);

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(number).into()
    }

    #[test]
    fn f142_burst_limits_one_address_only() {
        let limiter = AttemptLimiter::new(600, INTERVAL);
        let take = |number, now| limiter.take(address(number), 1, now);
        for attempt in 0..600 {
            assert_eq!(take(1, UNIX_EPOCH), Ok(()), "{attempt}");
        }
        assert_eq!(take(1, UNIX_EPOCH), Err(INTERVAL));
        assert_eq!(take(2, UNIX_EPOCH), Ok(()));
        assert_eq!(take(1, UNIX_EPOCH + INTERVAL), Ok(()));
        assert_eq!(take(1, UNIX_EPOCH + INTERVAL), Err(INTERVAL));
        limiter.give_back(address(1), 1);
        assert_eq!(take(1, UNIX_EPOCH + INTERVAL), Ok(()));
        assert_eq!(limiter.take(address(1), 600, UNIX_EPOCH + INTERVAL * 600), Err(INTERVAL));
        assert_eq!(limiter.take(address(1), 600, UNIX_EPOCH + INTERVAL * 601), Ok(()));
    }

    #[test]
    fn f142_clock_set_back_extends_no_wait() {
        let limiter = AttemptLimiter::new(2, INTERVAL);
        for _ in 0..2 {
            assert_eq!(limiter.take(address(1), 1, UNIX_EPOCH + Duration::from_hours(1)), Ok(()));
        }
        assert_eq!(limiter.take(address(1), 1, UNIX_EPOCH), Err(INTERVAL));
        assert_eq!(limiter.take(address(1), 1, UNIX_EPOCH + INTERVAL), Ok(()));
    }

    #[test]
    fn f142_tracked_addresses_are_bounded() {
        let limiter = AttemptLimiter::new(600, INTERVAL);
        for number in 0..=u32::try_from(MAX_ADDRESSES).unwrap() {
            assert_eq!(limiter.take(address(number), 1, UNIX_EPOCH), Ok(()));
        }
        assert_eq!(lock(&limiter.full_at).len(), 1);
    }
}
