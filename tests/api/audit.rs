//! The audit trail: one entry and one line of the log for each change, export, erasure and rejection, without text.

use std::time::SystemTime;

use fuzz::Random;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use store::{ApiKey, NewKey};
use support::{ApiResponse, FakeEndpoint, Reply};

use crate::auth::{AppWithStore, start_with_api_keys_and};
use crate::secrets::MemoryLog;

/// A part of every text that the requests contain.
const CANARY: &str = "canary";

/// The id of nothing.
const ABSENT: &str = "01J00000000000000000000000";

/// The product with the keys of an administrator and of a user, and what was made so far.
struct Trial {
    product: AppWithStore,
    host: FakeEndpoint,
    admin: String,
    random: Random,
    /// The ids that exist or existed, by the kind in the path.
    agents: Vec<String>,
    tools: Vec<String>,
    keys: Vec<String>,
    articles: Vec<String>,
    expected: Vec<Value>,
    secrets: Vec<String>,
}

async fn new_key(product: &AppWithStore, user: &str, administrator: bool) -> String {
    let key = ApiKey::generate().unwrap();
    let new = NewKey {
        owner: user.to_owned(),
        administrator,
        expires: None,
        citation_links: false,
        groups: domain::Groups::default(),
    };
    product.store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
    key.text().expose_secret().to_owned()
}

async fn send(product: &AppWithStore, key: &str, method: &str, path: &str, body: &str) -> ApiResponse {
    let headers = [("x-api-key", key), ("content-type", "application/json")];
    product.app.send(method, path, &headers, body).await
}

/// All entries, the newest first, page by page.
async fn entries(product: &AppWithStore, key: &str) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = send(product, key, "GET", &format!("/api/admin/audit?days=2{cursor}"), "").await.ok();
        found.extend(page["entries"].as_array().unwrap().clone());
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

/// An entry without its time, which is checked.
fn without_time(mut entry: Value) -> Value {
    let at = entry.as_object_mut().unwrap().remove("at").unwrap();
    assert!(at.as_str().is_some_and(|at| at.ends_with('Z') && at.len() == 24), "{at}");
    entry
}

fn by_request(mut entries: Vec<Value>) -> Vec<Value> {
    entries.sort_by_key(|entry| entry["requestId"].as_str().unwrap().to_owned());
    entries
}

impl Trial {
    async fn start() -> Self {
        let settings = [("ALLOW_PRIVATE_TOOLS", "yes"), ("ARTICLES", "yes")];
        let product = start_with_api_keys_and(&settings).await;
        let (admin, host) = (new_key(&product, "root", true).await, FakeEndpoint::start_permissive().await);
        host.respond_with(|_| Reply::json(200, &json!({ "answer": CANARY })));
        let none = || vec![ABSENT.to_owned(), format!("{CANARY}-id")];
        Self {
            product,
            host,
            secrets: vec![admin.clone()],
            admin,
            random: Random::new(7),
            agents: [none(), vec!["default".to_owned()]].concat(),
            tools: none(),
            keys: none(),
            articles: none(),
            expected: Vec::new(),
        }
    }

    /// Sends a request that changes something; expects its entry.
    async fn change(&mut self, method: &str, path: &str, id: &str, body: &Value, action: &str) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let answer = send(&self.product, &self.admin, method, &path.replace("{id}", id), &body).await;
        let document = if answer.body.is_empty() { Value::Null } else { answer.json() };
        let made = document["id"].as_str().filter(|_| answer.status == 201).map(str::to_owned);
        let named = Some(id.to_owned()).filter(|id| answer.status < 300 && !id.is_empty() || domain::is_id(id));
        self.expect("key:root", action, made.or(named).as_deref(), path, &answer);
        self.secrets.extend(document["key"].as_str().map(str::to_owned));
        document
    }

    fn expect(&mut self, caller: &str, action: &str, target: Option<&str>, route: &str, answer: &ApiResponse) {
        self.expected.push(json!({
            "caller": caller, "action": action, "target": target, "route": route, "status": answer.status,
            "requestId": answer.header("x-request-id"),
        }));
    }

    /// The body of a definition; one in four has a field of no meaning, which is rejected.
    fn document(&mut self, mut body: Value, step: usize) -> Value {
        if self.random.below(4) == 0 {
            body[CANARY] = json!(step);
        }
        body
    }

    async fn change_agents(&mut self, step: usize) {
        let body = self.document(json!({ "name": format!("{CANARY} {step}"), "systemPrompt": CANARY }), step);
        let id = self.random.choose(&self.agents).unwrap().clone();
        let route = "/api/admin/agents/{id}";
        match self.random.below(4) {
            0 | 1 => {
                let made = self.change("POST", "/api/admin/agents", "", &body, "agent.create").await;
                self.agents.extend(made["id"].as_str().map(str::to_owned));
            }
            2 => drop(self.change("PUT", route, &id, &body, "agent.replace").await),
            _ => drop(self.change("DELETE", route, &id, &Value::Null, "agent.delete").await),
        }
    }

    async fn change_tools(&mut self, step: usize) {
        let endpoint = json!({ "urlTemplate": format!("{}/{{city}}", self.host.url()) });
        let body = json!({
            "name": format!("tool_{step}"), "displayName": CANARY, "description": CANARY, "endpoint": endpoint,
            "parameters": { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] },
        });
        let body = self.document(body, step);
        let id = self.random.choose(&self.tools).unwrap().clone();
        let route = "/api/admin/tools/{id}";
        match self.random.below(5) {
            0 | 1 => {
                let made = self.change("POST", "/api/admin/tools", "", &body, "tool.create").await;
                self.tools.extend(made["id"].as_str().map(str::to_owned));
            }
            2 => drop(self.change("PUT", route, &id, &body, "tool.replace").await),
            3 => {
                let arguments = json!({ "arguments": { "city": CANARY } });
                self.change("POST", "/api/admin/tools/{id}/test", &id, &arguments, "tool.test").await;
            }
            _ => drop(self.change("DELETE", route, &id, &Value::Null, "tool.delete").await),
        }
    }

    async fn import_tools(&mut self, step: usize) {
        let operation = |name: String| json!({ "get": { "operationId": name, "summary": CANARY, "responses": {} } });
        let document = json!({
            "openapi": "3.0.3", "info": { "title": CANARY, "version": "1" }, "servers": [{ "url": self.host.url() }],
            "paths": { "/a": operation(format!("a_{step}")), "/b": operation(format!("b_{step}")) },
        });
        let body = json!({ "document": document, "dryRun": self.random.below(2) == 0 });
        let imported = self.change("POST", "/api/admin/tools/import", "", &body, "tool.import").await;
        let ids: Vec<_> = imported["tools"].as_array().unwrap().iter().filter_map(|tool| tool["id"].as_str()).collect();
        self.expected.last_mut().unwrap()["target"] = if ids.is_empty() { Value::Null } else { ids.join(" ").into() };
        self.tools.extend(ids.into_iter().map(str::to_owned));
    }

    async fn change_keys(&mut self, step: usize) {
        let id = self.random.choose(&self.keys).unwrap().clone();
        let route = "/api/admin/keys/{id}";
        match self.random.below(4) {
            0 | 1 => {
                let body = self.document(json!({ "user": format!("user-{step}") }), step);
                let made = self.change("POST", "/api/admin/keys", "", &body, "key.create").await;
                self.keys.extend(made["id"].as_str().map(str::to_owned));
            }
            2 => {
                let body = self.document(json!({ "admin": false, "expiresInDays": 3 }), step);
                self.change("PUT", route, &id, &body, "key.replace").await;
            }
            _ => drop(self.change("DELETE", route, &id, &Value::Null, "key.revoke").await),
        }
    }

    async fn change_articles(&mut self, step: usize) {
        let id = self.random.choose(&self.articles).unwrap().clone();
        let (route, body) =
            ("/api/admin/articles/{id}", json!({ "title": format!("{CANARY} {step}"), "text": CANARY }));
        match self.random.below(3) {
            0 => {
                let body = self.document(body, step);
                let made = self.change("POST", "/api/admin/articles", "", &body, "article.create").await;
                self.articles.extend(made["id"].as_str().map(str::to_owned));
            }
            1 => {
                let body = self.document(body, step);
                self.change("PUT", route, &id, &body, "article.replace").await;
            }
            _ => drop(self.change("DELETE", route, &id, &Value::Null, "article.delete").await),
        }
    }

    /// A user exports and erases the own data.
    async fn leave(&mut self, step: usize) {
        let user = format!("leaver-{step}");
        let (key, owner) = (new_key(&self.product, &user, false).await, format!("key:{user}"));
        let exported = send(&self.product, &key, "GET", "/api/me/export", "").await;
        self.expect(&owner, "user.export", Some(&owner), "/api/me/export", &exported);
        let refused = send(&self.product, &key, "DELETE", "/api/me", &json!({ "confirm": CANARY }).to_string()).await;
        self.expect(&owner, "user.erase", None, "/api/me", &refused);
        let erased = send(&self.product, &key, "DELETE", "/api/me", r#"{"confirm":"erase"}"#).await;
        self.expect(&owner, "user.erase", Some(&owner), "/api/me", &erased);
        self.secrets.push(key);
    }
}

async fn start_log() -> (MemoryLog, tracing::subscriber::DefaultGuard) {
    // A test without a subscriber that writes the first line of the process would turn these lines off for all, see
    // `Interest::never`. So all tests get a subscriber, and the first line is written before this one exists.
    let sink = tracing_subscriber::fmt().with_max_level(tracing::Level::INFO).with_writer(std::io::sink);
    drop(tracing::subscriber::set_global_default(sink.finish()));
    let other = start_with_api_keys_and(&[]).await;
    assert_eq!(other.app.send("GET", "/api/models", &[], "").await.status, 401);
    let log = MemoryLog::default();
    let lines =
        tracing_subscriber::fmt().with_ansi(false).with_max_level(tracing::Level::INFO).with_writer(log.clone());
    // The runtime has one thread, so this subscriber receives all logs of the product.
    (log, tracing::subscriber::set_default(lines.finish()))
}

/// The lines of the audit trail in the log.
fn audit_lines(log: &MemoryLog) -> Vec<String> {
    log.text().lines().filter(|line| line.contains(" audit: ")).map(str::to_owned).collect()
}

#[tokio::test]
async fn random_changes_have_one_entry_each() {
    let (log, guard) = start_log().await;
    let mut trial = Trial::start().await;
    for step in 0..200 {
        match trial.random.below(12) {
            0..3 => trial.change_agents(step).await,
            3..6 => trial.change_tools(step).await,
            6 => trial.import_tools(step).await,
            7..9 => trial.change_keys(step).await,
            9..11 => trial.change_articles(step).await,
            _ => trial.leave(step).await,
        }
    }
    let listed = entries(&trial.product, &trial.admin).await;
    drop(guard);
    let statuses = |of: fn(u64) -> bool| listed.iter().filter(|entry| of(entry["status"].as_u64().unwrap())).count();
    assert!(statuses(|status| status < 300) > 60 && statuses(|status| status >= 400) > 40, "both occur");
    let found = by_request(listed.into_iter().map(without_time).collect());
    let expected = by_request(trial.expected);
    assert_eq!(found, expected);
    let lines = audit_lines(&log);
    assert_eq!(lines.len(), expected.len());
    for entry in &expected {
        let id = format!("requestId=\"{}\"", entry["requestId"].as_str().unwrap());
        let action = format!("action=\"{}\"", entry["action"].as_str().unwrap());
        assert_eq!(lines.iter().filter(|line| line.contains(&id) && line.contains(&action)).count(), 1, "{entry}");
    }
    let everything = format!("{found:?}{}", log.text());
    assert!(!everything.contains(CANARY));
    for secret in trial.secrets.iter().filter_map(|secret| secret.split('_').nth(2)) {
        assert!(!everything.contains(secret));
    }
}

#[tokio::test]
async fn f142_rejected_credentials_are_recorded_by_kind() {
    let (log, guard) = start_log().await;
    let product = start_with_api_keys_and(&[]).await;
    let (admin, ann) = (new_key(&product, "root", true).await, new_key(&product, "ann", false).await);
    let unknown = ApiKey::generate().unwrap().text().expose_secret().to_owned();
    for (key, count) in [(unknown.as_str(), 40), ("canary-token", 3)] {
        for _ in 0..count {
            assert_eq!(send(&product, key, "GET", "/api/conversations/canary-id", "").await.status, 401);
        }
    }
    assert_eq!(product.app.send("GET", "/api/models", &[], "").await.status, 401);
    for (method, path) in
        [("GET", "/api/admin/keys"), ("DELETE", "/api/admin/keys/canary-id"), ("GET", "/api/admin/audit")]
    {
        assert_eq!(send(&product, &ann, method, path, "").await.status, 403);
    }
    let listed = entries(&product, &admin).await;
    drop(guard);
    let summary = |entry: &Value| {
        let text = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
        let count = entry["count"].as_u64().unwrap_or(1);
        format!(
            "{} {} {} {} {} {count}",
            text("caller"),
            text("action"),
            text("target"),
            text("route"),
            entry["status"]
        )
    };
    let (of_keys, others): (Vec<_>, Vec<_>) = listed.iter().partition(|entry| entry["caller"] == "key");
    let mut found: Vec<String> = others.into_iter().map(summary).collect();
    found.sort();
    found.dedup();
    let expected = [
        "key:ann access.denied - /api/admin/audit 403 1",
        "key:ann access.denied - /api/admin/keys 403 1",
        "key:ann key.revoke - /api/admin/keys/{id} 403 1",
        "none credential.rejected - /api/models 401 1",
        "token credential.rejected - /api/conversations/{id} 401 1",
    ];
    assert_eq!(found, expected);
    let represented: u64 = of_keys.iter().map(|entry| entry["count"].as_u64().unwrap_or(1)).sum();
    assert!(of_keys.len() <= 20 && (20..=40).contains(&represented), "of 40, in one minute or two: {of_keys:?}");
    assert!(
        of_keys
            .iter()
            .all(|entry| summary(entry).starts_with("key credential.rejected - /api/conversations/{id} 401 "))
    );
    assert_eq!(audit_lines(&log).len(), 40 + 3 + 1 + 3);
    assert!(!format!("{listed:?}{}", log.text()).contains(CANARY));
}
