//! Tokens of an `OpenID` Connect issuer: signed JSON, checked against the keys that the issuer publishes.
//!
//! Signatures are verified by the crate `ring`, which the TLS connections use too. The rest (three parts in base64url,
//! a header, some claims) is small and has its own rules. The key decides which algorithm is allowed, never the token
//! alone. A claim of a wrong type makes the token invalid. The time is an argument.

mod claims;
#[cfg(test)]
mod fuzz;
mod issuer;
mod key;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde::de::IgnoredAny;
use work::{lock, make_space};

use self::claims::Claims;
use self::issuer::Issuer;
use self::key::{Algorithm, KeySet, SignatureCheck};
use super::config::IssuerConfig;
use super::{AuthError, Caller};

const MAX_VERIFIED_TOKENS: usize = 1_000;

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
    /// Whether it names groups that are ignored.
    has_ignored_groups: bool,
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
        let mut sha256 = [0; 32];
        sha256.copy_from_slice(digest(&SHA256, text.as_bytes()).as_ref());
        let (caller, has_ignored_groups) = claims.caller(&self.config);
        Ok(UnverifiedToken { jws, caller, has_ignored_groups, digest: sha256 })
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
        if token.has_ignored_groups {
            tracing::warn!("a token names groups that are ignored: invalid names, or too many");
        }
        let mut cache = lock(&self.verified_by);
        make_space(&mut cache, MAX_VERIFIED_TOKENS, |_| false);
        cache.insert(token.digest, key_set);
        Ok(token.caller.clone())
    }
}

#[cfg(test)]
mod tests;

/// A parsed token (RFC 7515, compact form); nothing in it is verified yet.
#[derive(Debug)]
struct Jws<'a> {
    algorithm: &'static Algorithm,
    key_id: Option<String>,
    message: &'a [u8],
    payload: Vec<u8>,
    signature: Vec<u8>,
}

#[derive(Deserialize)]
struct JoseHeader {
    alg: String,
    kid: Option<String>,
    /// Extensions that a verifier must understand; none is supported.
    crit: Option<IgnoredAny>,
}

impl<'a> Jws<'a> {
    /// Parses a token; `None` if it is malformed or its algorithm is not accepted.
    fn parse(text: &'a str) -> Option<Self> {
        let (message, signature) = text.rsplit_once('.')?;
        let (header, payload) = message.split_once('.')?;
        let header: JoseHeader = serde_json::from_slice(&decode_base64url(header)?).ok()?;
        if header.crit.is_some() {
            return None;
        }
        Some(Self {
            algorithm: Algorithm::parse(&header.alg)?,
            key_id: header.kid,
            message: message.as_bytes(),
            payload: decode_base64url(payload)?,
            signature: decode_base64url(signature)?,
        })
    }
}

/// Decodes base64url without padding, in its canonical form only.
fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod jws_tests {
    use super::*;

    fn token(header: &str) -> String {
        format!("{}.e30.AA", URL_SAFE_NO_PAD.encode(header))
    }

    #[test]
    fn f114_only_asymmetric_algorithms_are_accepted() {
        for name in ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA"] {
            assert!(Jws::parse(&token(&format!(r#"{{"alg":"{name}"}}"#))).is_some(), "{name}");
        }
        for name in
            ["none", "None", "NONE", "", "HS256", "HS384", "HS512", "ES256K", "ES512", "rs256", "RSA-OAEP", "dir"]
        {
            assert!(Jws::parse(&token(&format!(r#"{{"alg":"{name}"}}"#))).is_none(), "{name}");
        }
    }

    #[test]
    fn f114_malformed_token_is_rejected() {
        let good = token(r#"{"alg":"ES256"}"#);
        assert!(Jws::parse(&good).is_some());
        let (header, rest) = good.split_once('.').unwrap();
        let bad = [
            String::new(),
            ".".to_owned(),
            "..".to_owned(),
            header.to_owned(),
            format!("{header}.e30"),
            format!("{good}.AA"),
            format!("{good}="),
            format!("{header}=.{rest}"),
            format!("{header}.e31.AA"),
            format!("{header}.e30.A"),
            format!("{header}.e30.AB"),
            format!("{header}.e30.+/"),
            token("{}"),
            token("[]"),
            token(r#"{"alg":null}"#),
            token(r#"{"alg":["ES256"]}"#),
            token(r#"{"alg":"ES256","alg":"ES256"}"#),
            token(r#"{"alg":"ES256","kid":7}"#),
            token(r#"{"alg":"ES256","crit":["b64"],"b64":false}"#),
            token(r#"{"alg":"ES256"} "#) + " ",
        ];
        for text in bad {
            assert!(Jws::parse(&text).is_none(), "{text}");
        }
    }
}
