//! Limits of failed attempts by API key.

use super::*;

const ATTACKER_IP: &str = "203.0.113.9";

/// The same with a refill interval of hours, longer than any test.
fn with_slow_refill(auth: Auth) -> Auth {
    let mut state = Arc::into_inner(auth.0).unwrap();
    state.attempt_limiter = AttemptLimiter::new(600, Duration::from_hours(1));
    Auth(Arc::new(state))
}

/// Uses up the attempts of an address.
fn use_up_attempts(auth: &Auth) {
    auth.0.attempt_limiter.take(ATTACKER_IP.parse().unwrap(), 600, SystemTime::now()).unwrap();
}

/// Whether an attempt of the address was counted: then the full burst is no longer available.
fn has_counted_attempt(auth: &Auth) -> bool {
    let taken = auth.0.attempt_limiter.take(ATTACKER_IP.parse().unwrap(), 600, SystemTime::now());
    if taken.is_ok() {
        auth.0.attempt_limiter.give_back(ATTACKER_IP.parse().unwrap(), 600);
    }
    taken.is_err()
}

fn unknown_key() -> String {
    ApiKey::generate().unwrap().text().expose_secret().to_owned()
}

#[tokio::test]
async fn f142_guessing_address_is_limited_despite_forwarded_header() {
    let (store, _server) = start_store().await;
    let good = create_key(&store, "ada", false).await;
    let auth = with_slow_refill(build_auth(&store, &API_KEY, Platform::Lambda));
    use_up_attempts(&auth);
    let app = build_app(auth);
    let end = if good.ends_with('0') { '1' } else { '0' };
    let wrong_secret = format!("{}{end}", &good[..good.len() - 1]);
    for wrong in [unknown_key(), wrong_secret] {
        let headers = [("x-api-key", wrong.as_str()), ("x-forwarded-for", "198.51.100.1")];
        let limited = send(&app, "GET", "/who", &headers).await;
        assert_eq!(limited.code(), (429, "rate_limited"));
        assert!(limited.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
        assert_eq!(send_from(&app, "203.0.113.10", "GET", "/who", &headers).await.code(), (401, "unauthorized"));
    }
    assert_eq!(send(&app, "GET", "/page", &[]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn f142_guesses_lock_out_no_valid_key() {
    let (store, _server) = start_store().await;
    let (seen, fresh) = (create_key(&store, "ada", false).await, create_key(&store, "bob", false).await);
    let auth = with_slow_refill(build_auth(&store, &API_KEY, Platform::Lambda));
    let app = build_app(auth.clone());
    assert_eq!(send(&app, "GET", "/who", &[("x-api-key", &seen)]).await.status, StatusCode::OK);
    use_up_attempts(&auth);
    assert_eq!(send(&app, "GET", "/who", &[("x-api-key", &unknown_key())]).await.code(), (429, "rate_limited"));
    for good in [seen, fresh] {
        assert_eq!(send(&app, "GET", "/who", &[("x-api-key", &good)]).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn f142_flood_of_guesses_lists_keys_once() {
    let (store, server) = start_store().await;
    let (first, second) = (create_key(&store, "ada", false).await, create_key(&store, "bob", false).await);
    let verifier = ApiKeyVerifier::new(store.keys.clone());
    let (now, parsed) = (SystemTime::now(), |text: &str| ApiKey::parse(text).unwrap());
    assert!(verifier.find_in_list(&parsed(&first), now).await.is_some());
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
    for _ in 0..100 {
        assert_eq!(verifier.find_in_list(&parsed(&unknown_key()), now).await, None);
    }
    assert!(verifier.find_in_list(&parsed(&second), now).await.is_some(), "no further request went to the database");
}

#[tokio::test]
async fn f118_revoked_listed_key_is_refused_within_30_seconds() {
    let (store, _server) = start_store().await;
    let text = create_key(&store, "ada", false).await;
    let (verifier, good) = (ApiKeyVerifier::new(store.keys.clone()), ApiKey::parse(&text).unwrap());
    let start = SystemTime::now();
    assert!(verifier.find_in_list(&good, start).await.is_some());
    store.keys.revoke(good.id(), start).await.unwrap();
    let later = start + Duration::from_secs(30);
    assert_eq!((verifier.cached(&good, later), verifier.find_in_list(&good, later).await), (None, None));
}

#[tokio::test]
async fn f142_rejected_keys_count_but_malformed_do_not() {
    let (store, _server) = start_store().await;
    let good = create_key(&store, "ada", false).await;
    let auth = with_slow_refill(build_auth(&store, &API_KEY, Platform::Lambda));
    let app = build_app(auth.clone());
    for headers in [&[][..], &[("x-api-key", "worthless")], &[("x-api-key", good.as_str())]] {
        send(&app, "GET", "/who", headers).await;
        assert!(!has_counted_attempt(&auth), "{headers:?}");
    }
    send(&app, "GET", "/who", &[("x-api-key", &unknown_key())]).await;
    assert!(has_counted_attempt(&auth));
}
