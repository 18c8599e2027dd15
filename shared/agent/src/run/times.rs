use std::time::Duration;

use tokio::time::Instant;

/// What is kept of a turn for its last answer; a quarter of a short turn.
const RESERVE: Duration = Duration::from_secs(15);

/// What is kept of that for an answer that no model writes; a tenth where that is less.
const REST: Duration = Duration::from_secs(1);

/// What the time of a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// From here on no tool runs, and the model is asked to answer at once.
    pub(super) closing: Instant,
    /// From here on no model is waited for.
    pub(super) last: Instant,
}

impl Times {
    /// The times of a turn that begins now and ends at `deadline`.
    pub(super) fn until(deadline: Instant) -> Self {
        let now = Instant::now();
        let reserve = RESERVE.min(deadline.saturating_duration_since(now) / 4);
        let before = |time| deadline.checked_sub(time).unwrap_or(now);
        Self { closing: before(reserve), last: before(REST.min(reserve / 10)) }
    }

    /// Whether there is time for nothing but an answer.
    pub(super) fn are_short(&self) -> bool {
        Instant::now() >= self.closing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long before its end a turn of so many seconds closes, and waits for no model any more; in milliseconds.
    fn kept(seconds: u64) -> (u128, u128) {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let times = Times::until(deadline);
        ((deadline - times.closing).as_millis(), (deadline - times.last).as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn f060_the_last_fifteen_seconds_are_for_an_answer_and_the_last_one_for_one_without_a_model() {
        assert_eq!([300, 60, 20, 2, 0].map(kept), [(15_000, 1000), (15_000, 1000), (5000, 500), (500, 50), (0, 0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn f060_time_is_short_from_the_first_instant_of_the_reserve() {
        let times = Times::until(Instant::now() + Duration::from_mins(1));
        tokio::time::advance(Duration::from_millis(44_999)).await;
        assert!(!times.are_short());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(times.are_short());
    }
}
