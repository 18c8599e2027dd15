use std::time::Duration;

use tokio::time::Instant;

/// Time reserved for the last answer; at most a quarter of the turn.
const ANSWER_RESERVE: Duration = Duration::from_secs(15);

/// Time reserved for an answer without a model; at most a tenth of the answer's reserve.
const FALLBACK_RESERVE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Deadlines {
    /// From this time on no tool runs, and the model must answer immediately.
    pub(super) tools_until: Instant,
    /// From this time on no model is awaited.
    pub(super) model_until: Instant,
}

impl Deadlines {
    pub(super) fn new(deadline: Instant) -> Self {
        let now = Instant::now();
        let reserve = ANSWER_RESERVE.min(deadline.saturating_duration_since(now) / 4);
        let before_end = |time| deadline.checked_sub(time).unwrap_or(now);
        let fallback_reserve = FALLBACK_RESERVE.min(reserve / 10);
        Self { tools_until: before_end(reserve), model_until: before_end(fallback_reserve) }
    }

    /// Whether there is only time for the last answer.
    pub(super) fn is_closing(&self) -> bool {
        Instant::now() >= self.tools_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reserves of a turn of this length, for the last answer and for the fallback, in milliseconds.
    fn reserves(seconds: u64) -> (u128, u128) {
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let deadlines = Deadlines::new(deadline);
        ((deadline - deadlines.tools_until).as_millis(), (deadline - deadlines.model_until).as_millis())
    }

    #[tokio::test(start_paused = true)]
    async fn f060_end_of_turn_is_reserved_for_answer() {
        assert_eq!([300, 60, 20, 2, 0].map(reserves), [(15_000, 1000), (15_000, 1000), (5000, 500), (500, 50), (0, 0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn f060_turn_is_closing_when_reserve_starts() {
        let deadlines = Deadlines::new(Instant::now() + Duration::from_mins(1));
        tokio::time::advance(Duration::from_millis(44_999)).await;
        assert!(!deadlines.is_closing());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(deadlines.is_closing());
    }
}
