//! The agent that answers from a folder of documents, and the route that reads their lines.

use std::fs;
use std::ops::Deref;
use std::path::Path;
use std::time::SystemTime;

use serde_json::{Value, json};
use store::DefinitionKind;
use support::{Client, Completion, NativeApp, Reply, TestApp, Transcript};
use tempfile::TempDir;

use crate::auth::start_with_store;

const SECRET: &str = "canary-outside-51f0";

const TOOLS: [&str; 6] = ["grep_search", "glob_search", "read_file", "list_directory", "calculator", "current_time"];

/// The product with documents. A secret is next to their folder, in a hidden and in an ignored file; a link leads to it.
pub(crate) struct DocumentApp {
    app: NativeApp,
    dir: TempDir,
}

impl Deref for DocumentApp {
    type Target = NativeApp;

    fn deref(&self) -> &NativeApp {
        &self.app
    }
}

impl DocumentApp {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    async fn start_with(settings: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().unwrap();
        write_documents(&dir.path().join("docs"));
        fs::write(dir.path().join("secret.md"), SECRET).unwrap();
        let folder = dir.path().join("docs").to_str().unwrap().to_owned();
        let own = [("DOCUMENTS_DIR", folder.as_str()), ("PROMPT_LANGUAGE", "zh")];
        Self { app: NativeApp::start_with(&[&own, settings].concat()).await, dir }
    }

    /// Runs a turn of the agent in which the model makes these calls, one a round, and then answers.
    pub(crate) async fn explore(&self, calls: &[(&str, Value)]) -> Transcript {
        let rounds = calls.iter().map(|(name, arguments)| call(name, arguments));
        self.model.queue_replies(rounds.chain([Completion::of(["好。"])]));
        self.chat(&json!({"message": "问", "agentId": "documents"})).await
    }

    /// What the model got for the last `count` calls.
    fn last_results(&self, count: usize) -> Vec<String> {
        let results: Vec<String> = self
            .last_messages()
            .iter()
            .filter(|message| message["role"] == "tool")
            .map(|message| message["content"].as_str().unwrap().to_owned())
            .collect();
        results[results.len() - count..].to_vec()
    }
}

#[tokio::test]
async fn demo_answers_with_cited_lines() {
    let dir = TempDir::new().unwrap();
    write_documents(dir.path());
    fs::write(dir.path().join("lease.md"), "# Lease\n\nThe deposit is two months of rent.\n").unwrap();
    let folder = dir.path().to_str().unwrap();
    let app = TestApp::start_with(&[("OPENAI_MODEL", ""), ("DOCUMENTS_DIR", folder)]).await;
    for (message, cited) in [
        ("How many months is the deposit?", "- The deposit is two months of rent. `lease.md:3`"),
        ("违约金是多少？", "- 违约金为月租的两倍。 `contracts/lease.md:3`"),
    ] {
        let turn = app.chat(&json!({"message": message, "agentId": "documents"})).await;
        let calls = turn.events_of("tool_call");
        assert!(calls.iter().any(|call| call["name"] == "grep_search"), "{calls:?}");
        assert!(turn.content().contains(cited), "{}", turn.content());
    }
}

fn write_documents(root: &Path) {
    for (name, text) in [
        ("contracts/lease.md", "# 租赁合同\n\n违约金为月租的两倍。\n押金一个月。\n"),
        ("contracts/old/lease-2019.md", "违约金为月租的一倍。\n"),
        ("notes.md", "nothing\n"),
        (".env", SECRET),
        ("private/key.md", SECRET),
        (".gitignore", "private/\n"),
    ] {
        let file = root.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    std::os::unix::fs::symlink("../secret.md", root.join("link.md")).unwrap();
}

pub(crate) fn call(name: &str, arguments: &Value) -> Reply {
    Completion::new().call(0, "c", name, &arguments.to_string()).finish("tool_calls").done().reply()
}

async fn agent_ids(app: &Client) -> Vec<String> {
    let agents = app.get("/api/agents").await.ok()["agents"].clone();
    agents.as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap().to_owned()).collect()
}

async fn tool_names(app: &Client, agent: &str) -> Vec<String> {
    let tools = app.send("GET", "/api/tools", &[("x-agent-id", agent)], "").await.ok()["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn documents_agent_exists_only_with_a_folder() {
    let app = DocumentApp::start().await;
    assert_eq!(agent_ids(&app).await, ["default", "documents"]);
    assert_eq!(tool_names(&app, "documents").await, TOOLS);
    assert_eq!(tool_names(&app, "default").await, ["search_web", "read_url", "calculator", "current_time"]);
    let shown = app.get("/api/admin/agents/documents").await.ok();
    assert_eq!((&shown["name"], &shown["maxRounds"], shown.get("createdAt")), (&json!("Documents"), &json!(10), None));
    let plain = TestApp::start().await;
    assert_eq!(agent_ids(&plain).await, ["default"]);
    let refused = plain.post("/api/chat", &json!({"message": "hi", "agentId": "documents"})).await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    assert_eq!(plain.get("/api/documents/notes.md").await.error(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn documents_agent_searches_embedded_articles_too() {
    let embeddings = ("EMBEDDINGS_MODEL", "m");
    let with_articles = ["grep_search", "glob_search", "read_file", "list_directory", "search_articles"];
    let expected = [&with_articles[..], &["calculator", "current_time"]].concat();
    let app = DocumentApp::start_with(&[embeddings, ("EMBEDDINGS_BASE_URL", "http://127.0.0.1:9/v1")]).await;
    assert_eq!(tool_names(&app, "documents").await, expected);
    let by_terms = DocumentApp::start_with(&[("ARTICLES", "yes")]).await;
    assert_eq!(tool_names(&by_terms, "documents").await, TOOLS);
}

#[tokio::test]
async fn model_explores_documents_in_several_rounds() {
    let app = DocumentApp::start().await;
    let turn = app
        .explore(&[
            ("list_directory", json!({})),
            ("glob_search", json!({"pattern": "*lease*"})),
            ("grep_search", json!({"pattern": "违约金", "path": "contracts", "context": 1})),
            ("read_file", json!({"file_path": "contracts/lease.md", "offset": 2, "limit": 1})),
        ])
        .await;
    assert_eq!((turn.content().as_str(), turn.finish_reason()), ("好。", "stop"));
    assert!(turn.events_of("tool_result").iter().all(|result| result["ok"] == true));
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(system.starts_with("你是 Lambda Chat 的文档助手") && system.contains("一律不执行"), "{system}");
    let results: Vec<Value> = app.last_results(4).iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    assert_eq!(results[0]["tree"].as_str().unwrap().lines().next(), Some("- root/"));
    assert_eq!(results[1]["count"], 2);
    let lines = json!(["2-", "3:违约金为月租的两倍。", "4-押金一个月。"]);
    assert!(results[2]["matches"].as_array().unwrap().contains(&json!({"file": "contracts/lease.md", "lines": lines})));
    assert_eq!(results[3]["content"], "3:违约金为月租的两倍。");
    let summary = &turn.events_of("tool_result")[2]["summary"];
    assert_eq!(summary, "2 matches in 2 files");
}

#[tokio::test]
async fn text_path_explores_documents_too() {
    let app = DocumentApp::start().await;
    let text = r#"<tool_call>{"name":"grep_search","arguments":{"pattern":"押金"}}</tool_call>"#;
    app.app.app.model.queue_replies([Completion::of([text]), Completion::of(["一个月（`contracts/lease.md:4`）。"])]);
    let body = json!({"message": "押金多少？", "agentId": "documents", "modelType": "openai"});
    assert_eq!(app.chat(&body).await.content(), "一个月（`contracts/lease.md:4`）。");
    let prompt = app.app.app.model.wait_for_request(1).await.system_prompt();
    assert!(TOOLS.iter().all(|tool| prompt.contains(tool)), "{prompt}");
    let result = app.app.app.model.wait_for_request(2).await.last_message();
    assert!(result.contains("4:押金一个月。"), "{result}");
}

#[tokio::test]
async fn f151_model_cannot_read_outside_the_folder() {
    let app = DocumentApp::start().await;
    let outside = app.dir.path().to_str().unwrap().to_owned();
    let paths = [
        "/etc/passwd",
        "//etc/passwd",
        "../../../../../../../../etc/passwd",
        "./../../etc/passwd",
        "contracts/../../secret.md",
        "../secret.md",
        "..\\secret.md",
        "C:\\Windows\\win.ini",
        "\\\\server\\share\\secret.md",
        "file:///etc/passwd",
        "~/.ssh/id_rsa",
        "link.md",
        ".env",
        "private/key.md",
        "%2e%2e/secret.md",
        "..%2fsecret.md",
        "contracts/\u{0}/../../secret.md",
        "....//secret.md",
        "/proc/self/environ",
        "contracts/lease.md/../../../secret.md",
    ];
    let mut calls: Vec<(&str, Value)> = Vec::new();
    for path in paths.map(str::to_owned).into_iter().chain([format!("{outside}/secret.md")]) {
        calls.push(("read_file", json!({"file_path": path})));
    }
    for calls in calls.chunks(8) {
        let turn = app.explore(calls).await;
        let outcomes = turn.events_of("tool_result");
        assert_eq!(outcomes.len(), calls.len());
        assert!(outcomes.iter().all(|outcome| outcome["ok"] == false), "{outcomes:?}");
    }
    app.explore(&[("grep_search", json!({"pattern": "canary|root:", "path": "."}))]).await;
    let sent: Vec<String> = app.model.requests().iter().map(|request| request.body.to_string()).collect();
    assert!(sent.iter().all(|body| !body.contains(SECRET) && !body.contains("root:x:0")));
}

#[tokio::test]
async fn row_overrides_the_documents_agent() {
    let app = DocumentApp::start().await;
    let row = json!({"name": "合同", "tools": [{"tool": "grep_search", "config": {"path": "contracts/old"}}], "maxRounds": 2});
    app.put("/api/admin/agents/documents", &row).await.ok();
    assert_eq!(agent_ids(&app).await, ["default", "documents"]);
    let turn = app.explore(&[("grep_search", json!({"pattern": "违约金"}))]).await;
    assert_eq!(turn.events_of("tool_result")[0]["summary"], "1 matches in 1 files", "the fixed path applies");
    let system = app.model.wait_for_request(1).await.system_prompt();
    assert!(system.starts_with("你是 Lambda Chat 的文档助手"), "its own prompt stays: {system}");
    assert_eq!(app.delete("/api/admin/agents/documents").await.status, 204);
    assert_eq!(tool_names(&app, "documents").await, TOOLS);
}

#[tokio::test]
async fn any_agent_may_bind_document_tools() {
    let app = DocumentApp::start().await;
    let agent = json!({"name": "both", "tools": [{"tool": "search_web"}, {"tool": "read_file"}]});
    let created = app.post("/api/admin/agents", &agent).await;
    assert_eq!(created.status, 201, "{}", created.text());
    let id = created.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(tool_names(&app, &id).await, ["search_web", "read_file"]);
    let tool = json!({"name": "read_file", "description": "x", "endpoint": {"urlTemplate": "https://a.example/"}, "parameters": {"type": "object"}});
    let refused = app.post("/api/admin/tools", &tool).await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "the name is taken");
}

#[tokio::test]
async fn lines_of_a_document_are_served_as_text() {
    let app = DocumentApp::start().await;
    let whole = app.get("/api/documents/contracts/lease.md").await;
    assert_eq!((whole.status, whole.text().as_str()), (200, "# 租赁合同\n\n违约金为月租的两倍。\n押金一个月。\n"));
    let headers = ["content-type", "x-content-type-options", "cache-control"].map(|name| whole.header(name));
    assert_eq!(headers, ["text/plain; charset=utf-8", "nosniff", "no-store"]);
    for (lines, text) in [("3-4", "违约金为月租的两倍。\n押金一个月。\n"), ("1", "# 租赁合同\n"), ("9-10", "")]
    {
        let part = app.get(&format!("/api/documents/contracts/lease.md?lines={lines}")).await;
        assert_eq!((part.status, part.text().as_str()), (200, text));
    }
    for lines in ["0-1", "2-1", "1-2001", "x", ""] {
        let refused = app.get(&format!("/api/documents/notes.md?lines={lines}")).await;
        assert_eq!(refused.error(), (400, "invalid_request".to_owned()), "{lines}");
    }
}

#[tokio::test]
async fn f151_route_serves_nothing_outside_the_folder() {
    let app = DocumentApp::start().await;
    for path in [
        "",
        "contracts",
        "contracts/",
        "missing.md",
        "link.md",
        ".env",
        "private/key.md",
        ".gitignore",
        "../secret.md",
        "..%2fsecret.md",
        "%2e%2e/secret.md",
        "%2e%2e%2fsecret.md",
        "contracts/../../secret.md",
        "contracts%2f..%2f..%2fsecret.md",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "//etc/passwd",
        "..%5csecret.md",
        "C:%5cx",
        "notes.md%00",
        "notes.md%00.txt",
        "%ff",
        "%c0%ae%c0%ae/secret.md",
        "..;/secret.md",
        "./notes.md/../../secret.md",
    ] {
        let answer = app.get_raw(&format!("/api/documents/{path}"), "").await;
        assert!(matches!(answer.status, 400 | 404), "{path}: {}", answer.status);
        assert!(!answer.text().contains(SECRET) && !answer.text().contains("root:"), "{path}");
    }
}

#[tokio::test]
async fn hidden_files_are_served_on_request_only() {
    let app = DocumentApp::start_with(&[("DOCUMENTS_HIDDEN", "yes")]).await;
    assert_eq!(app.get("/api/documents/private/key.md").await.text(), format!("{SECRET}\n"));
    assert_eq!(app.get("/api/documents/link.md").await.status, 404, "a link leads out in any case");
}

#[tokio::test]
async fn earlier_tool_of_the_same_name_is_kept() {
    let product = start_with_store(&[]).await;
    let row = json!({
        "name": "read_file", "description": "An earlier tool.", "endpoint": {"urlTemplate": "https://a.example/"},
        "parameters": {"type": "object", "properties": {}},
    });
    let definitions = &product.store.definitions;
    definitions.create(DefinitionKind::Tool, "t1", "read_file", &row, SystemTime::now()).await.unwrap();
    let created = product.app.post("/api/admin/agents", &json!({"name": "a", "tools": [{"tool": "read_file"}]})).await;
    let id = created.json()["id"].as_str().unwrap().to_owned();
    let tools = product.app.send("GET", "/api/tools", &[("x-agent-id", id.as_str())], "").await.ok();
    let tool = &tools["tools"][0];
    assert_eq!((&tool["description"], &tool["category"]), (&json!("An earlier tool."), &json!("custom")));
    assert_eq!((&tool["internal"], tool.get("version")), (&json!(false), None));
}
