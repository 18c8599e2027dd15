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

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use conversation::{ErrorCode, Failure};
use http::request::Parts;
use store::Keys;

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
    attempts: Attempts,
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
        Self(Arc::new(Shared { proof, attempts: Attempts::default() }))
    }

    async fn identify(&self, head: &Parts, now: SystemTime) -> Result<Identity, ApiError> {
        let credential = || presented(&head.headers).ok_or(ApiError::from(ErrorCode::Unauthorized));
        let caller = match &self.0.proof {
            Proof::Unset => return Err(ErrorCode::AuthNotConfigured.into()),
            Proof::Nothing => return Ok(Identity::Anybody),
            Proof::Key(ring) => {
                let credential = credential()?;
                self.wait(head, now)?;
                ring.holder(credential, now).await
            }
            Proof::Token(tokens) => {
                let credential = credential()?;
                self.wait(head, now)?;
                tokens.subject(credential, now).await
            }
        };
        caller.map(Identity::Proven).map_err(|denial| self.refused(denial, head, now))
    }

    /// Lets nobody go on who tried too often, whatever he shows this time.
    fn wait(&self, head: &Parts, now: SystemTime) -> Result<(), ApiError> {
        match self.0.attempts.wait(source::of(head), now) {
            None => Ok(()),
            Some(left) => Err(Failure::from(ErrorCode::RateLimited).retry_after(whole_seconds(left)).into()),
        }
    }

    fn refused(&self, denial: Denial, head: &Parts, now: SystemTime) -> ApiError {
        match denial {
            Denial::Worthless => ErrorCode::Unauthorized.into(),
            Denial::Wrong => {
                self.0.attempts.count(source::of(head), now);
                ErrorCode::Unauthorized.into()
            }
            Denial::Unavailable => {
                ApiError::new(ErrorCode::StorageBusy, "Who is calling cannot be checked right now. Please try again.")
            }
            Denial::Broken => ErrorCode::Internal.into(),
        }
    }
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
