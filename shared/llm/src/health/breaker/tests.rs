use super::*;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000 + seconds)
}

/// A breaker that opened at 0 s, until 10 s.
fn open() -> Breaker {
    let breaker = Breaker::default();
    fail(&breaker, 5, 0);
    breaker
}

/// Makes `times` failing attempts, one after the other.
fn fail(breaker: &Breaker, times: u64, seconds: u64) {
    (0..times).for_each(|_| breaker.count_failure(breaker.next_attempt(), false, at(seconds)));
}

/// Makes a failing call, as the probe if possible.
fn probe_fails(breaker: &Breaker, seconds: u64) {
    let probes = breaker.begin_probe();
    breaker.count_failure(breaker.next_attempt(), probes, at(seconds));
    if probes {
        breaker.end_probe();
    }
}

fn down(changed_at: u64, until: u64) -> EndpointHealth {
    EndpointHealth { changed_at: at(changed_at), down_until: Some(at(until)) }
}

fn up(changed_at: u64) -> EndpointHealth {
    EndpointHealth { changed_at: at(changed_at), down_until: None }
}

#[test]
fn f004_five_failures_open_for_ten_seconds() {
    let breaker = Breaker::default();
    fail(&breaker, 4, 0);
    assert!(breaker.is_available(at(0)) && !breaker.is_open());
    fail(&breaker, 1, 1);
    assert_eq!([1, 10, 11].map(|now| breaker.is_available(at(now))), [false, false, true]);
    assert!(breaker.is_open());
}

#[test]
fn f004_success_keeps_breaker_closed_or_closes_it() {
    let breaker = Breaker::default();
    for _ in 0..9 {
        fail(&breaker, 2, 0);
        (0..4).for_each(|_| assert!(breaker.next_attempt() > 0));
    }
    assert!(!breaker.is_open());
    let breaker = open();
    breaker.close(at(1));
    assert!(breaker.is_available(at(1)) && !breaker.is_open());
    fail(&breaker, 4, 2);
    assert!(!breaker.is_open(), "the count starts again");
    fail(&breaker, 1, 2);
    assert!(breaker.is_open());
}

#[test]
fn f004_failed_probes_double_down_time_to_limit() {
    let breaker = open();
    let mut now = 10;
    for length in [20, 40, 80, 120, 120] {
        probe_fails(&breaker, now);
        assert!(!breaker.is_available(at(now + length - 1)) && breaker.is_available(at(now + length)), "{length}");
        now += length;
    }
}

#[test]
fn f004_only_one_probe_at_a_time() {
    let breaker = open();
    assert!(breaker.is_available(at(10)));
    assert!(breaker.begin_probe());
    assert!(!breaker.is_available(at(10)) && !breaker.begin_probe());
    breaker.end_probe();
    assert!(breaker.is_available(at(10)));
}

#[test]
fn f004_late_failures_are_ignored_closed_never_probes() {
    let breaker = open();
    fail(&breaker, 9, 9);
    assert!(breaker.is_available(at(10)));
    assert!(!Breaker::default().begin_probe());
}

#[test]
fn clock_set_back_does_not_extend_outage() {
    let breaker = open();
    assert!(breaker.is_available(at(0) - Duration::from_hours(1)));
}

#[test]
fn changes_stay_pending_until_published() {
    let breaker = Breaker::default();
    breaker.close(at(0));
    assert_eq!(breaker.pending_change(), None);
    let breaker = open();
    assert_eq!(breaker.pending_change(), Some(down(0, 10)));
    probe_fails(&breaker, 12);
    breaker.mark_published(down(0, 10));
    assert_eq!(breaker.pending_change(), Some(down(12, 32)), "the change is still unpublished");
    breaker.mark_published(down(12, 32));
    assert_eq!(breaker.pending_change(), None);
    breaker.close(at(33));
    assert_eq!(breaker.pending_change(), Some(up(33)));
}

#[tokio::test]
async fn next_change_waits_for_a_change() {
    let breaker = open();
    assert_eq!(breaker.next_change().await, down(0, 10));
    breaker.mark_published(down(0, 10));
    let (change, ()) = tokio::join!(breaker.next_change(), async { breaker.close(at(5)) });
    assert_eq!(change, up(5));
}

#[test]
fn f004_remote_state_applies_until_a_later_change() {
    let breaker = Breaker::default();
    breaker.apply_remote(down(0, 40), at(1));
    assert_eq!((breaker.is_available(at(39)), breaker.is_available(at(40))), (false, true));
    assert_eq!(breaker.pending_change(), None, "others know it already");
    probe_fails(&breaker, 40);
    assert_eq!(breaker.pending_change(), Some(down(40, 120)), "its time doubles here too");
    breaker.apply_remote(up(39), at(41));
    assert!(breaker.is_open(), "what was found before counts less");
    breaker.apply_remote(up(50), at(51));
    assert!(!breaker.is_open());
}

#[test]
fn expired_remote_outage_is_ignored() {
    let breaker = Breaker::default();
    breaker.apply_remote(down(0, 10), at(130));
    assert!(!breaker.is_open());
    let forged = EndpointHealth { changed_at: at(200), down_until: Some(at(100_000)) };
    breaker.apply_remote(forged, at(200));
    assert!(breaker.is_available(at(200)), "nothing is down for longer than two minutes");
}

#[test]
fn published_state_is_polled_every_three_seconds() {
    let breaker = Breaker::default();
    assert_eq!([0, 1, 2, 3, 4, 6].map(|now| breaker.should_poll(at(now))), [true, false, false, true, false, true]);
    assert!(breaker.should_poll(at(0)), "a clock that was set back");
}

#[test]
fn models_of_one_endpoint_share_a_breaker() {
    let breakers = Breakers::default();
    let one = breakers.for_endpoint(Wire::Openai, "http://a");
    assert!(Arc::ptr_eq(&one, &breakers.for_endpoint(Wire::Openai, "http://a")));
    for (wire, base_url) in [(Wire::Ollama, "http://a"), (Wire::Openai, "http://b")] {
        assert!(!Arc::ptr_eq(&one, &breakers.for_endpoint(wire, base_url)));
    }
}
