//! The audit trail of requests that fail.

use serde_json::json;

#[tokio::test]
async fn failing_audit_write_undoes_no_change() {
    let proxied = crate::auth::start_database().await;
    let proxy = support::DatabaseProxy::start(&proxied).await;
    let app = support::TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", proxy.url())]).await;
    proxy.reject("BatchWriteItem");
    let made = app.post("/api/admin/agents", &json!({ "name": "a" })).await;
    assert_eq!(made.status, 201);
    let id = made.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(app.get(&format!("/api/admin/agents/{id}")).await.ok()["name"], "a");
}

#[tokio::test]
async fn failed_import_names_what_it_stored() {
    let proxy = support::DatabaseProxy::start(&crate::auth::start_database().await).await;
    let app = support::TestApp::start_with(&[("AWS_ENDPOINT_URL_DYNAMODB", proxy.url())]).await;
    let operation = |id: &str| json!({ "get": { "operationId": id, "summary": id, "responses": {} } });
    let document = json!({
        "openapi": "3.0.3", "info": { "title": "t", "version": "1" }, "servers": [{ "url": "https://h.example" }],
        "paths": { "/a": operation("first"), "/b": operation("second") },
    });
    proxy.reject_after(1, "TransactWriteItems");
    let imported = app.post("/api/admin/tools/import", &json!({ "document": document })).await;
    assert!(imported.status >= 500, "{}", imported.status);
    let tools = app.get("/api/admin/tools").await.ok()["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 1);
    let entries = app.get("/api/admin/audit").await.ok()["entries"].clone();
    assert_eq!((&entries[0]["target"], &entries[0]["status"]), (&tools[0]["id"], &json!(imported.status)));
}
