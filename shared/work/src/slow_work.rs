//! Work that holds the serving thread, and with it all other requests, for long.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::Mutex;
use std::task::Poll;
use std::time::{Duration, Instant};

use crate::lock;

/// A poll that takes longer is slow. Unoptimised builds take many times as long.
const SLOW: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 5 });

/// A kind of work is logged at most once in this time.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

static RECORDS: Mutex<BTreeMap<String, SlowPolls>> = Mutex::new(BTreeMap::new());

#[derive(Default)]
struct SlowPolls {
    /// Those that were not taken yet.
    count: u32,
    logged_at: Option<Instant>,
}

/// Runs work; each poll of it that takes longer than 5 ms is counted by the kind of work, and logged once a minute. The kinds
/// must be bounded in number and contain no text of users.
///
/// It reads the clock twice per poll.
pub async fn watch<F: Future>(kind: &str, work: F) -> F::Output {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let begun = Instant::now();
        let polled: Poll<F::Output> = work.as_mut().poll(context);
        record(kind, begun.elapsed(), SLOW);
        polled
    })
    .await
}

/// Returns the number of slow polls of each kind since the last call.
pub fn take_counts() -> Vec<(String, u32)> {
    let mut records = lock(&RECORDS);
    let counts = records.iter_mut().filter(|(_, polls)| polls.count > 0);
    counts.map(|(kind, polls)| (kind.clone(), std::mem::take(&mut polls.count))).collect()
}

fn record(kind: &str, took: Duration, slow: Duration) {
    if took <= slow {
        return;
    }
    let mut records = lock(&RECORDS);
    let polls = records.entry(kind.to_owned()).or_default();
    polls.count = polls.count.saturating_add(1);
    if polls.logged_at.is_none_or(|logged_at| logged_at.elapsed() >= LOG_INTERVAL) {
        polls.logged_at = Some(Instant::now());
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(work = kind, ms = millis, "slow work on the serving thread");
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    fn count(kind: &str) -> u32 {
        lock(&RECORDS).get(kind).map_or(0, |polls| polls.count)
    }

    #[test]
    fn only_slow_polls_are_counted_and_taken_once() {
        let slow = Duration::from_millis(5);
        record("recorded", slow, slow);
        assert_eq!(count("recorded"), 0);
        record("recorded", slow * 2, slow);
        let logged_at = lock(&RECORDS)["recorded"].logged_at;
        record("recorded", slow * 3, slow);
        assert_eq!((count("recorded"), lock(&RECORDS)["recorded"].logged_at), (2, logged_at), "logged once a minute");
        assert!(logged_at.is_some());
        assert!(take_counts().contains(&("recorded".to_owned(), 2)));
        assert_eq!(count("recorded"), 0);
    }

    #[test]
    fn watched_work_is_measured_per_poll() {
        let sleeps = async {
            std::thread::sleep(SLOW * 2);
            7
        };
        let polled = pin!(watch("watched", sleeps)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((polled, count("watched")), (Poll::Ready(7), 1));
    }
}
