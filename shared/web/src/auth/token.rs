//! Tokens of an `OpenID` Connect issuer: signed JSON, checked against the keys that the issuer publishes.
//!
//! Signatures are ring's, which the TLS connections use too. What is around them (three parts in base64url, a header, a
//! few claims) is little, and it has rules of its own here: which algorithm fits is said by the key and never by the
//! token alone, a claim of a wrong type is no claim, and the time is an argument.

mod algorithm;
mod claims;
#[cfg(test)]
mod fuzz;
mod issuer;
mod jws;
mod key;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use ring::digest::{SHA256, digest};
use store::Owner;

use super::config::IssuerConfig;
use super::{Caller, Denial};

use self::claims::Claims;
use self::issuer::Issuer;
use self::jws::Jws;
use self::key::{KeySet, Verdict};

/// The most tokens whose signatures are remembered.
const MOST_VERIFIED: usize = 1_000;

/// Recognises the tokens of one issuer.
pub(super) struct Tokens {
    config: IssuerConfig,
    issuer: Issuer,
    /// The tokens that some keys were found to have signed, by their SHA-256.
    verified: Mutex<HashMap<[u8; 32], Arc<KeySet>>>,
}

/// A token whose claims hold and whose signature may be anybody's.
pub(super) struct Unverified<'a> {
    jws: Jws<'a>,
    /// Whom it names.
    caller: Caller,
    digest: [u8; 32],
}

impl Unverified<'_> {
    /// The caller whom the token names, for code that has verified that the signature is the issuer's.
    pub(super) fn into_caller(self) -> Caller {
        self.caller
    }
}

impl Tokens {
    pub(super) fn new(config: IssuerConfig, http: transport::Client) -> Self {
        Self { issuer: Issuer::new(&config, http), config, verified: Mutex::default() }
    }

    /// Reads a token.
    ///
    /// Claims come first: a token that would be refused anyhow asks for no key and no signature.
    pub(super) fn read<'a>(&self, text: &'a str, now: SystemTime) -> Result<Unverified<'a>, Denial> {
        let jws = Jws::parse(text).ok_or(Denial::Worthless)?;
        let claims = Claims::parse(&jws.payload).filter(|claims| claims.hold(&self.config, now));
        let claims = claims.ok_or(Denial::Worthless)?;
        let owner = Owner::subject(&self.config.issuer, &claims.sub);
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Ok(Unverified { jws, caller: Caller::new(owner, claims.is_administrator()), digest: sha256 })
    }

    /// Whether the issuer's present keys were found to have signed this very token; checks no signature.
    pub(super) async fn is_recognised(&self, token: &Unverified<'_>, now: SystemTime) -> Result<bool, Denial> {
        let keys = self.issuer.keys(now).await.ok_or(Denial::Unavailable)?;
        Ok(self.verified().get(&token.digest).is_some_and(|by| Arc::ptr_eq(by, &keys)))
    }

    /// With how many keys the signature would be compared; at least one.
    pub(super) async fn cost(&self, token: &Unverified<'_>, now: SystemTime) -> Result<u32, Denial> {
        let keys = self.issuer.keys(now).await.ok_or(Denial::Unavailable)?;
        Ok(u32::try_from(keys.candidates(&token.jws).count()).unwrap_or(u32::MAX).max(1))
    }

    /// Checks the signature.
    pub(super) async fn verify(&self, token: &Unverified<'_>, now: SystemTime) -> Result<(), Denial> {
        let keys = self.issuer.keys(now).await.ok_or(Denial::Unavailable)?;
        let by = match keys.judge(&token.jws) {
            Verdict::Signed => Some(keys),
            Verdict::Forged => None,
            Verdict::NoKey => {
                let newer = self.issuer.newer_keys(&keys, now).await;
                newer.filter(|keys| keys.judge(&token.jws) == Verdict::Signed)
            }
        };
        self.remember(token.digest, by.ok_or(Denial::Wrong)?);
        Ok(())
    }

    fn remember(&self, digest: [u8; 32], by: Arc<KeySet>) {
        let mut verified = self.verified();
        if verified.len() >= MOST_VERIFIED {
            verified.clear();
        }
        verified.insert(digest, by);
    }

    fn verified(&self) -> MutexGuard<'_, HashMap<[u8; 32], Arc<KeySet>>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
