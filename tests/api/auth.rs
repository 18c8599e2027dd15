//! Keys and tokens at every route: a missing, bad or foreign one is rejected and reveals nothing.

mod app_with_store;
mod bad_keys;
mod keys;
mod route_tables;
mod tokens;

use std::time::SystemTime;

use axum::body::{Body, to_bytes};
use axum::http::Request;
use platform::settings::Settings;
use serde_json::{Value, json};
use server::{Data, Options, Server};
use store::{ApiKey, NewKey};
use support::{ApiResponse, Completion};
use tower::ServiceExt;
use web::Platform;

use self::app_with_store::expose_key;
pub(crate) use self::app_with_store::{
    AppWithStore, start_database, start_with_api_keys, start_with_api_keys_and, start_with_store,
};
use self::bad_keys::bad_keys;
use self::route_tables::{ADMIN_ROUTES, AUTHENTICATED_ROUTES};

/// The id of a conversation that does not exist.
const ABSENT: &str = "01J00000000000000000000000";

/// The parts of a response that are equal for two equal requests.
fn comparable_parts(answer: &ApiResponse) -> (u16, Vec<(String, String)>, Value) {
    let mut headers = answer.headers.clone();
    for own in ["x-request-id", "date"] {
        headers.remove(own);
    }
    let body = if answer.body.is_empty() { Value::Null } else { answer.error_body() };
    (answer.status, headers.into_iter().collect(), body)
}

#[tokio::test]
async fn f114_f118_f143_bad_keys_get_equal_responses_at_every_route() {
    let product = start_with_api_keys().await;
    let bad = bad_keys(&product).await;
    assert_eq!(bad.len(), 40);
    for route in AUTHENTICATED_ROUTES {
        let expected = comparable_parts(&product.send_request(route, ABSENT, &[]).await);
        assert_eq!(expected.0, 401, "{route:?}");
        for (count, key) in bad.iter().enumerate() {
            let bearer = format!("Bearer {key}");
            let header = if count % 2 == 0 { ("x-api-key", key.as_str()) } else { ("authorization", bearer.as_str()) };
            let answer = product.send_request(route, ABSENT, &[header, ("x-user-id", "ada")]).await;
            assert_eq!(comparable_parts(&answer), expected, "{route:?} {header:?}");
        }
    }
    assert!(product.app.model.requests().is_empty());
}

#[tokio::test]
async fn f119_f143_foreign_ids_respond_like_absent_ones() {
    let product = start_with_api_keys().await;
    product.app.model.respond_with(|_| Completion::of(["秘密。"]));
    let (ada, mallory) =
        (expose_key(&product.create_key("ada", None).await), expose_key(&product.create_key("mallory", None).await));
    let (ada, mallory) = ([("x-api-key", ada.as_str())], [("x-api-key", mallory.as_str())]);
    let mut ids = Vec::new();
    for _ in 0..3 {
        let body = r#"{"message":"我的秘密","stream":false,"userId":"mallory"}"#;
        let answer = product.send_request(("POST", "/api/chat", body), "", &ada).await.ok();
        ids.push(answer["conversationId"].as_str().unwrap().to_owned());
    }
    let read = ("GET", "/api/conversations/{id}", "");
    let before = product.send_request(read, &ids[0], &ada).await.ok();
    let by_id: Vec<_> =
        AUTHENTICATED_ROUTES.into_iter().filter(|(_, path, _)| path.contains("conversations/{id}")).collect();
    for route in &by_id {
        let expected = comparable_parts(&product.send_request(*route, ABSENT, &mallory).await);
        assert_eq!(expected.0, 404);
        for count in 0..334 {
            let answer = product.send_request(*route, &ids[count % ids.len()], &mallory).await;
            assert_eq!(comparable_parts(&answer), expected, "{route:?}");
        }
    }
    for id in ids.iter().map(String::as_str).chain([ABSENT]) {
        let body = json!({"message": "hi", "conversationId": id, "userId": "ada", "owner": "ada"}).to_string();
        assert_eq!(
            product.send_request(("POST", "/api/chat", &body), "", &mallory).await.error(),
            (404, "not_found".to_owned())
        );
    }
    assert_eq!(product.send_request(read, &ids[0], &ada).await.ok(), before);
    let list = product.send_request(("GET", "/api/conversations", ""), "", &mallory).await.ok();
    assert_eq!(list["conversations"], json!([]));
    assert_eq!(product.app.model.requests().len(), 3);
}

#[tokio::test]
async fn f120_administration_routes_require_an_administrator() {
    let product = start_with_api_keys().await;
    let admin = ApiKey::generate().unwrap();
    let new = NewKey { owner: "root".to_owned(), administrator: true, ..NewKey::default() };
    product.store.keys.create(&admin, &new, SystemTime::now()).await.unwrap();
    let (ada, admin) = (expose_key(&product.create_key("ada", None).await), expose_key(&admin));
    for route in ADMIN_ROUTES {
        for id in ["default", ABSENT] {
            let refused = product.send_request(route, id, &[("x-api-key", &ada), ("x-role", "admin")]).await;
            assert_eq!(refused.error(), (403, "forbidden".to_owned()), "{route:?}");
            assert_eq!(
                product.send_request(route, id, &[]).await.error(),
                (401, "unauthorized".to_owned()),
                "{route:?}"
            );
        }
    }
    let agents = product.send_request(ADMIN_ROUTES[1], "", &[("x-api-key", &admin)]).await.ok();
    assert_eq!(agents["agents"].as_array().unwrap().len(), 1, "only the built-in one");
}

#[tokio::test]
async fn f121_only_the_key_identifies_the_caller() {
    let product = start_with_api_keys().await;
    product.app.model.respond_with(|_| Completion::of(["好。"]));
    let (ada, bob) =
        (expose_key(&product.create_key("ada", None).await), expose_key(&product.create_key("bob", None).await));
    let claims = json!({
        "message": "hi", "stream": false, "userId": "bob", "owner": "bob", "role": "admin", "administrator": true,
        "cost": 0, "AUTH": "none",
    });
    let headers = [("x-api-key", ada.as_str()), ("x-user-id", "bob"), ("x-owner", "bob"), ("x-role", "admin")];
    product.send_request(("POST", "/api/chat", &claims.to_string()), "", &headers).await.ok();
    let count = async |key: &str| {
        let list = product
            .send_request(("GET", "/api/conversations", ""), "", &[("x-api-key", key), ("x-user-id", "bob")])
            .await;
        list.ok()["conversations"].as_array().unwrap().len()
    };
    assert_eq!((count(&ada).await, count(&bob).await), (1, 0));
}

#[tokio::test]
async fn f142_key_guessing_is_limited_despite_forged_source() {
    let product = start_with_api_keys().await;
    let good = expose_key(&product.create_key("ada", None).await);
    let route = ("GET", "/api/models", "");
    let mut attempts = 0;
    let stopped = loop {
        attempts += 1;
        let (key, source) =
            (expose_key(&ApiKey::generate().unwrap()), format!("10.0.{}.{}", attempts / 250, attempts % 250));
        let answer = product.send_request(route, "", &[("x-api-key", &key), ("x-forwarded-for", &source)]).await;
        if answer.status != 401 {
            break answer;
        }
        assert!(attempts < 20_000, "nobody stops it");
    };
    assert_eq!(stopped.error(), (429, "rate_limited".to_owned()));
    assert!(!stopped.header("retry-after").is_empty());
    assert_eq!(product.send_request(route, "", &[]).await.status, 401, "a missing credential is reported");
    assert!([200, 429].contains(&product.send_request(route, "", &[("x-api-key", &good)]).await.status));
    assert_eq!(product.app.get("/healthz").await.status, 200);
}

#[tokio::test]
async fn page_and_health_need_no_key() {
    let product = start_with_api_keys().await;
    let key = expose_key(&product.create_key("ada", None).await);
    for path in ["/", "/healthz", "/assets/icon.svg"] {
        assert_eq!(product.app.get(path).await.status, 200, "{path}");
    }
    let models = product.app.get_raw("/api/models", &format!("host: chat.example\r\nx-api-key: {key}")).await;
    assert_eq!(models.status, 200);
    assert_eq!(product.app.get_raw("/api/models", "host: chat.example").await.status, 401);
}

#[tokio::test]
async fn server_without_authentication_refuses_public_address() {
    let start = |settings: &[(&str, &str)]| {
        let (host, settings) = ("0.0.0.0".parse().unwrap(), Settings::from_pairs(settings.iter().copied()));
        Server::start(Options { host, port: 0, data: Data::Memory, dynamodb: None, settings })
    };
    for settings in [&[][..], &[("AUTH", "none")], &[("AUTH", "none"), ("AUTH_NONE_ON_LAMBDA", "yes")]] {
        let refused = start(settings).await.err().unwrap();
        assert!(refused.to_string().contains("loopback only"), "{refused}");
    }
    start(&[("AUTH", "api_key")]).await.unwrap().shut_down().await;
}

#[tokio::test]
async fn f147_unconfigured_function_serves_only_page_and_health() {
    let endpoint = start_database().await;
    for auth in [None, Some("none")] {
        let mut settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str())]);
        if let Some(auth) = auth {
            settings.set("AUTH", auth);
        }
        let config =
            chat::Config::from_settings(&settings, Platform::Lambda, platform::transport::build_client().unwrap())
                .unwrap();
        let app = chat::App::new(config, &store::sdk_config(&settings).unwrap()).router();
        let send_request = async |method: &str, path: &str, body: &str| {
            let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
            let request =
                request.header("x-user-id", "ada").header("x-api-key", "lc_x").body(Body::from(body.to_owned()));
            let answer = app.clone().oneshot(request.unwrap()).await.unwrap();
            let status = answer.status().as_u16();
            let body = to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            let code = serde_json::from_slice::<Value>(&body).map(|body| body["error"]["code"].clone());
            (status, code.unwrap_or_else(|_| String::from_utf8(body.to_vec()).unwrap().into()))
        };
        for (method, path, body) in AUTHENTICATED_ROUTES {
            let (status, code) = send_request(method, &path.replace("{id}", ABSENT), body).await;
            let expected = match path {
                _ if method == "HEAD" => "".into(),
                _ if path.starts_with("/api/ui/") => "Authentication is not configured.".into(),
                // The code of JSON-RPC.
                "/mcp" => json!(-32603),
                _ => "auth_not_configured".into(),
            };
            assert_eq!((status, code), (503, expected), "{method} {path}");
        }
        for path in ["/", "/healthz", "/assets/icon.svg"] {
            assert_eq!(send_request("GET", path, "").await.0, 200, "{path}");
        }
    }
}

#[tokio::test]
async fn f150_callers_see_only_own_usage_until_deletion() {
    let product = start_with_api_keys().await;
    product.app.model.respond_with(|_| Completion::of(["好。"]));
    let (ada, bob) =
        (expose_key(&product.create_key("ada", None).await), expose_key(&product.create_key("bob", None).await));
    let turns = async |key: &str| {
        let headers = [("x-api-key", key), ("x-user-id", "ada")];
        let usage = product.app.send("GET", "/api/usage?days=1", &headers, "").await.ok();
        usage["today"]["turns"].as_u64().unwrap()
    };
    for _ in 0..2 {
        assert_eq!(product.send_request(AUTHENTICATED_ROUTES[0], ABSENT, &[("x-api-key", &ada)]).await.status, 200);
    }
    assert_eq!((turns(&ada).await, turns(&bob).await), (2, 0));
    let total = product.app.send("GET", "/api/usage?scope=deployment", &[("x-api-key", &ada)], "").await;
    assert_eq!(total.error(), (403, "forbidden".to_owned()));
    product.store.delete_owner(&domain::Owner::key_holder("ada")).await.unwrap();
    let again = expose_key(&product.create_key("ada", None).await);
    assert_eq!(turns(&again).await, 0);
}

#[tokio::test]
async fn f110_cookie_grants_nothing_at_any_route() {
    let product = start_with_api_keys().await;
    let key = product.create_key_text("ada").await;
    let cookie = format!("x-api-key={key}; x-api-key={key}; authorization=Bearer {key}; key={key}");
    for route in AUTHENTICATED_ROUTES.iter().chain(&ADMIN_ROUTES) {
        let answer = product.send_request(*route, ABSENT, &[("cookie", &cookie)]).await;
        assert_eq!((answer.status, answer.header("set-cookie")), (401, ""), "{route:?}");
    }
    assert!(product.app.model.requests().is_empty());
}
