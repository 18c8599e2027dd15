//! JWTs of an issuer.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use support::Completion;
use tokio::net::TcpListener;

use super::app_with_store::{expose_key, start_with_store};
use super::route_tables::AUTHENTICATED_ROUTES;
use super::{ABSENT, comparable_parts};

/// Starts an issuer on loopback with one key; returns its URL.
async fn start_issuer(pair: &Ed25519KeyPair) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let key = json!({
        "kty": "OKP", "crv": "Ed25519", "kid": "1", "x": URL_SAFE_NO_PAD.encode(pair.public_key().as_ref()),
    });
    let discovery = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") }).to_string();
    let keys = json!({ "keys": [key] }).to_string();
    let routes = axum::Router::new()
        .route("/.well-known/openid-configuration", axum::routing::get(|| async { discovery }))
        .route("/keys", axum::routing::get(|| async { keys }));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    url
}

fn sign_token(pair: &Ed25519KeyPair, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(&json!({"alg": "EdDSA", "kid": "1"})), part(claims));
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(pair.sign(message.as_bytes())))
}

fn generate_key_pair() -> Ed25519KeyPair {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
    Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap()
}

#[tokio::test]
async fn claims_name_administrators_groups_and_people() {
    let pair = generate_key_pair();
    let url = start_issuer(&pair).await;
    let product = start_with_store(&[
        ("AUTH", "jwt"),
        ("AUTH_JWT_ISSUER", &url),
        ("AUTH_JWT_AUDIENCE", "chat"),
        ("AUTH_JWT_ADMIN_CLAIM", "https://chat.example.com/roles"),
        ("AUTH_JWT_ADMIN_VALUE", "ops"),
        ("AUTH_JWT_GROUPS_CLAIM", "cognito:groups"),
    ])
    .await;
    let read = async |path: &str, further: Value| {
        let mut claims = json!({"iss": url, "aud": "chat", "sub": "3f1c", "exp": 9_999_999_999_u64});
        claims.as_object_mut().unwrap().extend(further.as_object().unwrap().clone());
        product.send_request(("GET", path, ""), "", &[("x-api-key", &sign_token(&pair, &claims))]).await
    };
    let further = json!({
        "https://chat.example.com/roles": ["ops"], "cognito:groups": ["sales", "legal", " "], "name": "李安",
    });
    let expected = json!({"user": "3f1c", "name": "李安", "groups": ["legal", "sales"], "admin": true, "auth": "jwt"});
    assert_eq!(read("/api/me", further.clone()).await.ok(), expected);
    assert_eq!(read("/api/admin/agents", further).await.status, 200);
    let expected = json!({"user": "3f1c", "groups": [], "admin": false, "auth": "jwt"});
    assert_eq!(read("/api/me", json!({"role": "admin", "groups": ["sales"]})).await.ok(), expected);
    assert_eq!(read("/api/admin/agents", json!({"role": "admin"})).await.error().0, 403);
}

#[tokio::test]
async fn f114_only_valid_issuer_tokens_authenticate() {
    let (pair, forger) = (generate_key_pair(), generate_key_pair());
    let url = start_issuer(&pair).await;
    let product = start_with_store(&[("AUTH", "jwt"), ("AUTH_JWT_ISSUER", &url), ("AUTH_JWT_AUDIENCE", "chat")]).await;
    product.app.model.respond_with(|_| Completion::of(["好。"]));
    let claims = |name: &str, value: Value| {
        let mut claims = json!({"iss": url, "aud": "chat", "sub": "ada", "exp": 9_999_999_999_u64});
        claims[name] = value;
        claims
    };
    let ada = format!("Bearer {}", sign_token(&pair, &claims("sub", "ada".into())));
    let bob = sign_token(&pair, &claims("sub", "bob".into()));
    let chat = ("POST", "/api/chat", r#"{"message":"hi","stream":false}"#);
    let id = product.send_request(chat, "", &[("authorization", &ada)]).await.ok()["conversationId"].clone();
    let read = ("GET", "/api/conversations/{id}", "");
    assert_eq!(product.send_request(read, id.as_str().unwrap(), &[("authorization", &ada)]).await.status, 200);
    assert_eq!(product.send_request(read, id.as_str().unwrap(), &[("x-api-key", &bob)]).await.error().0, 404);
    let bad = [
        sign_token(&forger, &claims("sub", "ada".into())),
        sign_token(&pair, &claims("iss", "https://evil.example".into())),
        sign_token(&pair, &claims("aud", "other".into())),
        sign_token(&pair, &claims("exp", 1.into())),
        sign_token(&pair, &claims("nbf", 9_999_999_998_u64.into())),
        sign_token(&pair, &claims("sub", Value::Null)),
        expose_key(&product.create_key("ada", None).await),
    ];
    for route in AUTHENTICATED_ROUTES {
        let expected = comparable_parts(&product.send_request(route, ABSENT, &[]).await);
        assert_eq!(expected.0, 401);
        for token in &bad {
            assert_eq!(
                comparable_parts(&product.send_request(route, ABSENT, &[("x-api-key", token)]).await),
                expected,
                "{route:?}"
            );
        }
    }
}
