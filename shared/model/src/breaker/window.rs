//! The latest attempts at an endpoint, in the order in which they began.

/// The number of attempts that are considered, back from the latest failed one.
const ATTEMPTS: u64 = 16;

/// The number of them that must have failed; also at least half.
const FAULTS: u32 = 5;

/// Which of the latest attempts failed.
///
/// Attempts are ordered by their start, not by their end. Of a thousand that start together, rejected ones end first and
/// stalled ones end last; neither proves an outage. An attempt in progress counts as successful: if the endpoint is
/// down, it will fail later.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The number of the latest attempt, from 1.
    begun: u64,
    /// The number of the latest attempt that failed.
    failed: u64,
    /// One bit per attempt, set if it failed. The lowest bit is the latest failed attempt; higher bits are earlier ones.
    faults: u16,
    /// Attempts up to this number are ignored.
    cleared: u64,
}

impl Window {
    /// Returns the number of the next attempt.
    pub(super) fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    /// Records a failed attempt; returns whether too many have failed.
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

    /// Ignores every attempt that has started so far.
    pub(super) fn clear(&mut self) {
        *self = Self { begun: self.begun, cleared: self.begun, ..Self::default() };
    }
}

/// Shifts the bits by that many attempts; bits beyond the window are lost.
fn shifted(bits: u16, attempts: u64) -> u16 {
    u32::try_from(attempts).ok().and_then(|by| bits.checked_shl(by)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
