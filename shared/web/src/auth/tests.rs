//! Tests of the authentication layer with a real database, route by route.

use std::net::IpAddr;

use axum::body::Body;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::{Json, Router};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use settings::Settings;
use store::{ApiKey, NewKey, Owner, Store, TableNames};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::ServiceExt;

use super::*;

/// A store over its own database; the handle can stop the database.
async fn store() -> (Store, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let database = dynoxide::Database::memory().unwrap();
    let serving = tokio::spawn(dynoxide::server::serve_on(listener, database));
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)]);
    let (aws, names) = (store::sdk_config(&settings).unwrap(), TableNames::from_settings(&settings).unwrap());
    store::create_tables(&aws, &names).await.unwrap();
    (Store::new(&aws, names), serving)
}

async fn key(store: &Store, owner: &str, administrator: bool) -> String {
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: owner.to_owned(), administrator, expires: None };
    store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
    key.text().expose_secret().to_owned()
}

fn auth(store: &Store, settings: &[(&str, &str)], place: Place) -> Auth {
    let config = AuthConfig::from_settings(&Settings::from_pairs(settings.iter().copied()), place).unwrap();
    Auth::new(&config, store.keys.clone(), transport::client().unwrap())
}

impl KeyRing {
    async fn holder(&self, text: &str, now: SystemTime) -> Result<Caller, Denial> {
        let key = ApiKey::parse(text).ok_or(Denial::Worthless)?;
        match self.recognised(&key, now) {
            Some(caller) => Ok(caller),
            None => self.look_up(&key, now).await,
        }
    }
}

async fn who(caller: Caller) -> Json<Value> {
    Json(json!({"owner": caller.owner.as_str(), "administrator": caller.administrator}))
}

async fn named(credentials: Credentials, user_id: String) -> Result<Json<Value>, ApiError> {
    Ok(who(credentials.identify(Some(&user_id))?).await)
}

async fn administer(Administrator(caller): Administrator) -> Json<Value> {
    who(caller).await
}

fn app(auth: Auth) -> Router {
    let routes = Router::new()
        .route("/who", get(who))
        .route("/named", post(named))
        .route("/admin", get(administer))
        .route_layer(from_fn_with_state(auth, authenticate))
        .route("/page", get(|| async { "page" }));
    crate::edge(routes, crate::Origins::default(), crate::Reach::Anyone)
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn code(&self) -> (u16, &str) {
        (self.status.as_u16(), self.body["error"]["code"].as_str().unwrap_or_default())
    }

    /// Everything that is comparable between two responses.
    fn without_id(mut self) -> (StatusCode, HeaderMap, Value) {
        self.headers.remove("x-request-id");
        self.body["error"]["requestId"] = Value::Null;
        (self.status, self.headers, self.body)
    }
}

async fn ask(app: &Router, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    ask_from(app, "203.0.113.9", method, path, headers).await
}

async fn ask_from(app: &Router, source: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request = headers
        .iter()
        .fold(Request::builder().method(method).uri(path), |request, (name, value)| request.header(*name, *value));
    let source: IpAddr = source.parse().unwrap();
    let request = request.extension(SourceIp(source)).body(Body::from("bob")).unwrap();
    let (head, body) = app.clone().oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Answer { status: head.status, headers: head.headers, body }
}

const API_KEY: [(&str, &str); 1] = [("AUTH", "api_key")];

#[tokio::test]
async fn api_key_alone_identifies_the_caller() {
    let (store, _serving) = store().await;
    let (ada, bob) = (key(&store, "ada", false).await, key(&store, "bob", true).await);
    let app = app(auth(&store, &API_KEY, Place::Lambda));
    let bearer = format!("Bearer {ada}");
    let expected = json!({"owner": Owner::key_holder("ada").as_str(), "administrator": false});
    for headers in
        [[("authorization", bearer.as_str()), ("x-user-id", "bob")], [("x-api-key", &ada), ("x-user-id", "bob")]]
    {
        assert_eq!(ask(&app, "GET", "/who", &headers).await.body, expected);
        assert_eq!(ask(&app, "POST", "/named", &headers).await.body, expected);
    }
    let both = [("authorization", bearer.as_str()), ("x-api-key", &bob)];
    assert_eq!(ask(&app, "GET", "/who", &both).await.body["owner"], Owner::key_holder("bob").as_str());
}

#[tokio::test]
async fn f120_admin_route_requires_administrator_key() {
    let (store, _serving) = store().await;
    let (ada, bob) = (key(&store, "ada", false).await, key(&store, "bob", true).await);
    let app = app(auth(&store, &API_KEY, Place::Lambda));
    assert_eq!(ask(&app, "GET", "/admin", &[("x-api-key", &ada)]).await.code(), (403, "forbidden"));
    assert_eq!(ask(&app, "GET", "/admin", &[("x-api-key", &bob)]).await.status, StatusCode::OK);
    assert_eq!(ask(&app, "GET", "/admin", &[]).await.code(), (401, "unauthorized"));
}

#[tokio::test]
async fn f114_f118_f143_every_bad_key_gets_the_same_response() {
    let (store, _serving) = store().await;
    let (good, revoked) = (key(&store, "ada", true).await, key(&store, "ada", true).await);
    store.keys.revoke(ApiKey::parse(&revoked).unwrap().id(), SystemTime::now()).await.unwrap();
    let expired = ApiKey::generate().unwrap();
    let new = NewKey { owner: "ada".to_owned(), administrator: true, expires: Some(SystemTime::UNIX_EPOCH) };
    store.keys.create(&expired, &new, SystemTime::now()).await.unwrap();
    let app = app(auth(&store, &API_KEY, Place::Lambda));
    let stranger = ApiKey::generate().unwrap().text().expose_secret().to_owned();
    let crossed = format!("{}{}", &good[..30], &stranger[30..]);
    let (expired, doubled) = (expired.text().expose_secret().to_owned(), format!("{good} {good}"));
    let bad = ["", "x", "null", "lc_", &good[..good.len() - 1], &good.to_uppercase(), &doubled];
    let bad = bad.into_iter().chain([&*stranger, &*crossed, &*revoked, &*expired]);
    let missing = ask(&app, "GET", "/who", &[]).await;
    assert_eq!(missing.code(), (401, "unauthorized"));
    assert_eq!(missing.headers["www-authenticate"], "Bearer");
    let expected = missing.without_id();
    for key in bad {
        assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", key)]).await.without_id(), expected, "{key}");
        let bearer = format!("Bearer {key}");
        assert_eq!(ask(&app, "GET", "/who", &[("authorization", &bearer)]).await.without_id(), expected, "{key}");
    }
    assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", &good)]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn f142_malformed_key_causes_no_lookup() {
    let (store, serving) = store().await;
    let unknown = ApiKey::generate().unwrap().text().expose_secret().to_owned();
    let app = app(auth(&store, &API_KEY, Place::Lambda));
    serving.abort();
    assert!(serving.await.unwrap_err().is_cancelled());
    assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", "lc_x")]).await.code(), (401, "unauthorized"));
    assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", &unknown)]).await.code(), (503, "storage_busy"));
}

#[tokio::test]
async fn f118_revoked_key_is_refused_within_30_seconds() {
    let (store, _serving) = store().await;
    let text = key(&store, "ada", false).await;
    let ring = KeyRing::new(store.keys.clone());
    let begun = SystemTime::now();
    let after = |seconds| begun + Duration::from_secs(seconds);
    let ada = Caller::new(Owner::key_holder("ada"), false);
    assert_eq!(ring.holder(&text, after(0)).await, Ok(ada.clone()));
    store.keys.revoke(ApiKey::parse(&text).unwrap().id(), begun).await.unwrap();
    for seconds in [10, 20, 29] {
        assert_eq!(ring.holder(&text, after(seconds)).await, Ok(ada.clone()), "still believed, and for no longer");
    }
    assert_eq!(ring.holder(&text, after(30)).await, Err(Denial::Wrong));
}

#[tokio::test]
async fn cached_key_is_refused_once_expired() {
    let (store, _serving) = store().await;
    let (key, now) = (ApiKey::generate().unwrap(), SystemTime::now());
    let expires = Some(now + Duration::from_secs(5));
    let new = NewKey { owner: "ada".to_owned(), administrator: false, expires };
    store.keys.create(&key, &new, now).await.unwrap();
    let (ring, text) = (KeyRing::new(store.keys.clone()), key.text());
    assert!(ring.holder(text.expose_secret(), now).await.is_ok());
    assert_eq!(ring.holder(text.expose_secret(), now + Duration::from_secs(5)).await, Err(Denial::Wrong));
}

#[tokio::test]
async fn f118_cached_key_requires_matching_secret() {
    let (store, _serving) = store().await;
    let good = key(&store, "ada", false).await;
    let ring = KeyRing::new(store.keys.clone());
    let now = SystemTime::now();
    assert!(ring.holder(&good, now).await.is_ok());
    let end = if good.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{end}", &good[..good.len() - 1]);
    assert_eq!(ring.holder(&wrong, now).await, Err(Denial::Wrong));
}

const GUESSER: &str = "203.0.113.9";

/// The same with a refill interval of hours, longer than any test.
fn slow(auth: Auth) -> Auth {
    let mut shared = Arc::into_inner(auth.0).unwrap();
    shared.attempts = Attempts::new(600, Duration::from_hours(1));
    Auth(Arc::new(shared))
}

/// Uses up the attempts of an address.
fn guessed(auth: &Auth) {
    auth.0.attempts.take(GUESSER.parse().unwrap(), 600, SystemTime::now()).unwrap();
}

/// Whether an attempt of the address was counted: then the full burst is no longer available.
fn counted(auth: &Auth) -> bool {
    let taken = auth.0.attempts.take(GUESSER.parse().unwrap(), 600, SystemTime::now());
    if taken.is_ok() {
        auth.0.attempts.give_back(GUESSER.parse().unwrap(), 600);
    }
    taken.is_err()
}

fn unknown_key() -> String {
    ApiKey::generate().unwrap().text().expose_secret().to_owned()
}

#[tokio::test]
async fn f142_guessing_address_is_limited_despite_forwarded_header() {
    let (store, _serving) = store().await;
    let good = key(&store, "ada", false).await;
    let auth = slow(auth(&store, &API_KEY, Place::Lambda));
    guessed(&auth);
    let app = app(auth);
    let end = if good.ends_with('0') { '1' } else { '0' };
    let wrong_secret = format!("{}{end}", &good[..good.len() - 1]);
    for wrong in [unknown_key(), wrong_secret] {
        let headers = [("x-api-key", wrong.as_str()), ("x-forwarded-for", "198.51.100.1")];
        let stopped = ask(&app, "GET", "/who", &headers).await;
        assert_eq!(stopped.code(), (429, "rate_limited"));
        assert!(stopped.headers["retry-after"].to_str().unwrap().parse::<u64>().unwrap() >= 1);
        assert_eq!(ask_from(&app, "203.0.113.10", "GET", "/who", &headers).await.code(), (401, "unauthorized"));
    }
    assert_eq!(ask(&app, "GET", "/page", &[]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn f142_guesses_lock_out_no_valid_key() {
    let (store, _serving) = store().await;
    let (seen, fresh) = (key(&store, "ada", false).await, key(&store, "bob", false).await);
    let auth = slow(auth(&store, &API_KEY, Place::Lambda));
    let app = app(auth.clone());
    assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", &seen)]).await.status, StatusCode::OK);
    guessed(&auth);
    assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", &unknown_key())]).await.code(), (429, "rate_limited"));
    for good in [seen, fresh] {
        assert_eq!(ask(&app, "GET", "/who", &[("x-api-key", &good)]).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn f142_flood_of_guesses_lists_keys_once() {
    let (store, serving) = store().await;
    let (first, second) = (key(&store, "ada", false).await, key(&store, "bob", false).await);
    let ring = KeyRing::new(store.keys.clone());
    let (now, parsed) = (SystemTime::now(), |text: &str| ApiKey::parse(text).unwrap());
    assert!(ring.listed(&parsed(&first), now).await.is_some());
    serving.abort();
    assert!(serving.await.unwrap_err().is_cancelled());
    for _ in 0..100 {
        assert_eq!(ring.listed(&parsed(&unknown_key()), now).await, None);
    }
    assert!(ring.listed(&parsed(&second), now).await.is_some(), "no further request went to the database");
}

#[tokio::test]
async fn f118_revoked_listed_key_is_refused_within_30_seconds() {
    let (store, _serving) = store().await;
    let text = key(&store, "ada", false).await;
    let (ring, good) = (KeyRing::new(store.keys.clone()), ApiKey::parse(&text).unwrap());
    let begun = SystemTime::now();
    assert!(ring.listed(&good, begun).await.is_some());
    store.keys.revoke(good.id(), begun).await.unwrap();
    let later = begun + Duration::from_secs(30);
    assert_eq!((ring.recognised(&good, later), ring.listed(&good, later).await), (None, None));
}

#[tokio::test]
async fn f142_rejected_keys_count_but_malformed_do_not() {
    let (store, _serving) = store().await;
    let good = key(&store, "ada", false).await;
    let auth = slow(auth(&store, &API_KEY, Place::Lambda));
    let app = app(auth.clone());
    for headers in [&[][..], &[("x-api-key", "worthless")], &[("x-api-key", good.as_str())]] {
        ask(&app, "GET", "/who", headers).await;
        assert!(!counted(&auth), "{headers:?}");
    }
    ask(&app, "GET", "/who", &[("x-api-key", &unknown_key())]).await;
    assert!(counted(&auth));
}

#[tokio::test]
async fn f147_unconfigured_function_rejects_every_call() {
    let (store, _serving) = store().await;
    let good = key(&store, "ada", true).await;
    for settings in [&[][..], &[("AUTH", "none")]] {
        let app = app(auth(&store, settings, Place::Lambda));
        for (method, path) in
            [("GET", "/who"), ("POST", "/named"), ("GET", "/admin"), ("DELETE", "/who"), ("OPTIONS", "/who")]
        {
            let answer = ask(&app, method, path, &[("x-api-key", &good), ("x-user-id", "ada")]).await;
            assert_eq!(answer.code(), (503, "auth_not_configured"), "{method} {path}");
        }
        assert_eq!(ask(&app, "GET", "/page", &[]).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn f144_cookies_are_no_credentials_options_needs_none() {
    let (store, _serving) = store().await;
    let good = key(&store, "ada", true).await;
    let app = app(auth(&store, &API_KEY, Place::Lambda));
    let cookie = format!("key={good}; x-api-key={good}; authorization=Bearer {good}");
    assert_eq!(ask(&app, "GET", "/who", &[("cookie", &cookie)]).await.code(), (401, "unauthorized"));
    let in_the_url = format!("/who?key={good}&access_token={good}&x-api-key={good}");
    assert_eq!(ask(&app, "GET", &in_the_url, &[]).await.code(), (401, "unauthorized"));
    let options = ask(&app, "OPTIONS", "/who", &[]).await;
    assert_eq!((options.status, &options.headers["allow"]), (StatusCode::NO_CONTENT, &"GET,HEAD".parse().unwrap()));
}

#[tokio::test]
async fn without_authentication_callers_name_themselves() {
    let (store, _serving) = store().await;
    let app = app(auth(&store, &[], Place::Local));
    let owner =
        async |method, path, headers: &[(&str, &str)]| ask(&app, method, path, headers).await.body["owner"].clone();
    assert_eq!(owner("GET", "/who", &[]).await, Owner::unverified("local").as_str());
    assert_eq!(owner("POST", "/named", &[]).await, Owner::unverified("bob").as_str());
    assert_eq!(owner("POST", "/named", &[("x-user-id", "ada")]).await, Owner::unverified("ada").as_str());
    assert_eq!(ask(&app, "GET", "/admin", &[]).await.status, StatusCode::OK);
}
