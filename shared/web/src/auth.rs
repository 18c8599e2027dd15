//! Authentication: determines the caller before a handler runs.
//!
//! [`authenticate`] wraps every route that is not public. A handler gets an owner only from [`Caller`] or
//! [`Credentials`], which only that layer can fill: a route without the layer rejects every request. Every rejected
//! credential gets the same response, whatever is wrong with it.

mod api_key_verifier;
mod attempt_limiter;
mod caller;
mod config;
mod credential;
mod issuer_url;
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
use http::request::Parts;
use store::{ApiKey, Keys};

pub use caller::{Administrator, Caller, Credentials};
pub use config::{AuthConfig, Platform};
pub use sign_in::SignIn;
pub use source::{SourceHeader, SourceIp, network_prefix};

use self::api_key_verifier::ApiKeyVerifier;
use self::attempt_limiter::AttemptLimiter;
use self::caller::Identity;
use self::config::AuthMode;
use self::credential::extract_credential;
use self::token::TokenVerifier;
use crate::ApiError;

/// Authenticates callers; clones share cached keys, issuers and failed attempts.
#[derive(Clone)]
pub struct Auth(Arc<AuthState>);

struct AuthState {
    method: AuthMethod,
    /// Limits failed lookups and signature checks of an address: a burst of 600, then 10 per second.
    attempt_limiter: AttemptLimiter,
    /// Limits signature checks of an address whose failed attempts are used up: 1,000 per second.
    signature_limiter: AttemptLimiter,
}

/// What callers must present.
enum AuthMethod {
    /// Not configured, so every call is rejected.
    Unset,
    Open,
    ApiKey(ApiKeyVerifier),
    Token(TokenVerifier),
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
        }))
    }

    async fn identify(&self, head: &Parts, now: SystemTime) -> Result<Identity, ApiError> {
        let method = match &self.0.method {
            AuthMethod::Unset => return Err(ErrorCode::AuthNotConfigured.into()),
            AuthMethod::Open => return Ok(Identity::Unauthenticated),
            method => method,
        };
        let credential = extract_credential(&head.headers).ok_or(AuthError::Malformed)?;
        let source = source::source_network(head);
        let caller = match method {
            AuthMethod::ApiKey(verifier) => self.identify_key(verifier, credential, source, now).await,
            AuthMethod::Token(verifier) => self.identify_token(verifier, credential, source, now).await,
            AuthMethod::Unset | AuthMethod::Open => Err(AuthError::Internal),
        };
        Ok(Identity::Authenticated(caller?))
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
            Err(rejection) => return rejection.into_response(),
        }
    }
    next.run(Request::from_parts(head, body)).await
}

#[cfg(test)]
mod tests;
