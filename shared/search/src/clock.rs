use std::time::{Duration, SystemTime};

use tokio::time::{Instant, sleep_until};
use tools::ToolContext;

/// Maximum duration of a request, with its waits and second attempt.
pub(crate) const MAX_DURATION: Duration = Duration::from_secs(10);

/// The time of one search: wall-clock time and deadline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    wall: SystemTime,
    started: Instant,
    end: Instant,
}

impl Clock {
    pub(crate) fn new(wall: SystemTime, end: Instant) -> Self {
        Self { wall, started: Instant::now(), end }
    }

    pub(crate) fn of_call(context: &ToolContext) -> Self {
        Self::new(SystemTime::now(), context.deadline.min(Instant::now() + MAX_DURATION))
    }

    pub(crate) fn now(&self) -> SystemTime {
        self.wall + self.started.elapsed()
    }

    pub(crate) fn remaining(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Waits for `time`; returns `false` at once if the deadline comes first.
    pub(crate) async fn wait(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let in_time = until < self.end;
        if in_time {
            sleep_until(until).await;
        }
        in_time
    }
}
