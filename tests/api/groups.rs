//! Groups: what is for another group looks like a missing one at every route.

use std::fs;
use std::time::SystemTime;

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeModel, MODEL};
use tempfile::TempDir;

use crate::auth::{AppWithStore, start_with_api_keys_and};
use crate::usage::{PRICE, rejected_turns};

/// Both groups; each has an agent and a model of its own.
const GROUPS: [&str; 2] = ["legal", "sales"];

/// The product with two groups that must not see each other's.
struct GroupApp {
    product: AppWithStore,
    admin: Client,
    /// A member of each group.
    members: [Client; 2],
    /// The id of each group's agent.
    agents: [String; 2],
    models: [FakeModel; 2],
    documents: TempDir,
}

impl GroupApp {
    async fn start() -> Self {
        let models = [FakeModel::start().await, FakeModel::start().await];
        for model in &models {
            model.respond_with(|_| Completion::of(["好。"]));
        }
        let rows = [0, 1].map(|at| model_row(GROUPS[at], &models[at]));
        let documents = TempDir::new().unwrap();
        for group in GROUPS {
            let folder = documents.path().join(group);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("plan.md"), format!("The plan of {group}.\n")).unwrap();
        }
        fs::write(documents.path().join("all.md"), "The plan of everybody.\n").unwrap();
        let settings = [
            ("MODELS", json!(rows).to_string()),
            ("DOCUMENTS_DIR", documents.path().to_str().unwrap().to_owned()),
            ("DOCUMENT_GROUPS", json!({"legal/": ["legal"], "sales/": ["sales"]}).to_string()),
            ("ARTICLES", "yes".to_owned()),
            ("PROMPT_LANGUAGE", "en".to_owned()),
        ];
        let product = start_with_api_keys_and(&settings.each_ref().map(|(name, value)| (*name, value.as_str()))).await;
        product.app.model.respond_with(|_| Completion::of(["好。"]));
        let admin = product.member("root", true, &[]).await;
        let members = [product.member("ann", false, &["legal"]).await, product.member("bob", false, &["sales"]).await];
        let mut agents = [String::new(), String::new()];
        for (id, group) in agents.iter_mut().zip(GROUPS) {
            let agent = json!({"name": format!("canary of {group}"), "groups": [group]});
            let created = admin.post("/api/admin/agents", &agent).await.json();
            created["id"].as_str().unwrap().clone_into(id);
            let article = json!({"title": format!("{group} plan"), "url": format!("https://{group}.example/"), "text": "What is planned.", "groups": [group]});
            assert_eq!(admin.post("/api/admin/articles", &article).await.json()["groups"], json!([group]));
        }
        Self { product, admin, members, agents, models, documents }
    }
}

impl GroupApp {
    /// Runs a turn of the agent in which the model makes a call; returns what the user and the model read about it.
    async fn call(&self, client: &Client, agent: &str, name: &str, arguments: &Value) -> (Value, String) {
        let call = format!("<tool_call>{}</tool_call>", json!({"name": name, "arguments": arguments}));
        let model = &self.product.app.model;
        let before = model.requests().len();
        model.queue_replies([Completion::of([call]), Completion::of(["Done."])]);
        let turn = client.chat(&json!({"message": "What is planned?", "agentId": agent, "modelType": "openai"})).await;
        let mut result = turn.events_of("tool_result")[0].clone();
        for own in ["id", "durationMs"] {
            result.as_object_mut().unwrap().remove(own);
        }
        (result, model.wait_for_request(before + 2).await.last_message())
    }
}

/// A row of `MODELS` for a group.
fn model_row(group: &str, model: &FakeModel) -> Value {
    let name = format!("canary-{group}");
    json!({"name": name, "baseUrl": model.url(), "apiKeyVar": "OPENAI_API_KEY", "model": MODEL, "onlyFor": [group]})
}

/// A request: method, path, the header `X-Agent-ID` and body.
type Request = (&'static str, String, Option<String>, Value);

/// Every request that names an agent.
fn requests_for_agent(id: &str, conversation: &str) -> Vec<Request> {
    let (name, header) = (format!("agent:{id}"), || Some(id.to_owned()));
    let regenerate = format!("/api/conversations/{conversation}/regenerate");
    vec![
        ("GET", "/api/tools".to_owned(), header(), Value::Null),
        ("POST", "/api/chat".to_owned(), header(), json!({"message": "问"})),
        ("POST", "/api/chat".to_owned(), None, json!({"message": "问", "agentId": id})),
        ("POST", "/api/agent".to_owned(), header(), json!({"message": "问"})),
        ("POST", "/api/agent".to_owned(), None, json!({"message": "问", "agentId": id})),
        ("POST", regenerate.clone(), header(), json!({})),
        ("POST", regenerate, None, json!({"agentId": id})),
        ("POST", "/api/ui/chat".to_owned(), header(), ui_chat(&json!({}))),
        ("POST", "/api/ui/chat".to_owned(), None, ui_chat(&json!({"agentId": id}))),
        ("POST", "/v1/chat/completions".to_owned(), None, completion(&name)),
        ("GET", format!("/v1/models/{name}"), None, Value::Null),
    ]
}

/// Every request that names a model.
fn requests_for_model(name: &str, conversation: &str) -> Vec<Request> {
    let regenerate = format!("/api/conversations/{conversation}/regenerate");
    vec![
        ("POST", "/api/chat".to_owned(), None, json!({"message": "问", "modelType": name})),
        ("POST", "/api/agent".to_owned(), None, json!({"message": "问", "agentId": "default", "modelType": name})),
        ("POST", regenerate, None, json!({"modelType": name})),
        ("POST", "/api/ui/chat".to_owned(), None, ui_chat(&json!({"modelType": name}))),
        ("POST", "/v1/chat/completions".to_owned(), None, completion(name)),
        ("GET", format!("/v1/models/{name}"), None, Value::Null),
    ]
}

fn ui_chat(more: &Value) -> Value {
    let message = json!({"role": "user", "id": "u", "parts": [{"type": "text", "text": "问"}]});
    let mut body = json!({"id": "c", "messages": [message], "trigger": "submit-message"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn completion(model: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": "问"}]})
}

async fn send(client: &Client, (method, path, agent, body): &Request) -> ApiResponse {
    let mut headers = vec![("content-type", "application/json")];
    headers.extend(agent.as_deref().map(|agent| ("x-agent-id", agent)));
    let body = if body.is_null() { String::new() } else { body.to_string() };
    client.send(method, path, &headers, body).await
}

/// Status and body of a rejection, which must not name anything of this group.
fn rejection(answer: &ApiResponse, group: &str) -> (u16, Value) {
    assert!(!answer.text().contains(group) && answer.status >= 400, "{}", answer.text());
    let is_json = answer.header("content-type") == "application/json";
    (answer.status, if is_json { answer.error_body() } else { json!(answer.text()) })
}

/// Sends each request for the caller's own, for that of another group, which must not show, and for a missing one.
async fn check_requests(client: &Client, group: &str, requests: [Vec<Request>; 3]) {
    let [own, foreign, missing] = requests;
    for ((own, foreign), missing) in own.iter().zip(&foreign).zip(&missing) {
        assert_eq!(send(client, own).await.status, 200, "{own:?}");
        let refused = rejection(&send(client, foreign).await, group);
        assert_eq!(refused, rejection(&send(client, missing).await, group), "{foreign:?}");
    }
}

#[tokio::test]
async fn agents_and_models_exist_only_for_their_group() {
    let app = GroupApp::start().await;
    let mut conversations = Vec::new();
    for member in &app.members {
        conversations.push(member.send_message("问").await.conversation_id());
    }
    for (own, foreign) in [(0, 1), (1, 0)] {
        let (client, conversation) = (&app.members[own], conversations[own].as_str());
        let agents = [app.agents[own].as_str(), &app.agents[foreign], "nobody"];
        check_requests(client, GROUPS[foreign], agents.map(|id| requests_for_agent(id, conversation))).await;
        let models = [own, foreign].map(|at| format!("canary-{}", GROUPS[at]));
        let models = [models[0].as_str(), &models[1], "nobody"];
        check_requests(client, GROUPS[foreign], models.map(|name| requests_for_model(name, conversation))).await;
        for path in ["/api/agents", "/api/models", "/v1/models"] {
            let listed = client.get(path).await.text();
            assert!(!listed.contains(GROUPS[foreign]) && !listed.contains(&app.agents[foreign]), "{path}: {listed}");
            assert!(listed.contains(GROUPS[own]) || listed.contains(&app.agents[own]), "{path}: {listed}");
        }
    }
    let unnamed = app.product.member("eve", false, &["Legal", "other"]).await;
    for path in ["/api/agents", "/api/models", "/v1/models"] {
        assert!(!unnamed.get(path).await.text().contains("canary"), "{path}");
        assert_eq!(app.admin.get(path).await.text().matches("legal").count(), 1, "administrators use everything");
    }
}

#[tokio::test]
async fn built_in_agents_may_be_for_a_group() {
    let app = GroupApp::start().await;
    let limited = json!({"name": "Default", "groups": ["legal"]});
    assert_eq!(app.admin.put("/api/admin/agents/default", &limited).await.ok()["groups"], json!(["legal"]));
    let [ann, bob] = &app.members;
    assert_eq!(ann.post("/api/chat", &json!({"message": "问", "stream": false})).await.status, 200);
    let refused = bob.post("/api/chat", &json!({"message": "问"})).await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    let message = format!("There is no such agent; there is: documents, {}", app.agents[1]);
    assert_eq!(refused.json()["error"]["message"], message);
    assert!(!bob.get("/api/agents").await.text().contains("\"default\",\"name\""));
    assert_eq!(bob.get("/api/tools").await.status, 400);
}

#[tokio::test]
async fn agent_model_is_used_only_by_its_group() {
    let app = GroupApp::start().await;
    let agent = json!({"name": "both", "model": "canary-legal"});
    let id = app.admin.post("/api/admin/agents", &agent).await.json()["id"].clone();
    for (member, expected) in app.members.iter().zip(["canary-legal", "openai"]) {
        let turn = member.chat(&json!({"message": "问", "agentId": id})).await;
        assert_eq!(turn.0[0]["model"], expected);
    }
    assert_eq!(app.models.each_ref().map(|model| model.requests().len()), [1, 0]);
}

#[tokio::test]
async fn fallback_and_default_skip_models_of_other_groups() {
    let (limited, open) = (FakeModel::start().await, FakeModel::start().await);
    let mut rows = [model_row("legal", &limited), model_row("open", &open)];
    rows[1]["onlyFor"] = Value::Null;
    rows[1]["fallback"] = "canary-legal".into();
    rows[0]["fallback"] = "last".into();
    let last = FakeModel::start().await;
    let row = json!({"name": "last", "baseUrl": last.url(), "apiKeyVar": "OPENAI_API_KEY", "model": MODEL});
    let models = json!([rows[0], rows[1], row]).to_string();
    let settings = [("MODELS", models.as_str()), ("OPENAI_MODEL", ""), ("DEFAULT_MODEL", "canary-legal")];
    let product = start_with_api_keys_and(&settings).await;
    let (ann, bob) = (product.member("ann", false, &["legal"]).await, product.member("bob", false, &[]).await);
    open.respond_with(|_| support::Reply::json(500, &json!({})));
    limited.respond_with(|_| Completion::of(["限"]));
    last.respond_with(|_| Completion::of(["末"]));
    assert_eq!(ann.send_message("问").await.content(), "限", "it is the default of its group");
    assert_eq!(bob.send_message("问").await.content(), "末", "bob's default is the first that he may use");
    let named = json!({"message": "问", "modelType": "canary-open"});
    assert_eq!((ann.chat(&named).await.content(), bob.chat(&named).await.content()), ("限".into(), "末".into()));
    assert_eq!(limited.requests().len(), 2);
    let defaults = async |client: &Client| {
        let models = client.get("/api/models").await.ok()["models"].clone();
        let rows = models.as_array().unwrap().iter().filter(|row| row["default"] == true);
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!([defaults(&ann).await, defaults(&bob).await], [["canary-legal"], ["canary-open"]]);
}

#[tokio::test]
async fn caller_without_any_model_gets_an_error() {
    let model = FakeModel::start().await;
    let models = json!([model_row("legal", &model)]).to_string();
    let product = start_with_api_keys_and(&[("MODELS", &models), ("OPENAI_MODEL", "")]).await;
    let bob = product.member("bob", false, &["sales"]).await;
    let refused = bob.post("/api/chat", &json!({"message": "问"})).await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
    assert!(refused.text().contains("No model is configured for this caller"), "{}", refused.text());
    assert!(!refused.text().contains("canary"));
}

#[tokio::test]
async fn documents_exist_only_for_their_group() {
    let app = GroupApp::start().await;
    for (own, foreign) in [(0, 1), (1, 0)] {
        let (client, own, foreign) = (&app.members[own], GROUPS[own], GROUPS[foreign]);
        for (tool, arguments) in [
            ("list_directory", json!({})),
            ("glob_search", json!({"pattern": "*"})),
            ("grep_search", json!({"pattern": "plan"})),
        ] {
            let (_, read) = app.call(client, "documents", tool, &arguments).await;
            assert!(read.contains(own) && read.contains("all.md") && !read.contains(foreign), "{tool}: {read}");
        }
        let of = |folder: &str| {
            let file = format!("{folder}/plan.md");
            [
                ("list_directory", json!({"path": folder})),
                ("glob_search", json!({"pattern": "*", "path": folder})),
                ("glob_search", json!({"pattern": format!("{folder}/**")})),
                ("grep_search", json!({"pattern": "plan", "path": folder})),
                ("grep_search", json!({"pattern": "plan", "path": file})),
                ("grep_search", json!({"pattern": format!("of {folder}")})),
                ("read_file", json!({"file_path": file})),
                ("read_file", json!({"file_path": file.to_uppercase()})),
            ]
        };
        for ((tool, foreign), (_, missing)) in of(foreign).iter().zip(&of("none!")) {
            let result = app.call(client, "documents", tool, foreign).await;
            assert_eq!(result, app.call(client, "documents", tool, missing).await, "{tool} {foreign}");
        }
        let path = |folder| format!("/api/documents/{folder}/plan.md");
        assert_eq!(client.get(&path(own)).await.text(), format!("The plan of {own}.\n"));
        let refused = rejection(&client.get(&path(foreign)).await, foreign);
        assert_eq!(refused, rejection(&client.get(&path("none")).await, foreign));
        assert_eq!(app.admin.get(&path(foreign)).await.status, 200, "administrators read everything");
    }
    assert!(app.documents.path().join("legal/plan.md").exists());
}

#[tokio::test]
async fn articles_exist_only_for_their_group() {
    let app = GroupApp::start().await;
    let [ann, bob] = &app.members;
    for (client, group) in [(ann, "legal"), (bob, "sales")] {
        let (result, read) = app.call(client, "default", "search_articles", &json!({"query": "planned"})).await;
        let titles: Vec<&str> =
            result["sources"].as_array().unwrap().iter().map(|source| source["title"].as_str().unwrap()).collect();
        assert_eq!(titles, [format!("{group} plan")], "{read}");
        assert_eq!(GROUPS.map(|name| read.contains(&format!("{name} plan"))), GROUPS.map(|name| name == group));
    }
    let (result, _) = app.call(&app.admin, "default", "search_articles", &json!({"query": "planned"})).await;
    assert_eq!(result["sources"].as_array().unwrap().len(), 2, "administrators find everything");
    let listed = app.admin.get("/api/admin/articles").await.ok()["articles"].clone();
    let ids: Vec<&str> = listed.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap()).collect();
    for id in ids {
        assert_eq!(ann.get(&format!("/api/admin/articles/{id}")).await.status, 403);
    }
    let both = json!({"title": "a", "text": "b", "owner": "ann", "groups": ["legal"]});
    let refused = app.admin.post("/api/admin/articles", &both).await;
    assert_eq!(refused.error(), (400, "invalid_request".to_owned()));
}

#[tokio::test]
async fn f141_members_share_the_budgets_of_their_groups() {
    let budgets = r#"{"legal":{"dailyTokens":20},"sales":{"dailyCost":"0.00018"}}"#;
    let product = start_with_api_keys_and(&[PRICE, ("GROUP_BUDGETS", budgets)]).await;
    product.app.model.respond_with(|_| Completion::of(["好。"]));
    let member = async |name: &str, groups: &[&str]| product.member(name, name == "root", groups).await;
    let (ann, carol, bob) =
        (member("ann", &["legal"]).await, member("carol", &["legal"]).await, member("bob", &["sales"]).await);
    let both = member("eve", &["a", "legal", "sales"]).await;
    ann.send_message("一").await;
    let completion = completion("openai");
    assert_eq!(carol.post("/v1/chat/completions", &completion).await.status, 200);
    let tokens = "Your group's token budget for today is used up";
    for client in [&ann, &carol, &both, &member("root", &["legal"]).await] {
        assert_eq!(rejected_turns(client).await, [tokens; 2]);
    }
    bob.send_message("二").await;
    assert_eq!(rejected_turns(&bob).await, ["Your group's cost budget for today is used up"; 2]);
    member("dan", &["other"]).await.send_message("三").await;
    let usage = both.get("/api/usage").await.ok();
    let names: Vec<&str> =
        usage["groups"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names, GROUPS);
    let [legal, sales] = [0, 1].map(|at| usage["groups"][at]["budgets"].clone());
    assert_eq!((&legal["tokens"]["limit"], &legal["tokens"]["used"]), (&json!(20), &json!(30)));
    assert_eq!((&sales["costMicros"]["limit"], &sales["costMicros"]["used"]), (&json!(180), &json!(180)));
    assert_eq!((&usage["budgets"], &usage["today"]["turns"]), (&json!({}), &json!(0)));
    let stored = product.store.ledger.day(store::UsageScope::Group("other"), store::Day::of(SystemTime::now())).await;
    assert_eq!(stored.unwrap().turns, 0, "a group without a budget costs no write");
}
