//! Who is calling, decided before a handler runs.
//!
//! [`authenticate`] stands in front of every route that is not for everybody, and a handler comes to an owner by
//! [`Caller`] or [`Credentials`] alone, which only that layer can fill: a route that was forgotten answers nobody. Every
//! refusal of a credential is the same answer, whatever is wrong with it.

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

/// Decides who may call; clones share what was learned of keys, issuers and failed attempts.
#[derive(Clone)]
pub struct Auth(Arc<Shared>);

struct Shared {
    proof: Proof,
    /// Look-ups and signatures that led to nobody: 600 at once of an address, and 10 a second.
    attempts: Attempts,
    /// Signatures that are checked of an address that may make no more attempts: 1,000 a second.
    checks: Attempts,
}

/// What a caller must show.
enum Proof {
    /// Nobody said, so nobody may call.
    Unset,
    Nothing,
    Key(KeyRing),
    Token(Tokens),
}

/// Why a credential is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denial {
    /// It could be told from the text alone.
    Worthless,
    /// It took a look-up or a signature to tell: such attempts are counted.
    Wrong,
    /// What tells cannot be asked now.
    Unavailable,
    /// What is stored cannot be understood.
    Broken,
}

impl Auth {
    /// Puts it together; makes no call.
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

    /// The caller who holds a key. A good one passes whatever others at its address tried, for it is remembered, or found in
    /// a list of all keys; only looking ids up, which those who guess make up, is limited.
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

    /// The caller whom a token names. One that the issuer signed passes whatever others at its address tried, as long as
    /// they do not have more than 1,000 signatures a second checked.
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

    /// Gives back the attempt that was taken for a credential, unless it was a wrong one.
    fn counted<T>(&self, outcome: Result<T, Denial>, source: IpAddr) -> Result<T, Refusal> {
        if !matches!(outcome, Err(Denial::Wrong)) {
            self.0.attempts.give_back(source, 1);
        }
        Ok(outcome?)
    }
}

/// Why a request is not let through.
#[derive(Debug)]
enum Refusal {
    Denied(Denial),
    /// Too many attempts of its address were wrong; it may make the next one after this.
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

/// Lets a request through to its handler once it is known who calls.
///
/// `OPTIONS` passes: browsers ask it without a credential, no route has a handler for it, and it tells methods alone.
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
