//! The latest attempts at an endpoint, in the order in which they began.

/// The number of attempts that are considered, back from the latest failed one.
const WINDOW_LEN: u64 = 16;

/// The number of them that must have failed; also at least half.
const MIN_FAILURES: u32 = 5;

/// Which of the latest attempts failed.
///
/// Attempts are ordered by their start, not by their end. Of a thousand that start together, rejected ones end first and
/// stalled ones end last; neither proves an outage. An attempt in progress counts as successful: if the endpoint is
/// down, it will fail later.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// The number of the latest attempt, from 1.
    started: u64,
    latest_failed: u64,
    /// One bit per attempt, set if it failed. The lowest bit is the latest failed attempt; higher bits are earlier ones.
    failed_bits: u16,
    /// Attempts up to this number are ignored.
    cleared: u64,
}

impl Window {
    pub(super) fn begin(&mut self) -> u64 {
        self.started += 1;
        self.started
    }

    /// Records a failed attempt; returns whether too many have failed.
    pub(super) fn add_failure(&mut self, attempt: u64) -> bool {
        if attempt <= self.cleared {
            return false;
        }
        self.failed_bits = shift_left(self.failed_bits, attempt.saturating_sub(self.latest_failed));
        self.latest_failed = self.latest_failed.max(attempt);
        self.failed_bits |= shift_left(1, self.latest_failed - attempt);
        let seen = (self.latest_failed - self.cleared).min(WINDOW_LEN);
        let failures = self.failed_bits.count_ones();
        failures >= MIN_FAILURES && u64::from(failures) * 2 >= seen
    }

    /// Ignores every attempt that has started so far.
    pub(super) fn clear(&mut self) {
        *self = Self { started: self.started, cleared: self.started, ..Self::default() };
    }
}

/// Shifts the bits by that many attempts; bits beyond the window are lost.
fn shift_left(bits: u16, attempts: u64) -> u16 {
    u32::try_from(attempts).ok().and_then(|by| bits.checked_shl(by)).unwrap_or(0)
}

#[cfg(test)]
mod tests;
