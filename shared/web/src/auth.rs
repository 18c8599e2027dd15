//! Authentication: determines the caller before a handler runs.
//!
//! [`authenticate`] wraps every route that is not public. A handler gets an owner only from [`Caller`] or
//! [`Credentials`], which only that layer can fill: a route without the layer rejects every request. Every rejected
//! credential gets the same response, whatever is wrong with it.

mod attempts;
mod caller;
mod config;
mod key_ring;
mod presented;
mod source;
mod token;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use conversation::{ErrorCode, Failure};
use http::request::Parts;
use store::{ApiKey, Keys};

pub use caller::{Administrator, Caller, Credentials};
pub use config::{AuthConfig, Place};
pub use source::{SourceHeader, SourceIp, network};

use self::attempts::Attempts;
use self::caller::Identity;
use self::config::Mode;
use self::key_ring::KeyRing;
use self::presented::presented;
use self::token::Tokens;
use crate::ApiError;

/// Authenticates callers; clones share cached keys, issuers and failed attempts.
#[derive(Clone)]
pub struct Auth(Arc<Shared>);

struct Shared {
    proof: Proof,
    /// Limits failed lookups and signature checks of an address: a burst of 600, then 10 per second.
    attempts: Attempts,
    /// Limits signature checks of an address whose failed attempts are used up: 1,000 per second.
    checks: Attempts,
}

/// What callers must present.
enum Proof {
    /// Not configured, so every call is rejected.
    Unset,
    Nothing,
    Key(KeyRing),
    Token(Tokens),
}

/// Why a credential is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denial {
    /// Malformed or expired: the text alone shows it.
    Worthless,
    /// Found by a lookup or a signature check; only these attempts are counted.
    Wrong,
    /// The key store or the issuer is unavailable.
    Unavailable,
    /// The stored data cannot be read.
    Broken,
}

impl Auth {
    /// Builds the authenticator; makes no call.
    pub fn new(config: &AuthConfig, keys: Keys, http: transport::Client) -> Self {
        let proof = match &config.mode {
            Mode::Unset => Proof::Unset,
            Mode::Open => Proof::Nothing,
            Mode::ApiKey => Proof::Key(KeyRing::new(keys)),
            Mode::Token(issuer) => Proof::Token(Tokens::new(issuer.clone(), http)),
        };
        Self(Arc::new(Shared {
            proof,
            attempts: failed_attempts(),
            checks: Attempts::new(1_000, Duration::from_millis(1)),
        }))
    }

    async fn identify(&self, head: &Parts, now: SystemTime) -> Result<Identity, ApiError> {
        let proof = match &self.0.proof {
            Proof::Unset => return Err(ErrorCode::AuthNotConfigured.into()),
            Proof::Nothing => return Ok(Identity::Anybody),
            proof => proof,
        };
        let credential = presented(&head.headers).ok_or(Refusal::Denied(Denial::Worthless))?;
        let source = source::of(head);
        let caller = match proof {
            Proof::Key(ring) => self.holder(ring, credential, source, now).await,
            Proof::Token(tokens) => self.subject(tokens, credential, source, now).await,
            Proof::Unset | Proof::Nothing => Err(Refusal::Denied(Denial::Broken)),
        };
        Ok(Identity::Proven(caller?))
    }

    /// Identifies the holder of an API key. A valid key passes despite failed attempts of others at its address, from
    /// the cache or from a list of all keys. Only lookups by id are limited, because ids can be guessed.
    async fn holder(&self, ring: &KeyRing, text: &str, source: IpAddr, now: SystemTime) -> Result<Caller, Refusal> {
        let key = ApiKey::parse(text).ok_or(Refusal::Denied(Denial::Worthless))?;
        if let Some(caller) = ring.recognised(&key, now) {
            return Ok(caller);
        }
        match self.0.attempts.take(source, 1, now) {
            Ok(()) => self.counted(ring.look_up(&key, now).await, source),
            Err(left) => ring.listed(&key, now).await.ok_or(Refusal::Wait(left)),
        }
    }

    /// Identifies the subject of a token. A token that the issuer signed passes despite failed attempts of others at
    /// its address, up to 1,000 signature checks per second.
    async fn subject(&self, tokens: &Tokens, text: &str, source: IpAddr, now: SystemTime) -> Result<Caller, Refusal> {
        let token = tokens.read(text, now)?;
        if tokens.is_recognised(&token, now).await? {
            return Ok(token.into_caller());
        }
        match self.0.attempts.take(source, 1, now) {
            Ok(()) => self.counted(tokens.verify(&token, now).await, source)?,
            Err(left) => {
                let cost = tokens.cost(&token, now).await?;
                self.0.checks.take(source, cost, now).map_err(|_| Refusal::Wait(left))?;
                tokens.verify(&token, now).await.map_err(|denial| match denial {
                    Denial::Wrong => Refusal::Wait(left),
                    denial => Refusal::Denied(denial),
                })?;
            }
        }
        Ok(token.into_caller())
    }

    /// Returns the attempt taken for a credential, unless the credential was rejected.
    fn counted<T>(&self, outcome: Result<T, Denial>, source: IpAddr) -> Result<T, Refusal> {
        if !matches!(outcome, Err(Denial::Wrong)) {
            self.0.attempts.give_back(source, 1);
        }
        Ok(outcome?)
    }
}

/// Why a request is rejected.
#[derive(Debug)]
enum Refusal {
    Denied(Denial),
    /// Too many failed attempts of its address; the client may retry after this time.
    Wait(Duration),
}

impl From<Denial> for Refusal {
    fn from(denial: Denial) -> Self {
        Self::Denied(denial)
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Wait(left) => Failure::from(ErrorCode::RateLimited).retry_after(whole_seconds(left)).into(),
            Refusal::Denied(Denial::Worthless | Denial::Wrong) => ErrorCode::Unauthorized.into(),
            Refusal::Denied(Denial::Unavailable) => {
                ApiError::new(ErrorCode::StorageBusy, "Who is calling cannot be checked right now. Please try again.")
            }
            Refusal::Denied(Denial::Broken) => ErrorCode::Internal.into(),
        }
    }
}

fn failed_attempts() -> Attempts {
    Attempts::new(600, Duration::from_millis(100))
}

fn whole_seconds(left: Duration) -> u64 {
    left.as_secs() + u64::from(left.subsec_nanos() > 0)
}

/// Authenticates a request before its handler runs.
///
/// `OPTIONS` passes without a credential: browsers send none with it, no route has a handler for it, and the response
/// holds only methods.
pub async fn authenticate(State(auth): State<Auth>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let asks_methods = head.method == http::Method::OPTIONS && !matches!(auth.0.proof, Proof::Unset);
    if !asks_methods {
        match auth.identify(&head, SystemTime::now()).await {
            Ok(identity) => drop(head.extensions.insert(identity)),
            Err(refusal) => return refusal.into_response(),
        }
    }
    next.run(Request::from_parts(head, body)).await
}

#[cfg(test)]
mod tests;
