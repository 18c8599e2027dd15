use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep_until};

/// The time of one search: what the clock on the wall says, and when the search has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    wall: SystemTime,
    started: Instant,
    end: Instant,
}

impl Clock {
    /// A clock that starts at `wall` and ends at `end`.
    pub(crate) fn starting(wall: SystemTime, end: Instant) -> Self {
        Self { wall, started: Instant::now(), end }
    }

    /// The time of day.
    pub(crate) fn now(&self) -> SystemTime {
        self.wall + self.started.elapsed()
    }

    /// When the search has to end.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    /// How much time is left.
    pub(crate) fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Waits for `time`; `false` at once when the end comes before it.
    pub(crate) async fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let in_time = until < self.end;
        if in_time {
            sleep_until(until).await;
        }
        in_time
    }
}
