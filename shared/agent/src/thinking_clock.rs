use std::time::Duration;

use tokio::time::Instant;

/// Measures the time from each beginning of reasoning to what follows it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThinkingClock {
    started_at: Option<Instant>,
    finished: Duration,
}

impl ThinkingClock {
    pub(crate) fn start(&mut self) {
        self.started_at.get_or_insert_with(Instant::now);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(started_at) = self.started_at.take() {
            self.finished += started_at.elapsed();
        }
    }

    pub(crate) fn elapsed_ms(&self) -> u64 {
        let running = self.started_at.map(|started_at| started_at.elapsed()).unwrap_or_default();
        u64::try_from((self.finished + running).as_millis()).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn only_reasoning_counts() {
        let mut clock = ThinkingClock::default();
        assert_eq!(clock.elapsed_ms(), 0);
        for (thinks, ms) in [(true, 300), (true, 200), (false, 5_000), (true, 50), (false, 0)] {
            if thinks {
                clock.start();
            } else {
                clock.stop();
            }
            tokio::time::advance(Duration::from_millis(ms)).await;
        }
        assert_eq!(clock.elapsed_ms(), 550);
    }
}
