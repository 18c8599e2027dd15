//! Decides whether to retry, and after how long.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use ulid::Ulid;

use crate::ModelError;
use crate::errors::{AttemptError, RetryAdvice, is_plausible_wait};

/// The maximum number of attempts for one reply; the replacement of a dead pooled connection is not counted.
pub(crate) const MAX_ATTEMPTS: u32 = 3;

/// The maximum wait that an endpoint may request; a longer one is returned to the caller.
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The same if there is a fallback model.
const MAX_WAIT_WITH_FALLBACK: Duration = Duration::from_secs(2);

const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const MAX_BACKOFF: Duration = Duration::from_secs(8);

#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryPolicy {
    max_wait: Duration,
    /// The maximum number of attempts after transient errors.
    attempts: u32,
}

impl RetryPolicy {
    /// Creates the policy: `has_fallback` shortens the waits, `no_retry` disables retries of transient errors.
    pub(crate) fn new(has_fallback: bool, no_retry: bool) -> Self {
        let max_wait = if has_fallback { MAX_WAIT_WITH_FALLBACK } else { MAX_WAIT };
        Self { max_wait, attempts: if no_retry { 1 } else { MAX_ATTEMPTS } }
    }
}

/// Returns the wait before the next attempt, or the error if there must be none.
///
/// `attempts` is the number of attempts so far, `left` the remaining time, `jitter` a number between 0 and 1.
pub(crate) fn next_wait(
    fault: &AttemptError,
    attempts: u32,
    policy: RetryPolicy,
    left: Duration,
    jitter: f64,
) -> Result<Duration, ModelError> {
    let wait = match fault.advice {
        RetryAdvice::Never => return Err(fault.error.clone()),
        RetryAdvice::NewConnection => Duration::ZERO,
        _ if attempts >= MAX_ATTEMPTS => return Err(fault.error.clone()),
        RetryAdvice::NewKey | RetryAdvice::ApplyFix(_) => Duration::ZERO,
        RetryAdvice::Later if attempts >= policy.attempts => return Err(fault.error.clone()),
        RetryAdvice::Later => fault.retry_after.unwrap_or_else(|| backoff(attempts, jitter)),
    };
    if wait > policy.max_wait || wait >= left { Err(fault.error.clone()) } else { Ok(wait) }
}

/// Doubles with each attempt; `jitter` removes up to a quarter.
fn backoff(attempts: u32, jitter: f64) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)));
    doubled.min(MAX_BACKOFF).mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0))
}

/// Reads the requested wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
///
/// An invalid time, one that is not in the future, or one of more than a day is ignored.
pub(crate) fn parse_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let is_plausible = |wait: &Duration| is_plausible_wait(*wait);
    let millis = text("retry-after-ms").and_then(|value| parse_seconds(value, 1000.0)).filter(is_plausible);
    millis.or_else(|| {
        let value = text("retry-after")?;
        parse_seconds(value, 1.0).or_else(|| parse_date(value, now)).filter(is_plausible)
    })
}

fn parse_seconds(value: &str, per_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value.parse::<f64>().ok()? / per_second).ok()
}

fn parse_date(value: &str, now: SystemTime) -> Option<Duration> {
    httpdate::parse_http_date(value).ok()?.duration_since(now).ok()
}

/// Returns a number from 0 to 1, from the random part of `id`.
pub(crate) fn jitter(id: Ulid) -> f64 {
    let random = u16::try_from(id.random() & u128::from(u16::MAX)).unwrap_or_default();
    f64::from(random) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests;
