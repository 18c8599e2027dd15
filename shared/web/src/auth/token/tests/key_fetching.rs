//! When the keys of an issuer are fetched.

use super::*;

#[tokio::test]
async fn f116_unknown_keys_cause_one_fetch_per_interval() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    fake.publish(&[signer.jwk("a")]);
    let verifier = token_verifier(&fake);
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    assert!(verifier.identify(&good, at(0)).await.is_ok());
    let flood = async |from: u64| {
        for number in 0..100 {
            let header = json!({"alg": "ES256", "kid": format!("{from}-{number}")});
            let token = Signer::p256().token(&header, &claims(&fake));
            assert_eq!(verifier.identify(&token, at(from + number)).await, Err(AuthError::Rejected));
        }
        fake.requests().iter().filter(|path| *path == "/keys").count()
    };
    assert_eq!((flood(0).await, flood(199).await, flood(300).await, flood(400).await), (2, 2, 3, 3));
    assert!(verifier.identify(&good, at(500)).await.is_ok());
}

#[tokio::test]
async fn f115_cached_keys_serve_one_day_of_outage() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    fake.publish(&[signer.jwk("a")]);
    let verifier = token_verifier(&fake);
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    assert!(verifier.identify(&good, at(0)).await.is_ok());
    fake.fail();
    let day = 24 * 3600;
    for seconds in [3600, 3601, day / 2, day - 1] {
        assert_eq!(verifier.identify(&good, at(seconds)).await, Ok(ada(&fake)), "after {seconds} s");
    }
    assert_eq!(verifier.identify(&good, at(day)).await, Err(AuthError::Unavailable));
    fake.publish(&[signer.jwk("a")]);
    assert_eq!(verifier.identify(&good, at(day)).await, Ok(ada(&fake)), "it is asked again the next time");
}

#[tokio::test]
async fn f115_issuer_outage_causes_no_fetch_per_request() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    fake.publish(&[signer.jwk("a")]);
    let verifier = token_verifier(&fake);
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    assert!(verifier.identify(&good, at(0)).await.is_ok());
    fake.fail();
    let before = fake.requests().len();
    for seconds in [3600, 3700, 3899] {
        assert!(verifier.identify(&good, at(seconds)).await.is_ok());
    }
    assert_eq!(fake.requests().len(), before + 1);
}

#[tokio::test]
async fn f095_failed_first_fetch_is_retried() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    let verifier = token_verifier(&fake);
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    fake.fail();
    assert_eq!(verifier.identify(&good, at(0)).await, Err(AuthError::Unavailable));
    fake.publish(&[signer.jwk("a")]);
    assert_eq!(verifier.identify(&good, at(0)).await, Ok(ada(&fake)));
}

#[tokio::test]
async fn concurrent_first_tokens_cause_one_fetch() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    fake.publish(&[signer.jwk("a")]);
    let verifier = token_verifier(&fake);
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    let identify = || verifier.identify(&good, at(0));
    let callers = tokio::join!(identify(), identify(), identify());
    assert!(callers.0.is_ok() && callers.1.is_ok() && callers.2.is_ok());
    assert_eq!(fake.requests().len(), 2);
}

#[tokio::test]
async fn invalid_issuer_documents_are_rejected() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    let keys = json!({"keys": [signer.jwk("a")]}).to_string();
    let discovery = json!({"issuer": fake.url, "jwks_uri": format!("{}/keys", fake.url)});
    let wrong = |name: &str, value: Value| {
        let mut discovery = discovery.clone();
        discovery[name] = value;
        discovery.to_string()
    };
    let cases = [
        (wrong("issuer", json!("https://evil.example")), keys.clone()),
        (wrong("jwks_uri", json!("file:///etc/passwd")), keys.clone()),
        (wrong("jwks_uri", json!("/keys")), keys.clone()),
        (wrong("jwks_uri", json!(null)), keys.clone()),
        ("<html>".to_owned(), keys.clone()),
        (discovery.to_string(), "[]".to_owned()),
        (discovery.to_string(), format!("{keys}{}", " ".repeat(300 * 1024))),
    ];
    for (discovery, keys) in cases {
        fake.serve(&discovery, &keys);
        assert_eq!(token_verifier(&fake).identify(&good, at(0)).await, Err(AuthError::Unavailable), "{discovery}");
    }
    fake.serve(&discovery.to_string(), &keys);
    assert_eq!(token_verifier(&fake).identify(&good, at(0)).await, Ok(ada(&fake)));
}

#[tokio::test]
async fn configured_jwks_url_skips_discovery() {
    let (fake, signer) = (FakeIssuer::start().await, Signer::p256());
    fake.publish(&[signer.jwk("a")]);
    let jwks_url = Some(format!("{}/keys", fake.url));
    let config = IssuerConfig { jwks_url, ..issuer_config(&fake.url, &[]) };
    let verifier = Arc::new(TokenVerifier::new(config, platform::transport::build_client().unwrap()));
    let good = signer.token(&json!({"alg": "ES256", "kid": "a"}), &claims(&fake));
    assert_eq!(verifier.identify(&good, at(0)).await, Ok(ada(&fake)));
    assert_eq!(fake.requests(), ["/keys"]);
}
