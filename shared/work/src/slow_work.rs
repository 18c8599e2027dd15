//! Work that holds the serving thread, and with it all other requests, for long.

use std::collections::BTreeMap;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

/// A poll that takes longer is slow. Unoptimised builds take many times as long.
const SLOW: Duration = Duration::from_millis(if cfg!(debug_assertions) { 250 } else { 5 });

/// A place is logged at most once in this time.
const LOG_INTERVAL: Duration = Duration::from_mins(1);

static PLACES: Mutex<BTreeMap<String, Place>> = Mutex::new(BTreeMap::new());

/// The slow polls at one place.
#[derive(Default)]
struct Place {
    /// Those that were not taken yet.
    count: u32,
    logged_at: Option<Instant>,
}

/// Runs work; each poll of it that takes longer than 5 ms is counted for its place, and logged once a minute. The names of
/// places must be bounded in number and contain no text of users.
///
/// It reads the clock twice per poll.
pub async fn watch<F: Future>(place: &str, work: F) -> F::Output {
    let mut work = pin!(work);
    std::future::poll_fn(|context| {
        let begun = Instant::now();
        let polled: Poll<F::Output> = work.as_mut().poll(context);
        record(place, begun.elapsed(), SLOW);
        polled
    })
    .await
}

/// Returns the number of slow polls at each place since the last call.
pub fn take_counts() -> Vec<(String, u32)> {
    let mut places = places();
    let counts = places.iter_mut().filter(|(_, place)| place.count > 0);
    counts.map(|(name, place)| (name.clone(), std::mem::take(&mut place.count))).collect()
}

fn record(name: &str, took: Duration, slow: Duration) {
    if took <= slow {
        return;
    }
    let mut places = places();
    let place = places.entry(name.to_owned()).or_default();
    place.count = place.count.saturating_add(1);
    if place.logged_at.is_none_or(|logged_at| logged_at.elapsed() >= LOG_INTERVAL) {
        place.logged_at = Some(Instant::now());
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::warn!(place = name, ms = millis, "slow work on the serving thread");
    }
}

fn places() -> MutexGuard<'static, BTreeMap<String, Place>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    fn count(name: &str) -> u32 {
        places().get(name).map_or(0, |place| place.count)
    }

    #[test]
    fn only_slow_polls_are_counted_and_taken_once() {
        let slow = Duration::from_millis(5);
        record("a place", slow, slow);
        assert_eq!(count("a place"), 0);
        record("a place", slow * 2, slow);
        let logged_at = places()["a place"].logged_at;
        record("a place", slow * 3, slow);
        assert_eq!((count("a place"), places()["a place"].logged_at), (2, logged_at), "logged once a minute");
        assert!(logged_at.is_some());
        assert!(take_counts().contains(&("a place".to_owned(), 2)));
        assert_eq!(count("a place"), 0);
    }

    #[test]
    fn watched_work_is_measured_per_poll() {
        let sleeps = async {
            std::thread::sleep(SLOW * 2);
            7
        };
        let polled = pin!(watch("another place", sleeps)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!((polled, count("another place")), (Poll::Ready(7), 1));
    }
}
