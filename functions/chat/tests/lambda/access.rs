use runtime_api::HttpEvent;
use serde_json::{Value, json};

use crate::instance::Instance;

async fn asked(instance: &Instance, event: &HttpEvent) -> (u16, Value) {
    let mut answer = instance.call(event).await.streamed();
    let status = answer.prelude().await.status;
    let body = serde_json::from_str(&answer.rest().await).unwrap_or_default();
    (status, body)
}

#[tokio::test]
async fn f147_without_authentication_nothing_but_the_page_and_health_is_served() {
    for settings in [[("AUTH", ""), ("AUTH_NONE_ON_LAMBDA", "yes")], [("AUTH", "none"), ("AUTH_NONE_ON_LAMBDA", "no")]]
    {
        let instance = Instance::with(&settings).await;
        for path in ["/", "/healthz", "/assets/app.js"] {
            assert_eq!(asked(&instance, &HttpEvent::get(path)).await.0, 200, "{path}");
        }
        let refused = [
            HttpEvent::post("/api/chat", &json!({ "message": "你好" })),
            HttpEvent::get("/api/conversations"),
            HttpEvent::get("/api/models").header("authorization", "Bearer anything"),
        ];
        for event in refused {
            let (status, body) = asked(&instance, &event).await;
            assert_eq!((status, &body["error"]["code"]), (503, &json!("auth_not_configured")), "{event}");
        }
    }
}

#[tokio::test]
async fn f147_a_function_without_any_setting_starts_and_serves_nothing_else() {
    let names = [
        "AUTH",
        "AUTH_NONE_ON_LAMBDA",
        "OPENAI_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_MODEL",
        "TAVILY_BASE_URL",
        "TAVILY_API_KEY",
    ];
    let instance = Instance::with(&names.map(|name| (name, ""))).await;
    assert_eq!(asked(&instance, &HttpEvent::get("/healthz")).await.0, 200);
    assert_eq!(asked(&instance, &HttpEvent::get("/api/tools")).await.0, 503);
}

#[tokio::test]
async fn with_keys_a_caller_without_one_is_unauthorized() {
    let instance = Instance::with(&[("AUTH", "api_key")]).await;
    let event = HttpEvent::get("/api/conversations").header("x-user-id", "local");
    let (status, body) = asked(&instance, &event).await;
    assert_eq!((status, &body["error"]["code"]), (401, &json!("unauthorized")));
}
