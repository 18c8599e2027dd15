//! Every route, grouped by the callers that may use it.

use std::collections::BTreeSet;

/// Every route that requires authentication: method, path, body.
pub(super) const AUTHENTICATED_ROUTES: [(&str, &str, &str); 49] = [
    ("POST", "/api/chat", r#"{"message":"hi"}"#),
    ("POST", "/api/agent", r#"{"message":"hi","agentId":"default"}"#),
    ("POST", "/api/ui/chat", r#"{"id":"x","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}"#),
    ("GET", "/api/ui/chat/{id}/stream", ""),
    ("GET", "/api/agents", ""),
    ("GET", "/api/conversations", ""),
    ("GET", "/api/conversations/{id}", ""),
    ("PATCH", "/api/conversations/{id}", r#"{"title":"mine"}"#),
    ("DELETE", "/api/conversations/{id}", ""),
    ("POST", "/api/conversations/{id}/stop", ""),
    ("POST", "/api/conversations/{id}/regenerate", "{}"),
    ("POST", "/api/conversations/{id}/continue", "{}"),
    ("PUT", "/api/conversations/{id}/branch", r#"{"messageId":"x"}"#),
    ("DELETE", "/api/conversations/{id}/messages/{messageId}", ""),
    ("GET", "/api/conversations/{id}/stream", ""),
    ("GET", "/api/conversations/{id}/export", ""),
    ("GET", "/api/conversations/{id}/shares", ""),
    ("POST", "/api/conversations/{id}/shares", "{}"),
    ("DELETE", "/api/conversations/{id}/shares/{share}", ""),
    ("PUT", "/api/conversations/{id}/messages/{messageId}/feedback", r#"{"rating":"up"}"#),
    ("DELETE", "/api/conversations/{id}/messages/{messageId}/feedback", ""),
    ("POST", "/api/conversations/import", "[]"),
    ("POST", "/api/attachments", ""),
    ("POST", "/api/attachments/uploads", r#"{"name":"a","bytes":1}"#),
    ("GET", "/api/attachments/{id}", ""),
    ("DELETE", "/api/attachments/{id}", ""),
    ("POST", "/api/attachments/{id}/content", ""),
    ("POST", "/api/attachments/{id}/complete", ""),
    ("GET", "/api/attachments/{id}/text", ""),
    ("GET", "/api/pictures", ""),
    ("GET", "/api/documents/{*path}", ""),
    ("GET", "/api/models", ""),
    ("GET", "/api/tools", ""),
    ("GET", "/api/usage", ""),
    ("GET", "/api/me", ""),
    ("GET", "/api/me/export", ""),
    ("GET", "/api/me/instructions", ""),
    ("PUT", "/api/me/instructions", r#"{"text":"Be brief."}"#),
    ("DELETE", "/api/me", r#"{"confirm":"erase"}"#),
    ("HEAD", "/api/models", ""),
    ("POST", "/v1/chat/completions", r#"{"model":"openai","messages":[{"role":"user","content":"hi"}]}"#),
    ("POST", "/v1/responses", r#"{"model":"openai","input":"hi"}"#),
    ("GET", "/v1/responses/{id}", ""),
    ("DELETE", "/v1/responses/{id}", ""),
    ("POST", "/v1/responses/{id}/cancel", ""),
    ("POST", "/v1/embeddings", r#"{"model":"m","input":"hi"}"#),
    ("GET", "/v1/models", ""),
    ("GET", "/v1/models/{*model}", ""),
    ("POST", "/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
];

/// Every route for administrators only.
pub(super) const ADMIN_ROUTES: [(&str, &str, &str); 27] = [
    ("GET", "/api/admin/executions", ""),
    ("GET", "/api/admin/agents", ""),
    ("POST", "/api/admin/agents", r#"{"name":"mine"}"#),
    ("GET", "/api/admin/agents/{id}", ""),
    ("PUT", "/api/admin/agents/{id}", r#"{"name":"mine"}"#),
    ("DELETE", "/api/admin/agents/{id}", ""),
    ("GET", "/api/admin/keys", ""),
    ("POST", "/api/admin/keys", r#"{"user":"mine"}"#),
    ("GET", "/api/admin/keys/{id}", ""),
    ("PUT", "/api/admin/keys/{id}", r#"{"admin":true}"#),
    ("DELETE", "/api/admin/keys/{id}", ""),
    ("GET", "/api/admin/tools", ""),
    ("POST", "/api/admin/tools", r#"{"name":"mine"}"#),
    ("POST", "/api/admin/tools/import", r#"{"document":{}}"#),
    ("GET", "/api/admin/tools/{id}", ""),
    ("PUT", "/api/admin/tools/{id}", r#"{"name":"mine"}"#),
    ("DELETE", "/api/admin/tools/{id}", ""),
    ("POST", "/api/admin/tools/{id}/test", r#"{"arguments":{}}"#),
    ("GET", "/api/admin/articles", ""),
    ("POST", "/api/admin/articles", r#"{"title":"mine","text":"mine"}"#),
    ("GET", "/api/admin/articles/{id}", ""),
    ("PUT", "/api/admin/articles/{id}", r#"{"title":"mine","text":"mine"}"#),
    ("DELETE", "/api/admin/articles/{id}", ""),
    ("GET", "/api/admin/executions/{id}", ""),
    ("GET", "/api/admin/audit", ""),
    ("GET", "/api/admin/usage", ""),
    ("GET", "/api/admin/feedback", ""),
];

/// Every public route.
pub(super) const PUBLIC_ROUTES: [&str; 11] = [
    "/",
    "/assets/{file}",
    "/healthz",
    "/openapi.json",
    "/api/auth",
    "/v1/{*rest}",
    "/share/{id}",
    "/share/assets/{file}",
    "/api/shares/{id}",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
];

#[test]
fn every_change_by_an_administrator_has_an_action() {
    let source = include_str!("../../../functions/chat/src/http/audit.rs");
    for (method, path, _) in ADMIN_ROUTES.iter().filter(|(method, ..)| *method != "GET") {
        assert!(source.contains(&format!("(\"{method}\", \"{path}\") =>")), "{method} {path}");
    }
}

#[test]
fn tables_name_every_route() {
    let source = include_str!("../../../functions/chat/src/lib.rs");
    let routes = source.split(".route(").skip(1).filter_map(|rest| rest.split('"').nth(1));
    for path in routes {
        assert!(
            PUBLIC_ROUTES.contains(&path)
                || AUTHENTICATED_ROUTES.iter().chain(&ADMIN_ROUTES).any(|(_, known, _)| *known == path),
            "{path}"
        );
    }
}

#[test]
fn description_has_exactly_these_routes() {
    let plain = |path: &str| path.replace("{*", "{");
    let of = |routes: &[(&str, &str, &str)]| -> BTreeSet<(String, String)> {
        let described = routes.iter().filter(|(method, ..)| *method != "HEAD");
        described.map(|(method, path, _)| ((*method).to_owned(), plain(path))).collect()
    };
    // Other paths than those of routes.
    let public = PUBLIC_ROUTES.iter().filter(|path| **path != "/v1/{*rest}");
    let public: BTreeSet<_> = public.map(|path| ("GET".to_owned(), plain(path))).collect();
    let expected = &(&of(&AUTHENTICATED_ROUTES) | &of(&ADMIN_ROUTES)) | &public;
    let document = openapi::document();
    let (mut described, mut without_security) = (BTreeSet::new(), BTreeSet::new());
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let route = (method.to_uppercase(), path.clone());
            if operation.get("security").is_some() {
                without_security.insert(route.clone());
            }
            described.insert(route);
        }
    }
    assert_eq!(described, expected);
    assert_eq!(without_security, public);
}
