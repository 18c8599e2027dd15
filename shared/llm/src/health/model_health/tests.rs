use super::*;
use crate::errors::CompatFix;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

fn health() -> Arc<ModelHealth> {
    Arc::new(ModelHealth::new(Arc::default()))
}

/// Starts a call and its first attempt.
fn start_call(health: &Arc<ModelHealth>) -> CallHealth {
    let mut call = health.start_call();
    call.begin_attempt();
    call
}

/// Returns availability and failure state after ten calls with this error.
fn after(fault: &AttemptError) -> (bool, bool) {
    let health = health();
    (0..10).for_each(|_| start_call(&health).record_failure(fault, at(0)));
    (health.is_available(at(0)), health.is_failing())
}

#[test]
fn f004_endpoint_failures_open_the_breaker() {
    for error in [ModelError::Unavailable, ModelError::Stalled, ModelError::Disconnected, ModelError::BadResponse] {
        assert_eq!(after(&AttemptError::transient(error.clone())), (false, true), "{error}");
        assert_eq!(after(&AttemptError::fatal(error.clone())), (false, true), "{error}");
    }
}

#[test]
fn f006_request_errors_and_deadline_do_not_affect_health() {
    for error in [
        ModelError::RateLimited { retry_after: None },
        ModelError::ContentFiltered { category: None },
        ModelError::ContextTooLong,
        ModelError::ToolsUnsupported,
        ModelError::Deadline,
    ] {
        assert_eq!(after(&AttemptError::fatal(error.clone())), (true, false), "{error}");
    }
}

#[test]
fn f012_dead_connection_does_not_affect_health() {
    let dead = AttemptError { advice: RetryAdvice::NewConnection, ..AttemptError::transient(ModelError::Disconnected) };
    assert_eq!(after(&dead), (true, false));
}

#[test]
fn f005_rejected_model_is_failing_until_success() {
    assert_eq!(after(&AttemptError::fatal(ModelError::Rejected)), (true, true));
    let health = health();
    start_call(&health).record_failure(&AttemptError::fatal(ModelError::Rejected), at(0));
    start_call(&health).record_success(at(1));
    assert!(!health.is_failing());
    let amended = AttemptError {
        advice: RetryAdvice::ApplyFix(CompatFix::EchoReasoning),
        ..AttemptError::fatal(ModelError::Rejected)
    };
    start_call(&health).record_failure(&amended, at(2));
    assert!(!health.is_failing(), "it is asked again in other words");
}

#[test]
fn f003_f007_rejected_key_or_quota_pauses_model_one_minute() {
    for error in [ModelError::Auth, ModelError::QuotaExhausted] {
        let health = health();
        start_call(&health).record_failure(&AttemptError::fatal(error), at(0));
        assert_eq!([0, 59, 60].map(|now| health.is_available(at(now))), [false, false, true]);
        assert!(health.is_failing());
        start_call(&health).record_success(at(1));
        assert!(health.is_available(at(1)) && !health.is_failing());
    }
}

#[test]
fn f004_open_breaker_allows_single_attempts_and_one_probe() {
    let health = health();
    let early = start_call(&health);
    assert!(!early.skips_retries);
    (0..5).for_each(|_| start_call(&health).record_failure(&AttemptError::transient(ModelError::Unavailable), at(0)));
    let (first, second) = (start_call(&health), start_call(&health));
    assert!(first.skips_retries && second.skips_retries);
    second.record_failure(&AttemptError::transient(ModelError::Unavailable), at(10));
    drop(early);
    assert!(!health.is_available(at(10)), "the probe is still on its way");
    first.record_failure(&AttemptError::transient(ModelError::Stalled), at(10));
    drop(first);
    assert_eq!([29, 30].map(|now| health.is_available(at(now))), [false, true]);
    drop(start_call(&health));
    assert!(health.is_available(at(30)), "a probe that was given up leaves its place to another");
}
