//! The latest attempts at an endpoint, in the order in which they began.

/// How many attempts are looked at, back from the latest that failed.
const ATTEMPTS: u64 = 16;

/// How many of them must have failed, and at least half.
const FAULTS: u32 = 5;

/// Which of the latest attempts failed.
///
/// It is their beginnings that have an order, not their ends: of a thousand that begin together those that are refused are
/// the first to end, and those that stall the last, and neither says that nothing works. An attempt that still waits
/// counts like one that works; if the endpoint is down, it fails in its time.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The number of the latest attempt; they count from 1.
    begun: u64,
    /// The number of the latest attempt that failed.
    failed: u64,
    /// One bit for each attempt back from there, the lowest for itself: whether it failed.
    faults: u16,
    /// What began until this number counts no more.
    cleared: u64,
}

impl Window {
    /// Gives the next attempt its number.
    pub(super) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Takes note of a fault; whether too many have failed.
    pub(super) fn failed(&mut self, attempt: u64) -> bool {
        if attempt <= self.cleared {
            return false;
        }
        self.faults = shifted(self.faults, attempt.saturating_sub(self.failed));
        self.failed = self.failed.max(attempt);
        self.faults |= shifted(1, self.failed - attempt);
        let seen = (self.failed - self.cleared).min(ATTEMPTS);
        let faults = self.faults.count_ones();
        faults >= FAULTS && u64::from(faults) * 2 >= seen
    }

    /// Forgets every attempt that has begun.
    pub(super) fn clear(&mut self) {
        *self = Self { begun: self.begun, cleared: self.begun, ..Self::default() };
    }
}

/// What is left of the bits that many attempts later.
fn shifted(bits: u16, attempts: u64) -> u16 {
    u32::try_from(attempts).ok().and_then(|by| bits.checked_shl(by)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
