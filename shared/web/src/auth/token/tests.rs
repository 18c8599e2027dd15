//! Tests of tokens against an issuer on loopback, signed by keys that the tests generate.

mod fake_issuer;
mod issuers;
mod key_fetching;
mod signer;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::Owner;
use platform::settings::Settings;
use serde_json::{Value, json};

use self::fake_issuer::FakeIssuer;
use self::signer::{Signer, encode_part};
use super::super::config::ClaimNames;
use super::super::{AttemptLimiter, Auth, AuthMethod, AuthState, new_attempt_limiter};
use super::*;

const NOW: u64 = 1_800_000_000;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(NOW + seconds)
}

/// The configuration for an issuer of tokens for the audience `chat`, with these further settings.
pub(super) fn issuer_config(issuer: &str, settings: &[(&str, &str)]) -> IssuerConfig {
    let claims = ClaimNames::from_settings(&Settings::from_pairs(settings.iter().copied())).unwrap();
    IssuerConfig { issuer: issuer.to_owned(), audience: "chat".to_owned(), jwks_url: None, claims, sign_in: None }
}

fn token_verifier(fake: &FakeIssuer) -> TokenVerifier {
    TokenVerifier::new(issuer_config(&fake.url, &[]), platform::transport::build_client().unwrap())
}

impl TokenVerifier {
    async fn identify(&self, text: &str, now: SystemTime) -> Result<Caller, AuthError> {
        let token = self.parse(text, now)?;
        let is_cached = self.cached(&token, now).await?.is_some();
        self.verify(&token, now).await.inspect_err(|_| assert!(!is_cached, "{text}"))
    }
}

fn claims(fake: &FakeIssuer) -> Value {
    json!({"iss": fake.url, "sub": "ada", "aud": "chat", "exp": NOW + 1_000_000})
}

fn ada(fake: &FakeIssuer) -> Caller {
    Caller::new(Owner::subject(&fake.url, "ada"), false)
}

#[tokio::test]
async fn token_of_every_accepted_algorithm_verifies() {
    let fake = FakeIssuer::start().await;
    let signers = [
        (Signer::p256(), vec!["ES256"]),
        (Signer::p384(), vec!["ES384"]),
        (Signer::ed25519(), vec!["EdDSA"]),
        (Signer::rsa(), vec!["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]),
    ];
    let keys: Vec<Value> = signers.iter().enumerate().map(|(id, (signer, _))| signer.jwk(&id.to_string())).collect();
    fake.publish(&keys);
    let verifier = token_verifier(&fake);
    for (id, (signer, algorithms)) in signers.iter().enumerate() {
        for algorithm in algorithms {
            let header = json!({"alg": algorithm, "kid": id.to_string(), "typ": "JWT"});
            let token = signer.token(&header, &claims(&fake));
            assert_eq!(verifier.identify(&token, at(0)).await, Ok(ada(&fake)), "{algorithm}");
        }
    }
    assert_eq!(fake.requests(), ["/.well-known/openid-configuration", "/keys"], "once for all");
}

#[tokio::test]
async fn f114_forged_token_is_refused() {
    let (fake, signer, forger) = (FakeIssuer::start().await, Signer::p256(), Signer::p256());
    let rsa = Signer::rsa();
    fake.publish(&[signer.jwk("a"), rsa.jwk("r")]);
    let verifier = token_verifier(&fake);
    let (es256, claims) = (json!({"alg": "ES256", "kid": "a"}), claims(&fake));
    let good = signer.token(&es256, &claims);
    assert_eq!(verifier.identify(&good, at(0)).await, Ok(ada(&fake)));
    let signature = good.rsplit_once('.').unwrap().1;
    let mut bob = claims.clone();
    bob["sub"] = "bob".into();
    let head = |header: &Value, claims: &Value| format!("{}.{}", encode_part(header), encode_part(claims));
    let hs256 = json!({"alg": "HS256", "kid": "r"});
    let bad = [
        forger.token(&es256, &claims),
        format!("{}.{signature}", head(&es256, &bob)),
        format!("{}.", head(&es256, &claims)),
        format!("{}.AAAA", head(&es256, &claims)),
        format!("{}.", head(&json!({"alg": "none"}), &claims)),
        format!("{}.{signature}", head(&json!({"alg": "none", "kid": "a"}), &claims)),
        signer::hmac(&head(&hs256, &claims), &rsa.public()),
        signer::hmac(&head(&hs256, &claims), rsa.jwk("r").to_string().as_bytes()),
        signer.token(&json!({"alg": "ES256", "kid": "r"}), &claims),
        signer.token(&json!({"alg": "RS256", "kid": "a"}), &claims),
        rsa.token(&json!({"alg": "PS256", "kid": "a"}), &claims),
        forger.token(&json!({"alg": "ES256", "kid": "a", "jwk": forger.jwk("a")}), &claims),
        forger.token(&json!({"alg": "ES256", "kid": "a", "jku": format!("{}/evil", fake.url)}), &claims),
        forger.token(&json!({"alg": "ES256"}), &claims),
        forger.token(&json!({"alg": "ES256", "kid": "../../evil"}), &claims),
    ];
    for token in bad {
        let denial = verifier.identify(&token, at(0)).await.unwrap_err();
        assert!(matches!(denial, AuthError::Malformed | AuthError::Rejected), "{token}: {denial:?}");
    }
    assert!(fake.requests().iter().all(|path| !path.contains("evil")));
}

#[tokio::test]
async fn f114_invalid_claims_cause_no_issuer_request() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    let verifier = token_verifier(&fake);
    for (name, value) in [("iss", json!("https://evil.example")), ("aud", json!("other")), ("exp", json!(NOW - 60))] {
        let mut claims = claims(&fake);
        claims[name] = value;
        let token = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims);
        assert_eq!(verifier.identify(&token, at(0)).await, Err(AuthError::Malformed), "{name}");
    }
    assert!(fake.requests().is_empty());
}

#[tokio::test]
async fn f117_rotation_accepts_old_and_new_key() {
    let (fake, old, new) = (FakeIssuer::start().await, Signer::p256(), Signer::rsa());
    fake.publish(&[old.jwk("old")]);
    let verifier = token_verifier(&fake);
    let of_old = old.token(&json!({"alg": "ES256", "kid": "old"}), &claims(&fake));
    let of_new = new.token(&json!({"alg": "RS256", "kid": "new"}), &claims(&fake));
    assert_eq!(verifier.identify(&of_old, at(0)).await, Ok(ada(&fake)));
    fake.publish(&[old.jwk("old"), new.jwk("new")]);
    assert_eq!(verifier.identify(&of_new, at(1)).await, Ok(ada(&fake)), "an unknown key is asked for");
    assert_eq!(verifier.identify(&of_old, at(2)).await, Ok(ada(&fake)));
    fake.publish(&[new.jwk("new")]);
    assert_eq!(
        verifier.identify(&of_old, at(3602)).await,
        Err(AuthError::Rejected),
        "keys are asked for again after an hour"
    );
    assert_eq!(verifier.identify(&of_new, at(3602)).await, Ok(ada(&fake)));
}

#[tokio::test]
async fn f117_tokens_without_key_id_survive_rotation() {
    let (fake, old, new) = (FakeIssuer::start().await, Signer::ed25519(), Signer::ed25519());
    fake.publish(&[old.jwk("1")]);
    let verifier = token_verifier(&fake);
    let header = json!({"alg": "EdDSA"});
    assert_eq!(verifier.identify(&old.token(&header, &claims(&fake)), at(0)).await, Ok(ada(&fake)));
    fake.publish(&[new.jwk("2")]);
    assert_eq!(verifier.identify(&new.token(&header, &claims(&fake)), at(1)).await, Ok(ada(&fake)));
}

#[tokio::test]
async fn f142_forged_tokens_lock_out_no_valid_token() {
    let (fake, signer, stranger) = (FakeIssuer::start().await, Signer::p256(), Signer::p256());
    fake.publish(&[signer.jwk("a")]);
    let (verifier, source) = (token_verifier(&fake), IpAddr::from([203, 0, 113, 9]));
    let token_of = |signer: &Signer, subject: &str| {
        let mut claims = claims(&fake);
        claims["sub"] = subject.into();
        signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims)
    };
    let signature_limiter = AttemptLimiter::new(3, Duration::from_hours(1));
    let auth = Auth(Arc::new(AuthState {
        read_limiter: new_attempt_limiter(),
        method: AuthMethod::Open,
        attempt_limiter: new_attempt_limiter(),
        signature_limiter,
    }));
    let outcome_of = async |text: &str| match auth.identify_token(&verifier, text, source, at(0)).await {
        Ok(_) => "passes",
        Err(AuthError::RateLimited(_)) => "waits",
        Err(_) => "refused",
    };
    let (seen, forged) = (token_of(&signer, "ada"), token_of(&stranger, "ada"));
    assert_eq!(outcome_of(&seen).await, "passes");
    let mut answers = std::collections::BTreeSet::new();
    for _ in 0..603 {
        answers.insert(outcome_of(&forged).await);
    }
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), ["refused", "waits"]);
    // The third forged token used up the signature checks of the limited address.
    assert_eq!((outcome_of(&seen).await, outcome_of(&token_of(&signer, "bob")).await), ("passes", "waits"));
    let later = at(3600 * 3);
    assert!(auth.0.attempt_limiter.take(source, 600, later).is_ok());
    assert!(auth.identify_token(&verifier, &token_of(&signer, "bob"), source, later).await.is_ok());
    assert!(matches!(auth.identify_token(&verifier, &forged, source, later).await, Err(AuthError::RateLimited(_))));
}
