//! Who may use `/mcp`, and how much.

use serde_json::{Value, json};
use support::{Completion, TestApp};

use crate::auth::{start_with_api_keys, start_with_api_keys_and, start_with_store};
use crate::mcp_server::{call, send, tool_names};

const METADATA: &str = "/.well-known/oauth-protected-resource";

fn question() -> Value {
    json!({"name": "ask", "arguments": {"question": "hi"}})
}

#[tokio::test]
async fn key_is_required_and_names_the_owner() {
    let product = start_with_api_keys().await;
    product.app.model.respond_with(|_| Completion::of(["好。"]));
    let refused = send(&product.app, "tools/list", json!({})).await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"));
    assert_eq!(refused.json()["error"]["data"], json!({"code": "unauthorized", "retryable": false}));
    assert_eq!(product.app.get(METADATA).await.error(), (404, "not_found".to_owned()));
    let (ann, bob) = (product.member("ann", false, &[]).await, product.member("bob", false, &[]).await);
    assert_eq!(call(&ann, "ask", question()["arguments"].clone()).await["isError"], false);
    let turns = async |client: &support::Client| client.get("/api/usage?days=1").await.ok()["today"]["turns"].clone();
    assert_eq!((turns(&ann).await, turns(&bob).await), (json!(1), json!(0)));
}

#[tokio::test]
async fn issuer_of_tokens_is_named_to_clients() {
    let issuer = "https://issuer.example.com";
    let settings = [
        ("AUTH", "jwt"),
        ("AUTH_JWT_ISSUER", issuer),
        ("AUTH_JWT_AUDIENCE", "chat"),
        ("AUTH_JWT_CLIENT_ID", "page"),
        ("AUTH_JWT_SCOPE", "openid chat"),
    ];
    let product = start_with_store(&settings).await;
    let refused = send(&product.app, "tools/call", question()).await;
    let base = product.app.base();
    let expected = format!("Bearer resource_metadata=\"{base}{METADATA}/mcp\"");
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, expected.as_str()));
    assert_eq!(product.app.get("/api/models").await.header("www-authenticate"), "Bearer");
    let metadata = json!({
        "resource": format!("{base}/mcp"), "authorization_servers": [issuer],
        "scopes_supported": ["openid", "chat"], "bearer_methods_supported": ["header"],
    });
    for path in [METADATA.to_owned(), format!("{METADATA}/mcp")] {
        assert_eq!(product.app.get(&path).await.ok(), metadata);
    }
}

#[tokio::test]
async fn pages_of_unlisted_origins_are_rejected() {
    let product = start_with_api_keys_and(&[("ALLOWED_ORIGINS", "https://a.example")]).await;
    let key = product.create_key_text("ann").await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let post = async |origin: &str| {
        let headers = [("content-type", "application/json"), ("x-api-key", &*key), ("origin", origin)];
        product.app.send("POST", "/mcp", &headers, list.clone()).await
    };
    let host = product.app.base().to_owned();
    for origin in ["https://evil.example", "null", &host] {
        let refused = post(origin).await;
        assert_eq!((refused.status, &refused.json()["error"]["data"]["code"]), (403, &json!("forbidden")), "{origin}");
    }
    let accepted = post("https://a.example").await;
    assert_eq!((accepted.status, accepted.header("access-control-allow-origin")), (200, "https://a.example"));
    let preflight = [("origin", "https://a.example"), ("access-control-request-method", "POST")];
    let preflight = product.app.send("OPTIONS", "/mcp", &preflight, "").await;
    assert_eq!(preflight.status, 204);
    for header in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        assert!(preflight.header("access-control-allow-headers").contains(header), "{header}");
    }
}

#[tokio::test]
async fn limits_reject_calls_before_they_start() {
    let app = TestApp::start_with(&[("CHAT_RATE_LIMIT", "1/60s")]).await;
    assert_eq!(call(&app, "search_web", json!({"query": "a"})).await["isError"], false);
    let refused = send(&app, "tools/call", question()).await;
    assert_eq!((refused.status, &refused.json()["error"]["data"]["code"]), (429, &json!("rate_limited")));
    assert_eq!(refused.json()["id"], 7, "the client finds the call that it may repeat");
    assert!(refused.header("retry-after").parse::<u32>().unwrap() > 0);
    assert_eq!(send(&app, "tools/list", json!({})).await.status, 200, "a list is no turn");

    let app = TestApp::start_with(&[("USER_DAILY_TOKENS", "1")]).await;
    app.model.respond_with(|_| Completion::of(["好。"]));
    assert_eq!(call(&app, "ask", question()["arguments"].clone()).await["isError"], false);
    let refused = send(&app, "tools/call", question()).await;
    assert_eq!((refused.status, &refused.json()["error"]["data"]["code"]), (429, &json!("quota_exhausted")));
}

#[tokio::test]
async fn search_budget_inside_calls_is_an_error_result() {
    let app = TestApp::start_with(&[("USER_DAILY_SEARCHES", "2")]).await;
    for (query, is_error) in [("a", false), ("b", false), ("c", true), ("a", false)] {
        assert_eq!(call(&app, "search_web", json!({"query": query})).await["isError"], is_error, "{query}");
    }
    assert_eq!(app.search.queries(), ["a", "b"]);
}

#[tokio::test]
async fn callers_find_only_shared_and_own_articles() {
    let app = TestApp::start_with(&[("ARTICLES", "yes")]).await;
    for owner in ["ann", "bob"] {
        let article = json!({"title": owner, "text": "secret plan", "owner": owner});
        assert_eq!(app.post("/api/admin/articles", &article).await.status, 201);
    }
    let found = call(&app.as_user("ann"), "search_articles", json!({"query": "secret plan"})).await.to_string();
    assert!(found.contains("ann") && !found.contains("bob"), "{found}");
}

#[tokio::test]
async fn tools_are_those_of_the_callers_agents() {
    let product = start_with_api_keys().await;
    let admin = product.member("root", true, &[]).await;
    let bound = json!({"tool": "search_web", "config": {"mode": "quick"}});
    let default = json!({"name": "a", "tools": [bound, {"tool": "calculator"}]});
    admin.put("/api/admin/agents/default", &default).await.ok();
    let reader = json!({"name": "b", "tools": [{"tool": "read_url"}, {"tool": "search_web"}], "groups": ["legal"]});
    assert_eq!(admin.post("/api/admin/agents", &reader).await.status, 201);
    let (ann, bob) = (product.member("ann", false, &["legal"]).await, product.member("bob", false, &[]).await);
    assert_eq!(tool_names(&ann).await, ["ask", "search_web", "read_url"]);
    assert_eq!(tool_names(&bob).await, ["ask", "search_web"]);
    let listed = send(&bob, "tools/list", json!({})).await.ok();
    assert_eq!(listed["result"]["tools"][1]["inputSchema"]["properties"].get("mode"), None, "the agent sets it");
    let read = json!({"name": "read_url", "arguments": {"url": "https://example.com/"}});
    let refused = send(&bob, "tools/call", read).await.json();
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}
