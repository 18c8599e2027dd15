//! Authentication: determines the caller before a handler runs.
//!
//! [`authenticate`] wraps every route that is not public. A handler gets an owner only from [`Caller`] or
//! [`Credentials`], which only that layer can fill: a route without the layer rejects every request. Every rejected
//! credential gets the same response, whatever is wrong with it.

mod api_key_verifier;
mod attempt_limiter;
mod caller;
mod config;
mod sign_in;
mod source;
mod token;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use domain::{ErrorCode, Failure};
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use store::{ApiKey, Keys};

use self::api_key_verifier::ApiKeyVerifier;
use self::attempt_limiter::AttemptLimiter;
use self::caller::Identity;
use self::config::AuthMode;
use self::token::TokenVerifier;
use crate::ApiError;
use crate::single_header::{SingleHeader, single_header};

pub use caller::{Administrator, Caller, Credentials};
pub use config::{AuthConfig, Platform};
pub use sign_in::SignIn;
pub use source::{SourceHeader, SourceIp, network_prefix};

/// Authenticates callers; clones share cached keys, issuers and failed attempts.
#[derive(Clone)]
pub struct Auth(Arc<AuthState>);

struct AuthState {
    method: AuthMethod,
    /// Limits failed lookups and signature checks of an address: a burst of 600, then 10 per second.
    attempt_limiter: AttemptLimiter,
    /// Limits signature checks of an address whose failed attempts are used up: 1,000 per second.
    signature_limiter: AttemptLimiter,
    /// Limits reads of an address that need no credential: a burst of 600, then 10 per second.
    read_limiter: AttemptLimiter,
}

/// What callers must present.
enum AuthMethod {
    /// Not configured, so every call is rejected.
    Unset,
    Open,
    ApiKey(ApiKeyVerifier),
    Token(TokenVerifier),
}

/// The kind of a credential that was rejected: `key`, `token`, or `none` without one; an extension of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectedCredential(pub &'static str);

impl RejectedCredential {
    fn of(head: &Parts) -> Self {
        Self(match extract_credential(&head.headers) {
            None => "none",
            Some(text) if ApiKey::parse(text).is_some() => "key",
            Some(_) => "token",
        })
    }
}

/// Why a credential is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AuthError {
    /// Malformed or expired: the text alone shows it.
    Malformed,
    /// Found by a lookup or a signature check; only these attempts are counted.
    Rejected,
    /// Too many failed attempts of its address; the client may retry after this time.
    RateLimited(Duration),
    /// The key store or the issuer is unavailable.
    Unavailable,
    /// The stored data cannot be read.
    Internal,
}

impl Auth {
    /// Builds the authenticator; makes no call.
    pub fn new(config: &AuthConfig, keys: Keys, http: platform::transport::Client) -> Self {
        let method = match &config.mode {
            AuthMode::Unset => AuthMethod::Unset,
            AuthMode::Open => AuthMethod::Open,
            AuthMode::ApiKey => AuthMethod::ApiKey(ApiKeyVerifier::new(keys)),
            AuthMode::Token(issuer) => AuthMethod::Token(TokenVerifier::new(issuer.clone(), http)),
        };
        Self(Arc::new(AuthState {
            method,
            attempt_limiter: new_attempt_limiter(),
            signature_limiter: AttemptLimiter::new(1_000, Duration::from_millis(1)),
            read_limiter: new_attempt_limiter(),
        }))
    }

    async fn identify(&self, head: &Parts, now: SystemTime) -> Result<Identity, ApiError> {
        let credential = || extract_credential(&head.headers).ok_or(AuthError::Malformed);
        let source = source::source_network(head);
        Ok(Identity::Authenticated(match &self.0.method {
            AuthMethod::Unset => return Err(ErrorCode::AuthNotConfigured.into()),
            AuthMethod::Open => return Ok(Identity::Unauthenticated),
            AuthMethod::ApiKey(verifier) => self.identify_key(verifier, credential()?, source, now).await?,
            AuthMethod::Token(verifier) => self.identify_token(verifier, credential()?, source, now).await?,
        }))
    }

    /// Identifies the holder of an API key. A valid key passes despite failed attempts of others at its address, from
    /// the cache or from a list of all keys. Only lookups by id are limited, because ids can be guessed.
    async fn identify_key(
        &self,
        verifier: &ApiKeyVerifier,
        text: &str,
        source: IpAddr,
        now: SystemTime,
    ) -> Result<Caller, AuthError> {
        let key = ApiKey::parse(text).ok_or(AuthError::Malformed)?;
        if let Some(caller) = verifier.cached(&key, now) {
            return Ok(caller);
        }
        match self.0.attempt_limiter.take(source, 1, now) {
            Ok(()) => self.refund_unless_rejected(verifier.lookup(&key, now).await, source),
            Err(wait) => verifier.find_in_list(&key, now).await.ok_or(AuthError::RateLimited(wait)),
        }
    }

    /// Identifies the subject of a token. A token that the issuer signed passes despite failed attempts of others at
    /// its address, up to 1,000 signature checks per second.
    async fn identify_token(
        &self,
        verifier: &TokenVerifier,
        text: &str,
        source: IpAddr,
        now: SystemTime,
    ) -> Result<Caller, AuthError> {
        let token = verifier.parse(text, now)?;
        if let Some(caller) = verifier.cached(&token, now).await? {
            return Ok(caller);
        }
        match self.0.attempt_limiter.take(source, 1, now) {
            Ok(()) => self.refund_unless_rejected(verifier.verify(&token, now).await, source),
            Err(wait) => {
                let cost = verifier.candidate_count(&token, now).await?;
                self.0.signature_limiter.take(source, cost, now).map_err(|_| AuthError::RateLimited(wait))?;
                verifier.verify(&token, now).await.map_err(|error| match error {
                    AuthError::Rejected => AuthError::RateLimited(wait),
                    error => error,
                })
            }
        }
    }

    /// Returns the attempt taken for a credential, unless the credential was rejected.
    fn refund_unless_rejected<T>(&self, outcome: Result<T, AuthError>, source: IpAddr) -> Result<T, AuthError> {
        if !matches!(outcome, Err(AuthError::Rejected)) {
            self.0.attempt_limiter.give_back(source, 1);
        }
        outcome
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::RateLimited(wait) => {
                Failure::from(ErrorCode::RateLimited).with_retry_after(ceil_seconds(wait)).into()
            }
            AuthError::Malformed | AuthError::Rejected => ErrorCode::Unauthorized.into(),
            AuthError::Unavailable => {
                ApiError::new(ErrorCode::StorageBusy, "Who is calling cannot be checked right now. Please try again.")
            }
            AuthError::Internal => ErrorCode::Internal.into(),
        }
    }
}

fn new_attempt_limiter() -> AttemptLimiter {
    AttemptLimiter::new(600, Duration::from_millis(100))
}

fn ceil_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

/// Authenticates a request before its handler runs.
///
/// `OPTIONS` passes without a credential: browsers send none with it, no route has a handler for it, and the response
/// holds only methods.
pub async fn authenticate(State(auth): State<Auth>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let is_options_request = head.method == http::Method::OPTIONS && !matches!(auth.0.method, AuthMethod::Unset);
    if !is_options_request {
        match auth.identify(&head, SystemTime::now()).await {
            Ok(identity) => drop(head.extensions.insert(identity)),
            Err(rejection) => {
                let is_rejected = matches!(rejection.failure.code, ErrorCode::Unauthorized | ErrorCode::RateLimited);
                let mut response = rejection.into_response();
                if is_rejected {
                    response.extensions_mut().insert(RejectedCredential::of(&head));
                }
                return response;
            }
        }
    }
    next.run(Request::from_parts(head, body)).await
}

/// Limits the requests of an address to routes that read the store without a credential.
pub async fn limit_reads(State(auth): State<Auth>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    match auth.0.read_limiter.take(source::source_network(&head), 1, SystemTime::now()) {
        Ok(()) => next.run(Request::from_parts(head, body)).await,
        Err(wait) => ApiError::from(AuthError::RateLimited(wait)).into_response(),
    }
}

#[cfg(test)]
mod tests;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

const MAX_CREDENTIAL_BYTES: usize = 16 * 1024;

/// Extracts the key or token of a request: `X-Api-Key: X`, else `Authorization: Bearer X`.
///
/// `None` if there is none, if the header that counts occurs more than once, or if the value cannot be a credential.
pub(super) fn extract_credential(headers: &HeaderMap) -> Option<&str> {
    let credential = match single_header(headers, &API_KEY) {
        SingleHeader::One(value) => value,
        SingleHeader::Absent => match single_header(headers, &AUTHORIZATION) {
            SingleHeader::One(value) => bearer_token(value)?,
            SingleHeader::Absent | SingleHeader::Unusable => return None,
        },
        SingleHeader::Unusable => return None,
    };
    let credential = credential.trim();
    let plausible = (1..=MAX_CREDENTIAL_BYTES).contains(&credential.len())
        && credential.bytes().all(|byte| byte.is_ascii_graphic());
    plausible.then_some(credential)
}

fn bearer_token(value: &str) -> Option<&str> {
    let (scheme, credential) = value.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(credential)
}

#[cfg(test)]
mod credential_tests {
    use http::HeaderValue;

    use super::*;

    fn extracted(pairs: &[(&'static str, &str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        extract_credential(&headers).map(str::to_owned)
    }

    #[test]
    fn api_key_header_wins_over_bearer() {
        assert_eq!(extracted(&[("authorization", "Bearer a")]).as_deref(), Some("a"));
        assert_eq!(extracted(&[("authorization", "bearer   a ")]).as_deref(), Some("a"));
        assert_eq!(extracted(&[("x-api-key", " b ")]).as_deref(), Some("b"));
        assert_eq!(extracted(&[("authorization", "Bearer a"), ("x-api-key", "b")]).as_deref(), Some("b"));
    }

    #[test]
    fn f114_implausible_credential_is_none() {
        let long = "a".repeat(MAX_CREDENTIAL_BYTES + 1);
        let cases: [&[(&str, &str)]; 11] = [
            &[],
            &[("authorization", "Bearer")],
            &[("authorization", "Bearer ")],
            &[("authorization", "a")],
            &[("authorization", "Basic YTpi")],
            &[("authorization", "Bearer a b")],
            &[("authorization", "Bearer a"), ("authorization", "Bearer a")],
            &[("x-api-key", "")],
            &[("x-api-key", "a"), ("x-api-key", "b")],
            &[("authorization", "Bearer a"), ("x-api-key", "é")],
            &[("x-api-key", &long)],
        ];
        for case in cases {
            assert_eq!(extracted(case), None, "{case:?}");
        }
    }
}
