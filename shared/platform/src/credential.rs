//! Credentials with an end, which an endpoint returns: when they are renewed, and why there is none.

use std::borrow::Cow;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use reqwest::RequestBuilder;
use serde::de::DeserializeOwned;
use work::{RefreshPolicy, Refreshed};

use crate::transport::{FetchError, fetch};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no credential. The text names the setting that locates it, never a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {problem}")]
pub struct CredentialError {
    setting: &'static str,
    problem: Cow<'static, str>,
    /// Whether a later attempt may succeed without a change of the settings.
    pub is_transient: bool,
}

impl CredentialError {
    pub(crate) fn new(setting: &'static str, problem: impl Into<Cow<'static, str>>) -> Self {
        Self { setting, problem: problem.into(), is_transient: false }
    }

    pub(crate) fn transient(setting: &'static str, problem: &'static str) -> Self {
        Self { is_transient: true, ..Self::new(setting, problem) }
    }
}

/// How long before its end a value is renewed.
const EARLY: Duration = Duration::from_mins(5);

/// The end of a value decides, not its age.
const POLICY: RefreshPolicy =
    RefreshPolicy { fresh_for: Duration::MAX, usable_for: Duration::MAX, retry_interval: Duration::from_secs(30) };

/// A future whose code is once in the binary: unboxed, each crate that awaits it has a copy.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A value with an end: read on first use and renewed some minutes before its end. Concurrent callers cause one read.
/// While reads fail the value is used until its end.
#[derive(Debug)]
pub(crate) struct Expiring<T>(Refreshed<(T, SystemTime), CredentialError>);

impl<T: Clone> Expiring<T> {
    pub(crate) fn new() -> Self {
        Self(Refreshed::new(POLICY))
    }

    /// Returns the value; `read` returns the next one with its end.
    pub(crate) async fn get(
        &self,
        now: SystemTime,
        read: impl AsyncFnOnce() -> Result<(T, SystemTime), CredentialError>,
    ) -> Result<T, CredentialError> {
        if self.0.peek().is_some_and(|(_, end)| end <= now + EARLY) {
            self.0.discard_if(|(_, end)| *end <= now);
            self.0.try_invalidate(now);
        }
        self.0.get(now, read).await.map(|(value, _)| value)
    }

    /// Records that the value was rejected; returns whether it will be read again for that.
    pub(crate) fn invalidate(&self, now: SystemTime) -> bool {
        self.0.try_invalidate(now)
    }
}

pub(crate) async fn exchange<T: DeserializeOwned>(
    request: RequestBuilder,
    setting: &'static str,
) -> Result<T, CredentialError> {
    let body = fetch(request, TIMEOUT, "error").await.map_err(|FetchError { reason, is_transient }| {
        CredentialError { is_transient, ..CredentialError::new(setting, reason) }
    })?;
    serde_json::from_slice(&body).map_err(|_| CredentialError::new(setting, "the answer has no credential"))
}

pub(crate) fn read_file(path: &str, setting: &'static str) -> Result<String, CredentialError> {
    std::fs::read_to_string(path).map_err(|_| CredentialError::new(setting, "the file cannot be read"))
}

/// Parses a time with an offset, such as `2026-11-26T12:00:00Z`.
pub(crate) fn parse_time(text: &str) -> Option<SystemTime> {
    DateTime::from_str(text, Format::DateTimeWithOffset).ok()?.try_into().ok()
}
