//! When to ask again, and after how long.

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use ulid::Ulid;

use crate::ModelError;
use crate::fault::{Again, Fault};

/// Most attempts at one reply; the one that repairs a dead pooled connection is not counted.
pub(crate) const ATTEMPTS: u32 = 3;

/// Longest wait that an endpoint may ask for; a longer one is passed on to the caller.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The same where another model can be asked instead.
const LONGEST_WAIT_BEFORE_ANOTHER: Duration = Duration::from_secs(2);

/// An endpoint that asks for more than this does not mean it.
const CREDIBLE: Duration = Duration::from_hours(24);

const FIRST_BACKOFF: Duration = Duration::from_millis(500);
const LONGEST_BACKOFF: Duration = Duration::from_secs(8);

/// How much is done for one reply.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// The longest wait before a further attempt.
    longest: Duration,
    /// The most attempts that only hope for better luck.
    attempts: u32,
}

impl Patience {
    /// What is done where another model stands behind this one, or none, and where luck is tried a `single` time.
    pub(crate) fn new(alternative: bool, single: bool) -> Self {
        let longest = if alternative { LONGEST_WAIT_BEFORE_ANOTHER } else { LONGEST_WAIT };
        Self { longest, attempts: if single { 1 } else { ATTEMPTS } }
    }
}

/// The wait before the next attempt, or the error when there shall be none.
///
/// `attempts` have been made, `left` is the time that remains, `jitter` lies between 0 and 1.
pub(crate) fn next(
    fault: &Fault,
    attempts: u32,
    patience: Patience,
    left: Duration,
    jitter: f64,
) -> Result<Duration, ModelError> {
    let wait = match fault.again {
        Again::Never => return Err(fault.error.clone()),
        Again::NewConnection => Duration::ZERO,
        _ if attempts >= ATTEMPTS => return Err(fault.error.clone()),
        Again::NewKey | Again::Amended(_) => Duration::ZERO,
        Again::Later if attempts >= patience.attempts => return Err(fault.error.clone()),
        Again::Later => fault.retry_after.unwrap_or_else(|| backoff(attempts, jitter)),
    };
    if wait > patience.longest || wait >= left { Err(fault.error.clone()) } else { Ok(wait) }
}

/// Doubles from attempt to attempt; `jitter` takes away up to a quarter.
fn backoff(attempts: u32, jitter: f64) -> Duration {
    let doubled = FIRST_BACKOFF.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1)));
    doubled.min(LONGEST_BACKOFF).mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0))
}

/// How long the endpoint asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.
///
/// What is no time, not in the future, or more than a day counts as not said.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let credible = |wait: &Duration| !wait.is_zero() && *wait <= CREDIBLE;
    let millis = text("retry-after-ms").and_then(|value| seconds(value, 1000.0)).filter(credible);
    millis.or_else(|| {
        let value = text("retry-after")?;
        seconds(value, 1.0).or_else(|| date(value, now)).filter(credible)
    })
}

fn seconds(value: &str, per_second: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(value.parse::<f64>().ok()? / per_second).ok()
}

fn date(value: &str, now: SystemTime) -> Option<Duration> {
    httpdate::parse_http_date(value).ok()?.duration_since(now).ok()
}

/// A number from 0 to 1 out of the random part of `id`.
pub(crate) fn jitter(id: Ulid) -> f64 {
    let random = u16::try_from(id.random() & u128::from(u16::MAX)).unwrap_or_default();
    f64::from(random) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests;
