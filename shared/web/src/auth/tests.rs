//! Tests of the authentication layer with a real database, route by route.

mod attempts;

use std::net::IpAddr;

use axum::body::Body;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::{Json, Router};
use domain::Owner;
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use platform::settings::Settings;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use store::{ApiKey, NewKey, Store, TableNames};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tower::ServiceExt;

use super::*;

/// A store over its own database; the handle can stop the database.
async fn start_store() -> (Store, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let database = dynoxide::Database::memory().unwrap();
    let server = tokio::spawn(dynoxide::server::serve_on(listener, database));
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint)]);
    let (aws, names) = (store::sdk_config(&settings).unwrap(), TableNames::from_settings(&settings).unwrap());
    store::create_tables(&aws, &names).await.unwrap();
    (Store::new(&aws, names), server)
}

async fn create_key(store: &Store, owner: &str, administrator: bool) -> String {
    let key = ApiKey::generate().unwrap();
    let new = NewKey { owner: owner.to_owned(), administrator, ..NewKey::default() };
    store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
    key.text().expose_secret().to_owned()
}

fn build_auth(store: &Store, settings: &[(&str, &str)], platform: Platform) -> Auth {
    let config = AuthConfig::from_settings(&Settings::from_pairs(settings.iter().copied()), platform).unwrap();
    Auth::new(&config, store.keys.clone(), platform::transport::build_client().unwrap())
}

impl ApiKeyVerifier {
    async fn cached_or_lookup(&self, text: &str, now: SystemTime) -> Result<Caller, AuthError> {
        let key = ApiKey::parse(text).ok_or(AuthError::Malformed)?;
        match self.cached(&key, now) {
            Some(caller) => Ok(caller),
            None => self.lookup(&key, now).await,
        }
    }
}

async fn show_caller(caller: Caller) -> Json<Value> {
    Json(json!({"owner": caller.owner.as_str(), "administrator": caller.membership.is_administrator}))
}

async fn show_named_caller(credentials: Credentials, user_id: String) -> Result<Json<Value>, ApiError> {
    Ok(show_caller(credentials.identify(Some(&user_id))?).await)
}

async fn show_administrator(Administrator(caller): Administrator) -> Json<Value> {
    show_caller(caller).await
}

fn build_app(auth: Auth) -> Router {
    let routes = Router::new()
        .route("/who", get(show_caller))
        .route("/named", post(show_named_caller))
        .route("/admin", get(show_administrator))
        .route_layer(from_fn_with_state(auth, authenticate))
        .route("/page", get(|| async { "page" }));
    crate::wrap_routes(routes, crate::Origins::default(), crate::Exposure::Public)
}

struct TestResponse {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl TestResponse {
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

async fn send(app: &Router, method: &str, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    send_from(app, "203.0.113.9", method, path, headers).await
}

async fn send_from(app: &Router, source: &str, method: &str, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    let request = headers
        .iter()
        .fold(Request::builder().method(method).uri(path), |request, (name, value)| request.header(*name, *value));
    let source: IpAddr = source.parse().unwrap();
    let request = request.extension(SourceIp(source)).body(Body::from("bob")).unwrap();
    let (head, body) = app.clone().oneshot(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    TestResponse { status: head.status, headers: head.headers, body }
}

const API_KEY: [(&str, &str); 1] = [("AUTH", "api_key")];

#[tokio::test]
async fn api_key_alone_identifies_the_caller() {
    let (store, _server) = start_store().await;
    let (ada, bob) = (create_key(&store, "ada", false).await, create_key(&store, "bob", true).await);
    let app = build_app(build_auth(&store, &API_KEY, Platform::Lambda));
    let bearer = format!("Bearer {ada}");
    let expected = json!({"owner": Owner::key_holder("ada").as_str(), "administrator": false});
    for headers in
        [[("authorization", bearer.as_str()), ("x-user-id", "bob")], [("x-api-key", &ada), ("x-user-id", "bob")]]
    {
        assert_eq!(send(&app, "GET", "/who", &headers).await.body, expected);
        assert_eq!(send(&app, "POST", "/named", &headers).await.body, expected);
    }
    let both = [("authorization", bearer.as_str()), ("x-api-key", &bob)];
    assert_eq!(send(&app, "GET", "/who", &both).await.body["owner"], Owner::key_holder("bob").as_str());
}

#[tokio::test]
async fn f120_admin_route_requires_administrator_key() {
    let (store, _server) = start_store().await;
    let (ada, bob) = (create_key(&store, "ada", false).await, create_key(&store, "bob", true).await);
    let app = build_app(build_auth(&store, &API_KEY, Platform::Lambda));
    assert_eq!(send(&app, "GET", "/admin", &[("x-api-key", &ada)]).await.code(), (403, "forbidden"));
    assert_eq!(send(&app, "GET", "/admin", &[("x-api-key", &bob)]).await.status, StatusCode::OK);
    assert_eq!(send(&app, "GET", "/admin", &[]).await.code(), (401, "unauthorized"));
}

#[tokio::test]
async fn f114_f118_f143_every_bad_key_gets_the_same_response() {
    let (store, _server) = start_store().await;
    let (good, revoked) = (create_key(&store, "ada", true).await, create_key(&store, "ada", true).await);
    store.keys.revoke(ApiKey::parse(&revoked).unwrap().id(), SystemTime::now()).await.unwrap();
    let expired = ApiKey::generate().unwrap();
    let new = NewKey {
        owner: "ada".to_owned(),
        administrator: true,
        expires: Some(SystemTime::UNIX_EPOCH),
        ..NewKey::default()
    };
    store.keys.create(&expired, &new, SystemTime::now()).await.unwrap();
    let app = build_app(build_auth(&store, &API_KEY, Platform::Lambda));
    let stranger = ApiKey::generate().unwrap().text().expose_secret().to_owned();
    let crossed = format!("{}{}", &good[..30], &stranger[30..]);
    let (expired, doubled) = (expired.text().expose_secret().to_owned(), format!("{good} {good}"));
    let bad = ["", "x", "null", "lc_", &good[..good.len() - 1], &good.to_uppercase(), &doubled];
    let bad = bad.into_iter().chain([&*stranger, &*crossed, &*revoked, &*expired]);
    let missing = send(&app, "GET", "/who", &[]).await;
    assert_eq!(missing.code(), (401, "unauthorized"));
    assert_eq!(missing.headers["www-authenticate"], "Bearer");
    let expected = missing.without_id();
    for key in bad {
        assert_eq!(send(&app, "GET", "/who", &[("x-api-key", key)]).await.without_id(), expected, "{key}");
        let bearer = format!("Bearer {key}");
        assert_eq!(send(&app, "GET", "/who", &[("authorization", &bearer)]).await.without_id(), expected, "{key}");
    }
    assert_eq!(send(&app, "GET", "/who", &[("x-api-key", &good)]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn f142_malformed_key_causes_no_lookup() {
    let (store, server) = start_store().await;
    let unknown = ApiKey::generate().unwrap().text().expose_secret().to_owned();
    let app = build_app(build_auth(&store, &API_KEY, Platform::Lambda));
    server.abort();
    assert!(server.await.unwrap_err().is_cancelled());
    assert_eq!(send(&app, "GET", "/who", &[("x-api-key", "lc_x")]).await.code(), (401, "unauthorized"));
    assert_eq!(send(&app, "GET", "/who", &[("x-api-key", &unknown)]).await.code(), (503, "storage_busy"));
}

#[tokio::test]
async fn f118_revoked_key_is_refused_within_30_seconds() {
    let (store, _server) = start_store().await;
    let text = create_key(&store, "ada", false).await;
    let verifier = ApiKeyVerifier::new(store.keys.clone());
    let start = SystemTime::now();
    let after = |seconds| start + Duration::from_secs(seconds);
    let ada = Caller::new(Owner::key_holder("ada"), false);
    assert_eq!(verifier.cached_or_lookup(&text, after(0)).await, Ok(ada.clone()));
    store.keys.revoke(ApiKey::parse(&text).unwrap().id(), start).await.unwrap();
    for seconds in [10, 20, 29] {
        assert_eq!(
            verifier.cached_or_lookup(&text, after(seconds)).await,
            Ok(ada.clone()),
            "still believed, and for no longer"
        );
    }
    assert_eq!(verifier.cached_or_lookup(&text, after(30)).await, Err(AuthError::Rejected));
}

#[tokio::test]
async fn cached_key_is_refused_once_expired() {
    let (store, _server) = start_store().await;
    let (key, now) = (ApiKey::generate().unwrap(), SystemTime::now());
    let expires = Some(now + Duration::from_secs(5));
    let new = NewKey { owner: "ada".to_owned(), administrator: false, expires, ..NewKey::default() };
    store.keys.create(&key, &new, now).await.unwrap();
    let (verifier, text) = (ApiKeyVerifier::new(store.keys.clone()), key.text());
    assert!(verifier.cached_or_lookup(text.expose_secret(), now).await.is_ok());
    assert_eq!(
        verifier.cached_or_lookup(text.expose_secret(), now + Duration::from_secs(5)).await,
        Err(AuthError::Rejected)
    );
}

#[tokio::test]
async fn f118_cached_key_requires_matching_secret() {
    let (store, _server) = start_store().await;
    let good = create_key(&store, "ada", false).await;
    let verifier = ApiKeyVerifier::new(store.keys.clone());
    let now = SystemTime::now();
    assert!(verifier.cached_or_lookup(&good, now).await.is_ok());
    let end = if good.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{end}", &good[..good.len() - 1]);
    assert_eq!(verifier.cached_or_lookup(&wrong, now).await, Err(AuthError::Rejected));
}

#[tokio::test]
async fn f147_unconfigured_function_rejects_every_call() {
    let (store, _server) = start_store().await;
    let good = create_key(&store, "ada", true).await;
    for settings in [&[][..], &[("AUTH", "none")]] {
        let app = build_app(build_auth(&store, settings, Platform::Lambda));
        for (method, path) in
            [("GET", "/who"), ("POST", "/named"), ("GET", "/admin"), ("DELETE", "/who"), ("OPTIONS", "/who")]
        {
            let response = send(&app, method, path, &[("x-api-key", &good), ("x-user-id", "ada")]).await;
            assert_eq!(response.code(), (503, "auth_not_configured"), "{method} {path}");
        }
        assert_eq!(send(&app, "GET", "/page", &[]).await.status, StatusCode::OK);
    }
}

#[tokio::test]
async fn f144_cookies_are_no_credentials_options_needs_none() {
    let (store, _server) = start_store().await;
    let good = create_key(&store, "ada", true).await;
    let app = build_app(build_auth(&store, &API_KEY, Platform::Lambda));
    let cookie = format!("key={good}; x-api-key={good}; authorization=Bearer {good}");
    assert_eq!(send(&app, "GET", "/who", &[("cookie", &cookie)]).await.code(), (401, "unauthorized"));
    let in_the_url = format!("/who?key={good}&access_token={good}&x-api-key={good}");
    assert_eq!(send(&app, "GET", &in_the_url, &[]).await.code(), (401, "unauthorized"));
    let options = send(&app, "OPTIONS", "/who", &[]).await;
    assert_eq!((options.status, &options.headers["allow"]), (StatusCode::NO_CONTENT, &"GET,HEAD".parse().unwrap()));
}

#[tokio::test]
async fn without_authentication_callers_name_themselves() {
    let (store, _server) = start_store().await;
    let app = build_app(build_auth(&store, &[], Platform::Local));
    let owner =
        async |method, path, headers: &[(&str, &str)]| send(&app, method, path, headers).await.body["owner"].clone();
    assert_eq!(owner("GET", "/who", &[]).await, Owner::unverified("local").as_str());
    assert_eq!(owner("POST", "/named", &[]).await, Owner::unverified("bob").as_str());
    assert_eq!(owner("POST", "/named", &[("x-user-id", "ada")]).await, Owner::unverified("ada").as_str());
    assert_eq!(send(&app, "GET", "/admin", &[]).await.status, StatusCode::OK);
}
