use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// A timer for what is waited for again and again, and nearly always comes in time.
///
/// It is left alone while the time it waits for only moves on, and nothing is looked at but the clock and what stands
/// here: to set a timer for every word costs more than much of what is done with the word.
#[derive(Debug)]
pub struct Alarm {
    timer: Option<Pin<Box<Sleep>>>,
    /// When the timer ends.
    due: Instant,
    /// The task that the timer wakes.
    attending: Waker,
}

impl Default for Alarm {
    fn default() -> Self {
        Self { timer: None, due: Instant::now(), attending: Waker::noop().clone() }
    }
}

impl Alarm {
    /// Whether it is `until` or later; if not, the task is woken when it is, or before.
    pub fn poll(&mut self, until: Instant, context: &Context<'_>) -> Poll<()> {
        let now = Instant::now();
        if until <= now {
            return Poll::Ready(());
        }
        if now < self.due && self.due <= until && self.attending.will_wake(context.waker()) {
            return Poll::Pending;
        }
        self.set(until, context)
    }

    #[cold]
    fn set(&mut self, until: Instant, context: &Context<'_>) -> Poll<()> {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(until)));
        timer.as_mut().reset(until);
        self.due = until;
        self.attending.clone_from(context.waker());
        // A timer whose task has used up its share would not take note of whom to wake.
        pin!(unconstrained(timer.as_mut())).poll(&mut Context::from_waker(context.waker()))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::time::Duration;

    use futures_util::FutureExt;
    use futures_util::future::join;
    use tokio::time::{sleep, timeout};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn rings(alarm: &mut Alarm, until: Instant) {
        poll_fn(|context| alarm.poll(until, context)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn it_ends_at_its_time_however_that_was_moved_before() {
        for (moved, until) in [(3, 3), (3, 1), (1, 3), (0, 2)] {
            let (begun, mut alarm) = (Instant::now(), Alarm::default());
            assert_eq!(rings(&mut alarm, begun + SECOND * moved).now_or_never().is_some(), moved == 0);
            rings(&mut alarm, begun + SECOND * until).await;
            assert_eq!(begun.elapsed().as_secs(), u64::from(until), "{moved} {until}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn it_can_be_set_again_after_its_end() {
        let (begun, mut alarm) = (Instant::now(), Alarm::default());
        for second in 1..4 {
            rings(&mut alarm, begun + SECOND * second).await;
            assert_eq!(begun.elapsed().as_secs(), u64::from(second));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_time_that_moves_on_is_kept_with_one_timer() {
        let (begun, mut alarm) = (Instant::now(), Alarm::default());
        for _ in 0..50 {
            assert!(rings(&mut alarm, Instant::now() + SECOND * 10).now_or_never().is_none());
            sleep(SECOND).await;
        }
        rings(&mut alarm, Instant::now() + SECOND * 10).await;
        assert_eq!(begun.elapsed().as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn the_task_that_asked_last_is_woken() {
        let mut alarm = Alarm::default();
        let until = Instant::now() + SECOND;
        assert!(alarm.poll(until, &Context::from_waker(Waker::noop())).is_pending());
        rings(&mut alarm, until).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_has_used_up_its_share_is_woken_all_the_same() {
        let (begun, mut alarm) = (Instant::now(), Alarm::default());
        let until = begun + SECOND;
        let busy = poll_fn(|context| {
            while pin!(tokio::task::coop::consume_budget()).poll(context).is_ready() {}
            Poll::Ready(())
        });
        timeout(SECOND * 9, join(busy, rings(&mut alarm, until))).await.expect("it is woken");
        assert_eq!(begun.elapsed().as_secs(), 1);
    }
}
