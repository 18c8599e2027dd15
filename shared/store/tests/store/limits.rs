use std::time::{Duration, SystemTime};

use futures_util::future::join_all;
use proptest::prelude::*;
use store::{Admission, RateLimit, RateLimiter, Store, StoreError};
use tokio::runtime::Runtime;

use crate::support::{at, config, database, names, rows, store, store_at, store_without_retries_at};
use crate::wire::{Fault, Gate, Wire};

fn limit(text: &str) -> RateLimit {
    RateLimit::parse(text).unwrap()
}

fn denied(millis: u64) -> Admission {
    Admission::Denied { retry_after: Duration::from_millis(millis) }
}

#[tokio::test]
async fn f089_burst_passes_then_one_per_interval() {
    let limiter = store().await.rate_limiter;
    for _ in 0..3 {
        assert_eq!(limiter.admit("search:alice", limit("3/30s"), at(0)).await.unwrap(), Admission::Admitted);
    }
    let mut seen = Vec::new();
    for seconds in [0, 4, 9, 10, 10, 25, 30] {
        seen.push(limiter.admit("search:alice", limit("3/30s"), at(seconds)).await.unwrap());
    }
    let admitted = Admission::Admitted;
    assert_eq!(seen, [denied(10_000), denied(6_000), denied(1_000), admitted, denied(10_000), admitted, admitted]);
}

#[tokio::test]
async fn f089_limits_are_independent() {
    let limiter = store().await.rate_limiter;
    for key in ["search:alice", "search:bob", "chat:alice", "search:alice#", ""] {
        assert_eq!(limiter.admit(key, limit("1/60s"), at(0)).await.unwrap(), Admission::Admitted, "{key}");
        assert_eq!(limiter.admit(key, limit("1/60s"), at(0)).await.unwrap(), denied(60_000), "{key}");
    }
    assert_eq!(limiter.admit("chat:alice", limit("2/60s"), at(0)).await.unwrap(), Admission::Admitted);
}

#[tokio::test]
async fn f089_zero_limit_and_long_idle_are_safe() {
    let limiter = store().await.rate_limiter;
    let zero = RateLimit { burst: 0, window: Duration::from_mins(1) };
    assert_eq!(limiter.admit("k", zero, at(0)).await.unwrap(), denied(60_000));
    let widest = RateLimit { burst: u32::MAX, window: Duration::MAX };
    let far = SystemTime::UNIX_EPOCH + Duration::from_hours(24 * 365 * 10_000);
    for now in [SystemTime::UNIX_EPOCH, at(0), far] {
        assert_eq!(limiter.admit("k", limit("1/1s"), now).await.unwrap(), Admission::Admitted);
        assert_eq!(limiter.admit("k", widest, now).await.unwrap(), Admission::Admitted);
    }
}

#[tokio::test]
async fn f089_concurrent_requests_never_exceed_burst() {
    let endpoint = database().await;
    let instances = [store_at(&endpoint).await, store_at(&endpoint).await];
    let tasks: Vec<_> = (0..30)
        .map(|number: usize| {
            let limiter = instances[number % 2].rate_limiter.clone();
            tokio::spawn(async move { limiter.admit("k", limit("10/60s"), at(0)).await.unwrap() })
        })
        .collect();
    let mut admitted = 0;
    for task in tasks {
        admitted += usize::from(task.await.unwrap() == Admission::Admitted);
    }
    assert_eq!(admitted, 10);
}

/// The results and the calls of concurrent requests of one key, all sent during the first one's decision.
async fn load_spike(
    limiter: &RateLimiter,
    wire: &Wire,
    limit: RateLimit,
    size: usize,
) -> (Vec<Admission>, Vec<String>) {
    let gate = Gate::default();
    wire.fail("UpdateItem", &[Fault::Held(gate.clone())]);
    let admit = async || limiter.admit("k", limit, at(0)).await.unwrap();
    let others = async {
        gate.arrival().await;
        let mut others = Box::pin(join_all((1..size).map(|_| admit())));
        // All of them have sent their requests after the first poll.
        assert!(futures_util::poll!(&mut others).is_pending());
        gate.open();
        others.await
    };
    let (first, others) = tokio::join!(admit(), others);
    ([vec![first], others].concat(), wire.seen())
}

#[tokio::test]
async fn f089_requests_during_decision_are_coalesced() {
    let (wire, endpoint) = Wire::new().await;
    let limiter = store_at(&endpoint).await.rate_limiter;
    wire.seen();
    let (admissions, calls) = load_spike(&limiter, &wire, limit("10/60s"), 1000).await;
    let expected = [vec![Admission::Admitted; 10], vec![denied(6_000); 990]].concat();
    assert_eq!(admissions, expected);
    assert_eq!(calls, ["UpdateItem"; 3], "one for the first, one that asks for too much, one for those that fit");
}

#[tokio::test]
async fn f089_fitting_load_spike_costs_two_writes() {
    let (wire, endpoint) = Wire::new().await;
    let limiter = store_at(&endpoint).await.rate_limiter;
    wire.seen();
    let (admissions, calls) = load_spike(&limiter, &wire, limit("1000/1000s"), 1000).await;
    assert_eq!(admissions, vec![Admission::Admitted; 1000]);
    assert_eq!(calls, ["UpdateItem"; 2]);
    assert_eq!(limiter.admit("k", limit("1000/1000s"), at(0)).await.unwrap(), denied(1_000));
}

#[tokio::test]
async fn f096_cancelled_first_request_keeps_others_decision() {
    let (wire, endpoint) = Wire::new().await;
    let limiter = store_at(&endpoint).await.rate_limiter;
    let gate = Gate::default();
    wire.fail("UpdateItem", &[Fault::Held(gate.clone())]);
    let mut first = Box::pin(limiter.admit("k", limit("2/60s"), at(0)));
    assert!(futures_util::poll!(&mut first).is_pending());
    gate.arrival().await;
    let mut second = Box::pin(limiter.admit("k", limit("2/60s"), at(0)));
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(first);
    gate.open();
    assert_eq!(second.await.unwrap(), Admission::Admitted);
    assert_eq!(limiter.admit("k", limit("2/60s"), at(0)).await.unwrap(), denied(30_000), "both were counted");
}

#[tokio::test]
async fn f090_denied_key_makes_no_store_calls() {
    let (wire, endpoint) = Wire::new().await;
    let limiter = store_at(&endpoint).await.rate_limiter;
    limiter.admit("k", limit("1/10s"), at(0)).await.unwrap();
    assert_eq!(limiter.admit("k", limit("1/10s"), at(1)).await.unwrap(), denied(9_000));
    wire.seen();
    assert_eq!(limiter.admit("k", limit("1/10s"), at(2)).await.unwrap(), denied(8_000));
    assert_eq!(wire.seen(), Vec::<String>::new());
    assert_eq!(limiter.admit("k", limit("1/10s"), at(10)).await.unwrap(), Admission::Admitted);
}

#[tokio::test]
async fn decision_for_known_caller_is_one_write() {
    let (wire, endpoint) = Wire::new().await;
    let (own, other) = (store_at(&endpoint).await.rate_limiter, store_at(&endpoint).await.rate_limiter);
    let mut costs = Vec::new();
    // For the last one the caller is back at the full burst.
    for (limiter, seconds) in [(&own, 0), (&own, 1), (&other, 2), (&own, 400)] {
        wire.seen();
        assert_eq!(limiter.admit("k", limit("3/300s"), at(seconds)).await.unwrap(), Admission::Admitted);
        costs.push(wire.seen().len());
    }
    assert_eq!(costs, [1, 1, 2, 1], "who was busy elsewhere is taken for idle once");
}

#[tokio::test]
async fn f090_caller_after_denial_costs_one_write() {
    let (wire, endpoint) = Wire::new().await;
    let (own, other) = (store_at(&endpoint).await.rate_limiter, store_at(&endpoint).await.rate_limiter);
    for _ in 0..3 {
        assert_eq!(other.admit("k", limit("3/300s"), at(0)).await.unwrap(), Admission::Admitted);
    }
    let mut seen = Vec::new();
    for seconds in [1, 100, 101, 200] {
        wire.seen();
        let admission = own.admit("k", limit("3/300s"), at(seconds)).await.unwrap();
        seen.push((admission, wire.seen().len()));
    }
    let admitted = (Admission::Admitted, 1);
    assert_eq!(seen, [(denied(99_000), 1), admitted, (denied(99_000), 1), admitted]);
}

#[tokio::test]
async fn f088_one_store_failure_is_retried() {
    let (wire, endpoint) = Wire::new().await;
    let limiter = store_without_retries_at(&endpoint).await.rate_limiter;
    wire.fail("UpdateItem", &[Fault::Refused("ThrottlingException")]);
    assert_eq!(limiter.admit("k", limit("1/10s"), at(0)).await.unwrap(), Admission::Admitted);
    assert_eq!(limiter.admit("k", limit("1/10s"), at(0)).await.unwrap(), denied(10_000));
}

#[tokio::test]
async fn f088_unreachable_store_admits_one_request_per_second() {
    let retries = aws_smithy_types::retry::RetryConfig::disabled();
    let config = config("http://127.0.0.1:9").to_builder().retry_config(retries).build();
    let limiter = Store::new(&config, names()).rate_limiter;
    let mut seen = Vec::new();
    for (key, now) in [("a", at(0)), ("b", at(0)), ("a", at(1)), ("a", at(1))] {
        seen.push(limiter.admit(key, limit("10/60s"), now).await.ok());
    }
    assert_eq!(seen, [Some(Admission::Admitted), None, Some(Admission::Admitted), None]);
}

#[tokio::test]
async fn f088_store_fault_admits_no_request() {
    let (wire, endpoint) = Wire::new().await;
    let limiter = store_without_retries_at(&endpoint).await.rate_limiter;
    wire.fail("UpdateItem", &[Fault::Refused("AccessDeniedException")]);
    let failed = limiter.admit("k", limit("10/60s"), at(0)).await.unwrap_err();
    assert_eq!(failed, StoreError::Fault("UpdateItem: AccessDeniedException".to_owned()));
}

#[tokio::test]
async fn item_expires_in_seconds() {
    let endpoint = database().await;
    let limiter = store_at(&endpoint).await.rate_limiter;
    limiter.admit("k", limit("10/60s"), at(0)).await.unwrap();
    let rows = rows(&endpoint, "ephemeral").await;
    assert_eq!(rows[0]["expires"].as_n().unwrap(), "1800000120");
    assert_eq!(rows[0]["tat"].as_n().unwrap(), "1800000006000000");
}

/// The number of admitted requests, with one request at each of these times.
async fn count_admitted(limiter: &RateLimiter, rate: RateLimit, times: impl IntoIterator<Item = SystemTime>) -> usize {
    let mut passing = 0;
    for now in times {
        passing += usize::from(limiter.admit("k", rate, now).await.unwrap() == Admission::Admitted);
    }
    passing
}

const YEAR: u64 = 365 * 86_400;

#[tokio::test]
async fn f089_clock_ahead_locks_no_caller_out() {
    for ahead in [61, 3600, 86_400, 10 * YEAR] {
        let endpoint = database().await;
        let limiter = store_at(&endpoint).await.rate_limiter;
        assert_eq!(count_admitted(&limiter, limit("20/60s"), (0..25).map(|_| at(ahead))).await, 20);
        for limiter in [limiter, store_at(&endpoint).await.rate_limiter] {
            let Admission::Denied { retry_after } = limiter.admit("k", limit("20/60s"), at(0)).await.unwrap() else {
                continue;
            };
            assert!(retry_after <= Duration::from_mins(1), "{retry_after:?} after {ahead} s");
        }
        let restarted = store_at(&endpoint).await.rate_limiter;
        assert_eq!(
            count_admitted(&restarted, limit("20/60s"), (0..40).map(|_| at(60))).await,
            20,
            "{ahead} s, a window later"
        );
    }
}

#[tokio::test]
async fn f089_far_tat_admits_one_request_without_memory() {
    let endpoint = database().await;
    store_at(&endpoint).await.rate_limiter.admit("k", limit("20/60s"), at(3600)).await.unwrap();
    let restarted = store_at(&endpoint).await.rate_limiter;
    assert_eq!(restarted.admit("k", limit("20/60s"), at(0)).await.unwrap(), Admission::Admitted);
    assert_eq!(restarted.admit("k", limit("20/60s"), at(0)).await.unwrap(), denied(3_000));
}

#[tokio::test]
async fn f087_instances_with_far_clocks_admit_separately() {
    let endpoint = database().await;
    let (ahead, own) = (store_at(&endpoint).await.rate_limiter, store_at(&endpoint).await.rate_limiter);
    let (mut passed_ahead, mut passed) = (0, 0);
    for second in 0..=120 {
        for _ in 0..2 {
            passed_ahead += count_admitted(&ahead, limit("20/60s"), [at(3600 + second)]).await;
            passed += count_admitted(&own, limit("20/60s"), [at(second)]).await;
        }
    }
    // A burst, and one for each of the 40 intervals.
    assert!(passed_ahead <= 60 && passed <= 60, "{passed_ahead} {passed}");
    assert!(passed_ahead >= 40 && passed >= 40, "neither shuts the other out: {passed_ahead} {passed}");
}

#[tokio::test]
async fn f089_clock_set_back_gives_no_second_burst() {
    let limiter = store().await.rate_limiter;
    assert_eq!(count_admitted(&limiter, limit("20/60s"), (0..25).map(|_| at(3600))).await, 20);
    assert_eq!(count_admitted(&limiter, limit("20/60s"), (0..25).map(|_| at(0))).await, 0);
    assert_eq!(count_admitted(&limiter, limit("20/60s"), (0..25).map(|_| at(30))).await, 10);
}

/// Requests of one key: the time in milliseconds, and the offset of the instance's clock.
fn arrivals() -> impl Strategy<Value = Vec<(u64, i64)>> {
    prop::collection::vec((0..20_000_u64, -500..=500_i64), 1..60).prop_map(|mut requests| {
        requests.sort_unstable();
        requests
    })
}

async fn admission_times(requests: &[(u64, i64)], limit: RateLimit) -> Vec<u64> {
    let endpoint = database().await;
    store_at(&endpoint).await;
    let mut admitted = Vec::new();
    for (millis, skew) in requests {
        // A separate instance for each request: none has a denial in memory.
        let limiter = Store::new(&config(&endpoint), names()).rate_limiter;
        let now = at(100) + Duration::from_millis(millis.saturating_add_signed(*skew + 500));
        if limiter.admit("k", limit, now).await.unwrap() == Admission::Admitted {
            admitted.push(*millis);
        }
    }
    admitted
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn f087_no_window_exceeds_its_limit(
        requests in arrivals(), burst in 1..6_u32, seconds in 1..10_u64,
    ) {
        let limit = RateLimit { burst, window: Duration::from_secs(seconds) };
        let admitted = Runtime::new().unwrap().block_on(admission_times(&requests, limit));
        let interval = seconds * 1000 / u64::from(burst);
        for (first, start) in admitted.iter().enumerate() {
            for (last, end) in admitted.iter().enumerate().skip(first) {
                let max_requests = u64::from(burst) + (end - start + 2 * 500) / interval;
                prop_assert!((last - first + 1) as u64 <= max_requests, "{} in {} ms", last - first + 1, end - start);
            }
        }
    }
}
