use http::HeaderValue;

use super::*;

/// 2026-01-01 00:00:00 UTC.
const NOW: u64 = 1_767_225_600;

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn headers(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
    pairs.iter().map(|(name, value)| ((*name).parse().unwrap(), HeaderValue::from_bytes(value).unwrap())).collect()
}

/// `next` without a fallback model.
fn next_wait(fault: &AttemptError, attempts: u32, left: Duration, jitter: f64) -> Result<Duration, ModelError> {
    super::next_wait(fault, attempts, RetryPolicy::new(false, false), left, jitter)
}

fn rate_limited(retry_after: Option<Duration>) -> AttemptError {
    AttemptError { retry_after, ..AttemptError::transient(ModelError::RateLimited { retry_after }) }
}

#[test]
fn f001_f002_retry_after_is_parsed_or_ignored() {
    let cases: [(&str, Option<f64>); 36] = [
        ("20", Some(20.0)),
        ("1", Some(1.0)),
        (" 7 ", Some(7.0)),
        ("+5", Some(5.0)),
        ("0.25", Some(0.25)),
        ("1.5", Some(1.5)),
        (".5", Some(0.5)),
        ("1e1", Some(10.0)),
        ("60", Some(60.0)),
        ("61", Some(61.0)),
        ("86400", Some(86_400.0)),
        ("86401", None),
        ("0", None),
        ("0.0", None),
        ("-0", None),
        ("-10", None),
        ("-0.5", None),
        ("nan", None),
        ("NaN", None),
        ("inf", None),
        ("-inf", None),
        ("infinity", None),
        ("1e999", None),
        ("99999999999999999999999999999999999", None),
        ("", None),
        ("soon", None),
        ("5s", None),
        ("5, 10", None),
        ("0x10", None),
        ("Thu, 01 Jan 2026 00:00:20 GMT", Some(20.0)),
        ("Thu, 01 Jan 2026 00:01:00 GMT", Some(60.0)),
        ("Thursday, 01-Jan-26 00:00:20 GMT", Some(20.0)),
        ("Thu Jan  1 00:00:20 2026", Some(20.0)),
        ("Thu, 01 Jan 2026 00:00:00 GMT", None),
        ("Wed, 31 Dec 2025 23:59:50 GMT", None),
        ("Zun, 01 Jan 2026 00:00:20 GMT", None),
    ];
    for (value, seconds) in cases {
        let read = parse_retry_after(&headers(&[("retry-after", value.as_bytes())]), now());
        assert_eq!(read, seconds.map(Duration::from_secs_f64), "{value:?}");
    }
    assert_eq!(parse_retry_after(&headers(&[("retry-after", b"\xff")]), now()), None);
    assert_eq!(parse_retry_after(&HeaderMap::new(), now()), None);
}

#[test]
fn f001_valid_milliseconds_precede_seconds() {
    let both = |millis: &'static str, seconds: &'static str| {
        parse_retry_after(
            &headers(&[("retry-after-ms", millis.as_bytes()), ("retry-after", seconds.as_bytes())]),
            now(),
        )
    };
    assert_eq!(both("1500", "9"), Some(Duration::from_millis(1500)));
    assert_eq!(both("0.5", "9"), Some(Duration::from_micros(500)));
    assert_eq!(both("0", "9"), Some(Duration::from_secs(9)));
    assert_eq!(both("soon", "9"), Some(Duration::from_secs(9)));
    assert_eq!(both("-1", ""), None);
}

/// 2023-09-29 16:26:37 UTC, the fixed time of a table of cases in the tests of OpenAI's client for Python. That client
/// waits up to 60 s and ignores longer waits; this one waits up to 20 s and returns longer waits to the caller.
const THEIR_NOW: u64 = 1_696_004_797;

/// The effect of a header.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// Waits that many seconds.
    Waits(f64),
    /// Returns that many seconds to the caller.
    Returns(f64),
    /// Ignores the header and backs off.
    BacksOff,
}

fn effect_of(pairs: &[(&'static str, &str)], made: u32) -> Effect {
    let bytes: Vec<_> = pairs.iter().map(|(name, value)| (*name, value.as_bytes())).collect();
    let requested = parse_retry_after(&headers(&bytes), SystemTime::UNIX_EPOCH + Duration::from_secs(THEIR_NOW));
    match (requested, next_wait(&rate_limited(requested), made, Duration::from_mins(5), 0.0)) {
        (Some(requested), Ok(wait)) if wait == requested => Effect::Waits(wait.as_secs_f64()),
        (Some(requested), Err(error)) if error == rate_limited(Some(requested)).error => {
            Effect::Returns(requested.as_secs_f64())
        }
        (None, Ok(wait)) if wait == backoff(made, 0.0) => Effect::BacksOff,
        other => panic!("{pairs:?} {other:?}"),
    }
}

#[test]
fn f001_f002_cases_of_openai_client_are_handled() {
    use Effect::{BacksOff, Returns, Waits};
    for (value, expected) in [
        ("20", Waits(20.0)),
        ("0", BacksOff),
        ("-10", BacksOff),
        ("60", Returns(60.0)),
        ("61", Returns(61.0)),
        ("Fri, 29 Sep 2023 16:26:57 GMT", Waits(20.0)),
        ("Fri, 29 Sep 2023 16:26:37 GMT", BacksOff),
        ("Fri, 29 Sep 2023 16:26:27 GMT", BacksOff),
        ("Fri, 29 Sep 2023 16:27:37 GMT", Returns(60.0)),
        ("Fri, 29 Sep 2023 16:27:38 GMT", Returns(61.0)),
        ("99999999999999999999999999999999999", BacksOff),
        ("Zun, 29 Sep 2023 16:26:27 GMT", BacksOff),
        ("", BacksOff),
        // The standard has dates in GMT only: other zones are ignored, instead of being off by hours.
        ("Fri, 29 Sep 2023 18:26:57 +0200", BacksOff),
        ("Fri, 29 Sep 2023 12:26:57 EDT", BacksOff),
        ("Fri, 29 Sep 2023 16:26:57 UTC", BacksOff),
        ("2023-09-29T16:26:57Z", BacksOff),
    ] {
        assert_eq!(effect_of(&[("retry-after", value)], 1), expected, "{value:?}");
    }
    // Their last rows: without a header the wait grows, and never overflows.
    assert_eq!([1, 2, 3, 1100].map(|made| backoff(made, 0.0).as_millis()), [500, 1000, 2000, 8000]);
    for made in [1, 2] {
        assert_eq!(effect_of(&[("retry-after", "")], made), BacksOff);
    }
}

#[test]
fn f001_f002_milliseconds_and_seconds_together_are_handled() {
    use Effect::{BacksOff, Returns, Waits};
    for (millis, seconds, expected) in [
        ("1500", "20", Waits(1.5)),
        ("20000", "1", Waits(20.0)),
        ("20001", "1", Returns(20.001)),
        ("0", "20", Waits(20.0)),
        ("-10", "60", Returns(60.0)),
        ("soon", "Fri, 29 Sep 2023 16:26:57 GMT", Waits(20.0)),
        ("", "", BacksOff),
    ] {
        assert_eq!(
            effect_of(&[("retry-after-ms", millis), ("retry-after", seconds)], 1),
            expected,
            "{millis} {seconds}"
        );
    }
}

#[test]
fn f001_short_wait_is_kept_long_wait_returned() {
    let minute = Duration::from_mins(1);
    let wait = |seconds| Some(Duration::from_secs(seconds));
    assert_eq!(next_wait(&rate_limited(wait(20)), 1, minute, 0.0), Ok(Duration::from_secs(20)));
    let long = rate_limited(wait(21));
    assert_eq!(next_wait(&long, 1, minute, 0.0), Err(ModelError::RateLimited { retry_after: wait(21) }));
    let late = rate_limited(wait(10));
    assert_eq!(
        next_wait(&late, 1, Duration::from_secs(10), 0.0),
        Err(ModelError::RateLimited { retry_after: wait(10) })
    );
}

#[test]
fn f001_fallback_limits_wait_to_two_seconds() {
    let next_wait =
        |fault: &AttemptError| super::next_wait(fault, 1, RetryPolicy::new(true, false), Duration::from_mins(1), 0.0);
    let limited = |millis| rate_limited(Some(Duration::from_millis(millis)));
    assert_eq!(next_wait(&limited(2000)), Ok(Duration::from_secs(2)));
    assert_eq!(next_wait(&limited(2001)), Err(limited(2001).error));
    assert_eq!(next_wait(&rate_limited(None)), Ok(FIRST_BACKOFF));
}

#[test]
fn f002_backoff_doubles_and_jitter_shortens_it() {
    let waits = |jitter: f64| {
        [1, 2].map(|attempts| next_wait(&rate_limited(None), attempts, Duration::MAX, jitter).unwrap().as_millis())
    };
    assert_eq!(waits(0.0), [500, 1000]);
    assert_eq!(waits(1.0), [375, 750]);
    assert_eq!(waits(f64::INFINITY), [375, 750]);
    assert_eq!(backoff(u32::MAX, 0.0), MAX_BACKOFF);
    assert_eq!(backoff(0, 0.0), FIRST_BACKOFF);
}

#[test]
fn three_attempts_plus_one_for_dead_connection() {
    let fault = AttemptError::transient(ModelError::Unavailable);
    assert!(next_wait(&fault, 2, Duration::MAX, 0.0).is_ok());
    assert_eq!(next_wait(&fault, 3, Duration::MAX, 0.0), Err(ModelError::Unavailable));
    let dead = AttemptError { advice: RetryAdvice::NewConnection, ..AttemptError::transient(ModelError::Disconnected) };
    assert_eq!(next_wait(&dead, 3, Duration::from_secs(1), 0.0), Ok(Duration::ZERO));
    let single = |fault: &AttemptError| super::next_wait(fault, 1, RetryPolicy::new(false, true), Duration::MAX, 0.0);
    assert_eq!(single(&fault), Err(ModelError::Unavailable));
    assert_eq!(
        single(&AttemptError { advice: RetryAdvice::NewKey, ..AttemptError::fatal(ModelError::Auth) }),
        Ok(Duration::ZERO)
    );
    let last = AttemptError::fatal(ModelError::Auth);
    assert_eq!(next_wait(&last, 1, Duration::MAX, 0.0), Err(ModelError::Auth));
}
