use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

use futures_util::future::join_all;
use proptest::prelude::*;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use tokio::time::{Instant, advance};

use super::*;

const POLICY: RefreshPolicy = RefreshPolicy {
    fresh_for: Duration::from_secs(10),
    usable_for: Duration::from_mins(1),
    retry_interval: Duration::from_secs(5),
};

/// What happens to a value.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Time passes, in seconds.
    Wait(u64),
    /// A caller gets it; whether its source can be read.
    Get(bool),
    Invalidate,
    TryInvalidate,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..40_u64).prop_map(Step::Wait),
        6 => any::<bool>().prop_map(Step::Get),
        1 => Just(Step::Invalidate),
        1 => Just(Step::TryInvalidate),
    ]
}

/// Runs the steps under a paused clock and checks every value by its age; the value is the time of its read.
async fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let (start, refreshed) = (Instant::now(), Refreshed::<Duration, ()>::new(POLICY));
    let (mut failed_at, mut outdated, mut read_at) = (None::<Duration>, false, None::<Duration>);
    for step in steps {
        let elapsed = start.elapsed();
        let now = UNIX_EPOCH + Duration::from_hours(500_000) + elapsed;
        match *step {
            Step::Wait(seconds) => advance(Duration::from_secs(seconds)).await,
            Step::Invalidate => {
                refreshed.invalidate();
                outdated = true;
            }
            Step::TryInvalidate => outdated |= refreshed.try_invalidate(now),
            Step::Get(works) => {
                let is_read = Cell::new(false);
                let got = refreshed
                    .get(now, async || {
                        is_read.set(true);
                        works.then_some(elapsed).ok_or(())
                    })
                    .await;
                let age = read_at.map(|at| elapsed.saturating_sub(at));
                let is_fresh = !outdated && age.is_some_and(|age| age < POLICY.fresh_for);
                let is_usable = age.is_some_and(|age| age < POLICY.usable_for);
                let backs_off =
                    is_usable && failed_at.is_some_and(|at| elapsed.saturating_sub(at) < POLICY.retry_interval);
                prop_assert_eq!(is_read.get(), !is_fresh && !backs_off, "it is read when it has to be, and only then");
                if is_read.get() {
                    failed_at = (!works).then_some(elapsed);
                    if works {
                        (read_at, outdated) = (Some(elapsed), false);
                    }
                }
                let expected = if is_read.get() && !works && !is_usable { Err(()) } else { read_at.ok_or(()) };
                prop_assert_eq!(got, expected);
                prop_assert_eq!(refreshed.peek(), read_at);
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn value_is_read_when_old_and_never_more(steps in prop::collection::vec(step(), 0..60)) {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(check(&steps))?;
    }
}

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

#[tokio::test]
async fn concurrent_callers_share_a_read_and_its_failure() {
    let (refreshed, reads) = (Refreshed::<u32, u32>::new(POLICY), AtomicU32::new(0));
    let read = async |works: bool| {
        let number = reads.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
        if works { Ok(number) } else { Err(number) }
    };
    let all = async |works: bool, seconds: u64| {
        join_all((0..9).map(|_| refreshed.get(at(seconds), async || read(works).await))).await
    };
    assert_eq!(all(false, 0).await, [Err(0); 9]);
    assert_eq!(all(true, 0).await, [Ok(1); 9]);
    assert_eq!(all(false, 20).await, [Ok(1); 9]);
    assert_eq!(reads.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn value_read_before_a_change_is_read_again() {
    let (refreshed, gate, started) = (Refreshed::<u32, ()>::new(POLICY), Notify::new(), Notify::new());
    let before = refreshed.get(at(0), async || {
        started.notify_one();
        gate.notified().await;
        Ok(1)
    });
    let after = async {
        started.notified().await;
        refreshed.invalidate();
        gate.notify_one();
        refreshed.get(at(0), async || Ok(2)).await
    };
    assert_eq!(tokio::join!(before, after), (Ok(1), Ok(2)));
    assert_eq!(refreshed.get(at(0), async || Ok(3)).await, Ok(2));
}

#[tokio::test]
async fn renewal_is_limited_and_delays_nobody() {
    let (refreshed, gate, started) = (Refreshed::<u32, ()>::new(POLICY), Notify::new(), Notify::new());
    assert_eq!(refreshed.get(at(0), async || Ok(1)).await, Ok(1));
    let is_newer = |value: &u32| *value > 1;
    let renewal = refreshed.renew(at(0), is_newer, async || {
        started.notify_one();
        gate.notified().await;
        Ok(2)
    });
    let others = async {
        started.notified().await;
        let value = refreshed.get(at(0), async || unreachable!("the value is fresh")).await;
        gate.notify_one();
        let renewed = refreshed.renew(at(0), is_newer, async || unreachable!("the first caller reads")).await;
        (value, renewed)
    };
    assert_eq!(tokio::join!(renewal, others), (Some(2), (Ok(1), Some(2))));
    let is_newer = |value: &u32| *value > 2;
    assert_eq!(refreshed.renew(at(4), is_newer, async || unreachable!("it is too early")).await, None);
    assert_eq!(refreshed.renew(at(5), is_newer, async || Err(())).await, None);
    assert_eq!(refreshed.renew(at(10), is_newer, async || Ok(3)).await, Some(3));
}

#[tokio::test]
async fn expired_value_serves_while_none_can_be_read() {
    let policy = RefreshPolicy { usable_for: Duration::MAX, ..POLICY };
    let refreshed = Refreshed::<u32, ()>::new(policy).with_expired(7);
    assert_eq!(refreshed.get(at(0), async || Err(())).await, Ok(7));
    assert_eq!(refreshed.get(at(1), async || unreachable!("it was read a second before")).await, Ok(7));
    assert_eq!(refreshed.get(at(6), async || Ok(8)).await, Ok(8));
}

#[tokio::test]
async fn clock_set_back_expires_the_value() {
    let refreshed = Refreshed::<u32, ()>::new(POLICY);
    assert_eq!(refreshed.get(at(100), async || Ok(1)).await, Ok(1));
    assert_eq!(refreshed.get(at(50), async || Ok(2)).await, Ok(2));
}

#[tokio::test]
async fn cancelled_read_is_made_by_the_next_caller() {
    let refreshed = Refreshed::<u32, ()>::new(POLICY);
    let never = refreshed.get(at(0), async || std::future::pending().await);
    assert!(tokio::time::timeout(Duration::from_millis(1), never).await.is_err());
    assert_eq!(refreshed.get(at(0), async || Ok(1)).await, Ok(1));
}

#[tokio::test]
async fn discarded_value_is_not_used_while_reads_fail() {
    let refreshed = Refreshed::<u32, u32>::new(POLICY);
    assert_eq!(refreshed.get(at(0), async || Ok(1)).await, Ok(1));
    refreshed.discard_if(|value| *value == 2);
    assert_eq!(refreshed.peek(), Some(1));
    refreshed.discard_if(|value| *value == 1);
    assert_eq!(refreshed.get(at(1), async || Err(2)).await, Err(2));
    assert_eq!(refreshed.get(at(1), async || Ok(3)).await, Ok(3), "without a usable value nothing waits");
}
