use super::*;
use crate::fault::Amendment;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

fn health() -> Arc<Health> {
    Arc::new(Health::new(Arc::default()))
}

/// Starts a call and its first attempt.
fn call(health: &Arc<Health>) -> Watch {
    let mut watch = health.watch();
    watch.begin_attempt();
    watch
}

/// Returns availability and failure state after ten calls with this error.
fn after(fault: &Fault) -> (bool, bool) {
    let health = health();
    (0..10).for_each(|_| call(&health).failed(fault, at(0)));
    (health.is_available(at(0)), health.is_failing())
}

#[test]
fn f004_endpoint_failures_open_the_breaker() {
    for error in [ModelError::Unavailable, ModelError::Stalled, ModelError::Disconnected, ModelError::BadResponse] {
        assert_eq!(after(&Fault::passing(error.clone())), (false, true), "{error}");
        assert_eq!(after(&Fault::last(error.clone())), (false, true), "{error}");
    }
}

#[test]
fn f006_request_errors_and_deadline_do_not_affect_health() {
    for error in [
        ModelError::RateLimited { retry_after: None },
        ModelError::ContentFiltered,
        ModelError::ContextTooLong,
        ModelError::ToolsUnsupported,
        ModelError::Deadline,
    ] {
        assert_eq!(after(&Fault::last(error.clone())), (true, false), "{error}");
    }
}

#[test]
fn f012_dead_connection_does_not_affect_health() {
    let dead = Fault { again: Again::NewConnection, ..Fault::passing(ModelError::Disconnected) };
    assert_eq!(after(&dead), (true, false));
}

#[test]
fn f005_rejected_model_is_failing_until_success() {
    assert_eq!(after(&Fault::last(ModelError::Rejected)), (true, true));
    let health = health();
    call(&health).failed(&Fault::last(ModelError::Rejected), at(0));
    call(&health).worked(at(1));
    assert!(!health.is_failing());
    let amended = Fault { again: Again::Amended(Amendment::Reasoning), ..Fault::last(ModelError::Rejected) };
    call(&health).failed(&amended, at(2));
    assert!(!health.is_failing(), "it is asked again in other words");
}

#[test]
fn f003_f007_rejected_key_or_quota_pauses_model_one_minute() {
    for error in [ModelError::Auth, ModelError::QuotaExhausted] {
        let health = health();
        call(&health).failed(&Fault::last(error), at(0));
        assert_eq!([0, 59, 60].map(|now| health.is_available(at(now))), [false, false, true]);
        assert!(health.is_failing());
        call(&health).worked(at(1));
        assert!(health.is_available(at(1)) && !health.is_failing());
    }
}

#[test]
fn f004_open_breaker_allows_single_attempts_and_one_probe() {
    let health = health();
    let early = call(&health);
    assert!(!early.is_single());
    (0..5).for_each(|_| call(&health).failed(&Fault::passing(ModelError::Unavailable), at(0)));
    let (first, second) = (call(&health), call(&health));
    assert!(first.is_single() && second.is_single());
    second.failed(&Fault::passing(ModelError::Unavailable), at(10));
    drop(early);
    assert!(!health.is_available(at(10)), "the probe is still on its way");
    first.failed(&Fault::passing(ModelError::Stalled), at(10));
    drop(first);
    assert_eq!([29, 30].map(|now| health.is_available(at(now))), [false, true]);
    drop(call(&health));
    assert!(health.is_available(at(30)), "a probe that was given up leaves its place to another");
}
