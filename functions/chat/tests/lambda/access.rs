use axum::Router;
use axum::extract::Json;
use axum::routing::post;
use runtime_api::HttpEvent;
use serde_json::{Value, json};
use support::{Completion, serve_router};

use crate::instance::{Instance, create_key, start_database};

async fn request(instance: &Instance, event: &HttpEvent) -> (u16, Value) {
    let mut answer = instance.call(event).await.expect_streamed();
    let status = answer.prelude().await.status;
    let body = serde_json::from_str(&answer.rest().await).unwrap_or_default();
    (status, body)
}

#[tokio::test]
async fn f147_unconfigured_authentication_serves_only_page_and_health() {
    for settings in [[("AUTH", ""), ("AUTH_NONE_ON_LAMBDA", "yes")], [("AUTH", "none"), ("AUTH_NONE_ON_LAMBDA", "no")]]
    {
        let instance = Instance::start_with(&settings).await;
        for path in ["/", "/healthz", "/assets/icon.svg", "/api/auth"] {
            assert_eq!(request(&instance, &HttpEvent::get(path)).await.0, 200, "{path}");
        }
        assert_eq!(request(&instance, &HttpEvent::get("/api/auth")).await.1["onLambda"], true);
        let protected = [
            HttpEvent::post("/api/chat", &json!({ "message": "你好" })),
            HttpEvent::get("/api/conversations"),
            HttpEvent::get("/api/models").header("authorization", "Bearer anything"),
        ];
        for event in protected {
            let (status, body) = request(&instance, &event).await;
            assert_eq!((status, &body["error"]["code"]), (503, &json!("auth_not_configured")), "{event}");
        }
    }
}

#[tokio::test]
async fn f147_function_without_settings_serves_only_health() {
    let names = [
        "AUTH",
        "AUTH_NONE_ON_LAMBDA",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_MODEL",
        "TAVILY_BASE_URL",
        "TAVILY_API_KEY",
    ];
    let instance = Instance::start_with(&names.map(|name| (name, ""))).await;
    assert_eq!(request(&instance, &HttpEvent::get("/healthz")).await.0, 200);
    assert_eq!(request(&instance, &HttpEvent::get("/api/tools")).await.0, 503);
}

#[tokio::test]
async fn caller_without_key_is_unauthorized() {
    let instance = Instance::start_with(&[("AUTH", "api_key")]).await;
    let event = HttpEvent::get("/api/conversations").header("x-user-id", "local");
    let (status, body) = request(&instance, &event).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("unauthorized")));
}

/// Adds cookies to an event as a function URL does: in a list and in the header.
fn with_cookies(event: HttpEvent, cookies: &[&str]) -> HttpEvent {
    event.with("cookies", cookies).header("cookie", &cookies.join("; "))
}

#[tokio::test]
async fn f110_cookies_of_an_event_are_no_credential() {
    let database = start_database().await;
    let instance = Instance::start_with(&[("AUTH", "api_key"), ("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    let key = create_key(&database, "ann").await;
    let (named, bearer) = (format!("x-api-key={key}"), format!("authorization=Bearer {key}"));
    let cookies = [named.as_str(), &named, &bearer, "x-user-id=ann", "=", ""];
    for event in [
        HttpEvent::post("/api/chat", &json!({ "message": "你好" })),
        HttpEvent::post("/v1/chat/completions", &json!({ "messages": [{ "role": "user", "content": "hi" }] })),
        HttpEvent::get("/api/conversations"),
        HttpEvent::get("/api/me/export"),
    ] {
        let (status, body) = request(&instance, &with_cookies(event.clone(), &cookies)).await;
        let code = if body["error"]["code"].is_null() { &body["error"]["type"] } else { &body["error"]["code"] };
        assert_eq!(status, 401, "{event}: {code}");
    }
    assert!(instance.model.requests().is_empty());
}

#[tokio::test]
async fn f110_no_answer_sets_a_cookie() {
    let database = start_database().await;
    let instance = Instance::start_with(&[("AUTH", "api_key"), ("AWS_ENDPOINT_URL_DYNAMODB", &database)]).await;
    let key = create_key(&database, "ann").await;
    instance.model.respond_with(|_| Completion::of(["好"]));
    for event in [
        HttpEvent::get("/"),
        HttpEvent::get("/assets/icon.svg"),
        HttpEvent::get("/healthz"),
        HttpEvent::get("/nothing"),
        HttpEvent::get("/api/conversations"),
        HttpEvent::post("/api/chat", &json!({ "message": "你好" })),
        HttpEvent::post("/api/chat", &json!({ "message": "你好", "stream": false })),
        HttpEvent::post("/api/chat", &json!({})),
    ] {
        for event in [event.clone(), with_cookies(event, &["session=1", "session=2"]).header("x-api-key", &key)] {
            let mut answer = instance.call(&event).await.expect_streamed();
            let prelude = answer.prelude().await;
            assert!(prelude.cookies.is_empty() && prelude.header("set-cookie").is_empty(), "{event}: {prelude:?}");
            answer.rest().await;
        }
    }
}

/// Starts a Parameter Store that has a value for these names, and returns its endpoint.
async fn start_parameters(values: &'static [(&str, &str)]) -> String {
    let read = async |body: String| {
        let body: Value = serde_json::from_str(&body).unwrap();
        let value = values.iter().find(|(name, _)| body["Name"] == **name).map(|(_, value)| value);
        Json(json!({ "Parameter": { "Value": value } }))
    };
    serve_router(Router::new().route("/", post(read))).await
}

#[tokio::test]
async fn only_requests_with_origin_key_are_served() {
    let endpoint = start_parameters(&[("/chat/origin-2", "new"), ("/chat/origin", "old")]).await;
    let settings = [
        ("AWS_ENDPOINT_URL_SSM", endpoint.as_str()),
        ("ORIGIN_KEY_PARAMETER", "/chat/origin-2"),
        ("PREVIOUS_ORIGIN_KEY_PARAMETER", "/chat/origin"),
    ];
    let instance = Instance::start_with(&settings).await;
    for path in ["/", "/healthz", "/api/models", "/v1/models", "/nothing"] {
        for event in [HttpEvent::get(path), HttpEvent::get(path).header("x-origin-key", "other")] {
            let (status, body) = request(&instance, &event).await;
            assert_eq!((status, &body["error"]["code"]), (403, &json!("forbidden")), "{event}");
        }
    }
    let by_iam = HttpEvent::get("/healthz").with_context("authorizer", json!({ "iam": { "accessKey": "AKIA" } }));
    let by_token = HttpEvent::get("/healthz").with_context("authorizer", json!({ "jwt": {} }));
    for (event, status) in [
        (HttpEvent::get("/healthz").header("x-origin-key", "new"), 200),
        (HttpEvent::get("/healthz").header("x-origin-key", "old"), 200),
        (by_iam, 200),
        (by_token, 403),
    ] {
        assert_eq!(request(&instance, &event).await.0, status, "{event}");
    }
}

#[tokio::test]
async fn unreadable_origin_key_serves_nothing() {
    let endpoint = start_parameters(&[]).await;
    let settings = [("AWS_ENDPOINT_URL_SSM", endpoint.as_str()), ("ORIGIN_KEY_PARAMETER", "/chat/origin")];
    let instance = Instance::start_with(&settings).await;
    let event = HttpEvent::get("/healthz").header("x-origin-key", "new");
    let (status, body) = request(&instance, &event).await;
    assert_eq!((status, &body["error"]["code"]), (503, &json!("not_configured")));
    let lines = instance.function.wait_for_lines(1, |line| line.contains("a secret could not be read")).await;
    assert!(lines[0].contains("ORIGIN_KEY_PARAMETER"), "{lines:?}");
}
