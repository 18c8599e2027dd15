//! Routes that need no turn: the page, health, models and tools.

use std::collections::BTreeSet;

use serde_json::json;
use support::TestApp;

#[tokio::test]
async fn page_has_a_strict_content_security_policy() {
    let app = TestApp::start().await;
    let page = app.get("/").await;
    assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"));
    let policy = page.header("content-security-policy");
    for directive in
        ["default-src 'none'", "script-src 'self' 'sha256-", "frame-ancestors 'none'", "trusted-types 'none'"]
    {
        assert!(policy.contains(directive), "{policy}");
    }
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), "nosniff");
    let html = page.text();
    assert!(html.starts_with("<!doctype html>") && !html.contains("onclick="), "no handler is inline");
    assert!(!html.contains("src=\"http") && !html.contains("href=\"http"), "nothing is loaded from another host");
}

#[tokio::test]
async fn page_is_compressed_and_revalidated() {
    let app = TestApp::start().await;
    let plain = app.get("/").await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "accept-encoding"));
    let page = app.get_raw("/", "accept-encoding: gzip, deflate, br").await;
    assert_eq!((page.status, page.header("content-encoding")), (200, "gzip"));
    assert!(page.body.len() * 2 < plain.body.len(), "{} bytes", page.body.len());
    let known = format!("accept-encoding: gzip\r\nif-none-match: {}", page.header("etag"));
    let known = app.get_raw("/", &known).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_ne!(page.header("etag"), plain.header("etag"));
}

#[tokio::test]
async fn every_asset_of_the_page_is_served() {
    let app = TestApp::start().await;
    let html = app.get("/").await.text();
    let names = html.split("assets/").skip(1).filter_map(|rest| rest.split(['"', '`', '\'']).next());
    let names: BTreeSet<&str> = names.collect();
    assert!(names.contains("manifest.webmanifest"), "{names:?}");
    for name in names {
        let file = app.get(&format!("/assets/{name}")).await;
        assert_eq!((file.status, file.header("x-content-type-options")), (200, "nosniff"), "{name}");
        assert!(!file.body.is_empty());
        let immutable = file.header("cache-control").contains("immutable");
        assert_eq!(immutable, name.rsplit('.').next() == Some("js"), "{name}");
    }
}

#[tokio::test]
async fn health_reports_the_version_without_upstream_calls() {
    let app = TestApp::start().await;
    let health = app.get("/healthz").await.ok();
    let commit = option_env!("LAMBDA_CHAT_COMMIT").filter(|commit| !commit.is_empty()).unwrap_or("unknown");
    assert_eq!(health, json!({ "status": "ok", "version": env!("CARGO_PKG_VERSION"), "commit": commit }));
    assert_eq!((app.model.requests().len(), app.search.requests().len()), (0, 0));
}

#[tokio::test]
async fn models_are_listed_with_the_default_marked() {
    let app = TestApp::start_with(&[("ARK_API_KEY", "ark-key"), ("ARK_MODEL", "doubao-seed-1-6-250615")]).await;
    let models = app.get("/api/models").await.ok();
    let rows: Vec<_> = models["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["name"], row["model"], row["default"], row["demo"]]))
        .collect();
    let expected =
        [json!(["volcano", "doubao-seed-1-6-250615", true, false]), json!(["openai", support::MODEL, false, false])];
    assert_eq!(rows, expected);
    for row in models["models"].as_array().unwrap() {
        let keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["name", "provider", "model", "default", "tools", "toolsFrom", "images", "demo"]);
        assert!(["native", "prompt"].contains(&row["tools"].as_str().unwrap()));
        assert!(["settings", "table", "provider", "learned"].contains(&row["toolsFrom"].as_str().unwrap()));
    }
}

#[tokio::test]
async fn tools_are_listed_with_their_schema() {
    let app = TestApp::start().await;
    let tools = app.get("/api/tools").await.ok();
    let search = &tools["tools"][0];
    let keys: Vec<&str> = search.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = vec!["name", "description", "parameters", "category", "internal", "version"];
    assert_eq!((keys, &search["name"]), (expected, &json!("search_web")));
    assert_eq!(json!([search["category"], search["internal"], search["version"]]), json!(["web", true, "1.0.0"]));
    assert_eq!(json!([search["parameters"]["type"], search["parameters"]["required"]]), json!(["object", ["query"]]));
    assert_eq!(search["parameters"]["properties"]["query"]["type"], "string");
}
