//! Tokens of an `OpenID` Connect issuer: signed JSON, checked against the keys that the issuer publishes.
//!
//! Signatures are verified by the crate `ring`, which the TLS connections use too. The rest (three parts in base64url,
//! a header, some claims) is small and has its own rules. The key decides which algorithm is allowed, never the token
//! alone. A claim of a wrong type makes the token invalid. The time is an argument.

mod algorithm;
mod claims;
#[cfg(test)]
mod fuzz;
mod issuer;
mod jws;
mod key;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use domain::Owner;
use ring::digest::{SHA256, digest};
use work::{lock, make_space};

use super::config::IssuerConfig;
use super::{AuthError, Caller};

use self::claims::Claims;
use self::issuer::Issuer;
use self::jws::Jws;
use self::key::{KeySet, SignatureCheck};

/// Maximum number of tokens whose verified signatures are cached.
const MAX_VERIFIED_TOKENS: usize = 1_000;

/// Verifies the tokens of one issuer.
pub(super) struct TokenVerifier {
    config: IssuerConfig,
    issuer: Issuer,
    /// Tokens with a verified signature, by their SHA-256, with the key set that verified them.
    verified_by: Mutex<HashMap<[u8; 32], Arc<KeySet>>>,
}

/// A token whose claims are valid and whose signature is not verified yet.
pub(super) struct UnverifiedToken<'a> {
    jws: Jws<'a>,
    /// The caller that it names, which only a verification returns.
    caller: Caller,
    digest: [u8; 32],
}

impl TokenVerifier {
    pub(super) fn new(config: IssuerConfig, http: platform::transport::Client) -> Self {
        Self { issuer: Issuer::new(&config, http), config, verified_by: Mutex::default() }
    }

    /// Parses a token and checks its claims.
    ///
    /// Claims come first: a token with invalid claims causes no key request and no signature check.
    pub(super) fn parse<'a>(&self, text: &'a str, now: SystemTime) -> Result<UnverifiedToken<'a>, AuthError> {
        let jws = Jws::parse(text).ok_or(AuthError::Malformed)?;
        let claims = Claims::parse(&jws.payload).filter(|claims| claims.are_valid(&self.config, now));
        let claims = claims.ok_or(AuthError::Malformed)?;
        let owner = Owner::subject(&self.config.issuer, &claims.sub);
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        Ok(UnverifiedToken { jws, caller: Caller::new(owner, claims.is_administrator()), digest: sha256 })
    }

    /// The caller of a token that the issuer's current keys have verified already; checks no signature.
    pub(super) async fn cached(
        &self,
        token: &UnverifiedToken<'_>,
        now: SystemTime,
    ) -> Result<Option<Caller>, AuthError> {
        let keys = self.issuer.keys(now).await.ok_or(AuthError::Unavailable)?;
        let verified_by = lock(&self.verified_by).get(&token.digest).cloned();
        Ok(verified_by.filter(|verified_by| Arc::ptr_eq(verified_by, &keys)).map(|_| token.caller.clone()))
    }

    /// The number of keys the signature would be checked against; at least one.
    pub(super) async fn candidate_count(&self, token: &UnverifiedToken<'_>, now: SystemTime) -> Result<u32, AuthError> {
        let keys = self.issuer.keys(now).await.ok_or(AuthError::Unavailable)?;
        Ok(u32::try_from(keys.candidates(&token.jws).count()).unwrap_or(u32::MAX).max(1))
    }

    /// Checks the signature; returns the caller.
    pub(super) async fn verify(&self, token: &UnverifiedToken<'_>, now: SystemTime) -> Result<Caller, AuthError> {
        let keys = self.issuer.keys(now).await.ok_or(AuthError::Unavailable)?;
        let key_set = match keys.verify(&token.jws) {
            SignatureCheck::Valid => Some(keys),
            SignatureCheck::InvalidSignature => None,
            SignatureCheck::UnknownKey => {
                let newer = self.issuer.newer_keys(&keys, now).await;
                newer.filter(|keys| keys.verify(&token.jws) == SignatureCheck::Valid)
            }
        };
        let key_set = key_set.ok_or(AuthError::Rejected)?;
        let mut cache = lock(&self.verified_by);
        make_space(&mut cache, MAX_VERIFIED_TOKENS, |_| false);
        cache.insert(token.digest, key_set);
        Ok(token.caller.clone())
    }
}

#[cfg(test)]
mod tests;
