//! Custom tools from `OpenAPI` documents.

use serde_json::{Value, json};
use support::{FakeEndpoint, Reply};

use crate::custom_tools::{CustomToolApp, create, error_message};

fn openapi_document(host: &FakeEndpoint) -> Value {
    let city = json!({"name": "city", "in": "path", "required": true, "schema": {"type": "string"}});
    let ok = json!({"200": {"description": "ok"}});
    json!({
        "openapi": "3.0.3", "info": {"title": "Weather", "version": "1"}, "servers": [{"url": host.url()}],
        "paths": {
            "/v2/{city}": {
                "get": {"operationId": "weather", "summary": "Now.", "parameters": [city], "responses": ok},
                "delete": {"operationId": "calculator", "summary": "x", "parameters": [city], "responses": ok},
            },
            "/v2/secret": {"get": {
                "operationId": "secret", "summary": "x", "responses": ok,
                "parameters": [{"name": "X-Key", "in": "header", "required": true, "schema": {"type": "string"}}],
            }},
        },
    })
}

#[tokio::test]
async fn openapi_import_creates_usable_tools() {
    let app = CustomToolApp::start().await;
    let document = openapi_document(&app.host);
    let import =
        async |dry: bool| app.post("/api/admin/tools/import", &json!({"document": document, "dryRun": dry})).await.ok();
    let refused = json!([
        {"operation": "DELETE /v2/{city}", "reason": "`name` must be another one: a tool has it already"},
        {"operation": "GET /v2/secret", "reason": "It needs a parameter in a header or a cookie."},
    ]);
    let tried = import(true).await;
    assert_eq!((&tried["refused"], tried["tools"][0]["name"].as_str()), (&refused, Some("weather")));
    assert_eq!(app.get("/api/admin/tools").await.ok(), json!({"tools": []}), "a dry run stores nothing");
    let created = import(false).await;
    assert_eq!((&created["refused"], &app.get("/api/admin/tools").await.ok()["tools"]), (&refused, &created["tools"]));
    let again = import(false).await;
    assert_eq!((&again["tools"], again["refused"][0]["operation"].as_str()), (&json!([]), Some("GET /v2/{city}")));
    let agent = create(&app, "agents", &json!({"name": "a", "tools": [{"tool": "weather"}]})).await;
    app.host.queue_replies([Reply::json(200, &json!({"temp": 26}))]);
    assert!(app.run_text_call(&agent, &json!({"city": "北京"})).await.contains(r#"{"temp":26}"#));
    assert_eq!(app.host.requests()[0].path, "/v2/%E5%8C%97%E4%BA%AC");
    let nothing = app.post("/api/admin/tools/import", &json!({"document": {}})).await;
    assert_eq!(error_message(&nothing), "The document is not of OpenAPI 3.0 or 3.1.");
    assert!(
        error_message(&app.post("/api/admin/tools/import", &json!({})).await).starts_with("`document` must be given")
    );
}
