//! Tokens of an `OpenID` Connect issuer: signed JSON, checked against the keys that the issuer publishes.
//!
//! Signatures are ring's, which the TLS connections use too. What is around them (three parts in base64url, a header, a
//! few claims) is little, and it has rules of its own here: which algorithm fits is said by the key and never by the
//! token alone, a claim of a wrong type is no claim, and the time is an argument.

mod algorithm;
mod claims;
mod issuer;
mod jws;
mod key;

use std::time::SystemTime;

use store::Owner;

use super::config::IssuerConfig;
use super::{Caller, Denial};

use self::claims::Claims;
use self::issuer::Issuer;
use self::jws::Jws;
use self::key::Verdict;

/// Recognises the tokens of one issuer.
pub(super) struct Tokens {
    config: IssuerConfig,
    issuer: Issuer,
}

impl Tokens {
    pub(super) fn new(config: IssuerConfig, http: transport::Client) -> Self {
        Self { issuer: Issuer::new(&config, http), config }
    }

    /// The caller for whom the issuer vouches.
    ///
    /// Claims come first: a token that would be refused anyhow asks for no key and no signature.
    pub(super) async fn subject(&self, text: &str, now: SystemTime) -> Result<Caller, Denial> {
        let jws = Jws::parse(text).ok_or(Denial::Worthless)?;
        let claims = Claims::parse(&jws.payload).filter(|claims| claims.hold(&self.config, now));
        let claims = claims.ok_or(Denial::Worthless)?;
        if self.is_signed(&jws, now).await? {
            let owner = Owner::subject(&self.config.issuer, &claims.sub);
            Ok(Caller::new(owner, claims.is_administrator()))
        } else {
            Err(Denial::Wrong)
        }
    }

    async fn is_signed(&self, jws: &Jws<'_>, now: SystemTime) -> Result<bool, Denial> {
        let keys = self.issuer.keys(now).await.ok_or(Denial::Unavailable)?;
        match keys.judge(jws) {
            Verdict::Signed => Ok(true),
            Verdict::Forged => Ok(false),
            Verdict::NoKey => {
                let newer = self.issuer.newer_keys(&keys, now).await;
                Ok(newer.is_some_and(|keys| keys.judge(jws) == Verdict::Signed))
            }
        }
    }
}

#[cfg(test)]
mod tests;
