//! Models with `onlyFor`: they exist for one caller and are invisible to others.

use serde_json::{Value, json};
use support::{ApiResponse, Client, Completion, FakeModel, MODEL, Reply, TestApp};

use crate::auth::start_with_api_keys_and;

const JSON: (&str, &str) = ("content-type", "application/json");

/// The product with two more models: `mine`, only for `ada`, and its fallback `spare`, for every caller.
struct PrivateModelApp {
    app: TestApp,
    mine: FakeModel,
    spare: FakeModel,
}

impl PrivateModelApp {
    async fn start() -> Self {
        let (mine, spare) = (FakeModel::start().await, FakeModel::start().await);
        let models = models_setting(&mine, &spare);
        let app = TestApp::start_with(&[("MODELS", &models)]).await;
        for (model, text) in [(&app.model, "公"), (&mine, "私"), (&spare, "替")] {
            model.respond_with(move |_| Completion::of([text]));
        }
        Self { app, mine, spare }
    }
}

/// A row of `MODELS`.
fn model_row(name: &str, model: &FakeModel) -> Value {
    json!({"name": name, "baseUrl": model.url(), "apiKeyVar": "OPENAI_API_KEY", "model": MODEL})
}

fn models_setting(mine: &FakeModel, spare: &FakeModel) -> String {
    let (mut mine, spare) = (model_row("mine", mine), model_row("spare", spare));
    mine["onlyFor"] = "ada".into();
    mine["fallback"] = "spare".into();
    json!([mine, spare]).to_string()
}

/// A `MODELS` setting with only `mine`.
fn private_model_setting(model: &FakeModel, only_for: &Value) -> String {
    let mut row = model_row("mine", model);
    row["onlyFor"] = only_for.clone();
    json!([row]).to_string()
}

fn names_in(list: &Value, field: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// Status and body of a rejection, which must not name the private model.
fn rejection(answer: &ApiResponse) -> (u16, Value) {
    assert!(!answer.text().contains("mine"), "{}", answer.text());
    (answer.status, answer.error_body())
}

#[tokio::test]
async fn private_model_is_listed_only_for_its_owner() {
    let PrivateModelApp { app, .. } = PrivateModelApp::start().await;
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    let own = async |client: &Client| names_in(&client.get("/api/models").await.ok()["models"], "name");
    assert_eq!(own(&ada).await, ["openai", "mine", "spare"]);
    let defaults: Vec<bool> = ada.get("/api/models").await.ok()["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["default"] == true)
        .collect();
    assert_eq!(defaults, [true, false, false]);
    let of_openai = async |client: &Client| names_in(&client.get("/v1/models").await.ok()["data"], "id");
    assert_eq!(of_openai(&ada).await, ["openai", "mine", "spare", "agent:default"]);
    for other in [&bob, &app.client(), &app.as_user("Ada"), &app.as_user("ada ada")] {
        assert_eq!(own(other).await, ["openai", "spare"]);
        assert_eq!(of_openai(other).await, ["openai", "spare", "agent:default"]);
        let found = other.get("/v1/models/mine").await;
        assert_eq!(rejection(&found), rejection(&other.get("/v1/models/nobodys").await));
        assert_eq!(found.error(), (404, "model_not_found".to_owned()));
    }
    assert_eq!(ada.get("/v1/models/mine").await.ok()["id"], "mine");
}

/// A turn for each route that takes a model's name: path and body.
fn turn_requests(conversation: &str, model: &str) -> [(String, Value); 5] {
    let message = json!({"role": "user", "id": "u", "parts": [{"type": "text", "text": "问"}]});
    [
        ("/api/chat".to_owned(), json!({"message": "问", "modelType": model})),
        ("/api/agent".to_owned(), json!({"message": "问", "modelType": model, "agentId": "default"})),
        (format!("/api/conversations/{conversation}/regenerate"), json!({"modelType": model})),
        (
            "/api/ui/chat".to_owned(),
            json!({"id": "c", "messages": [message], "trigger": "submit-message", "modelType": model}),
        ),
        ("/v1/chat/completions".to_owned(), json!({"model": model, "messages": [{"role": "user", "content": "问"}]})),
    ]
}

#[tokio::test]
async fn private_model_is_unknown_to_other_callers() {
    let PrivateModelApp { app, mine, .. } = PrivateModelApp::start().await;
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    let (of_ada, of_bob) =
        (ada.send_message("问").await.conversation_id(), bob.send_message("问").await.conversation_id());
    let pairs = turn_requests(&of_bob, "mine").into_iter().zip(turn_requests(&of_bob, "nobodys"));
    for ((path, private), (_, unknown)) in pairs {
        let refused = bob.post(&path, &private).await;
        assert_eq!(rejection(&refused), rejection(&bob.post(&path, &unknown).await), "{path}");
        assert!([400, 404].contains(&refused.status), "{path}");
    }
    let message = bob.post("/api/chat", &turn_requests(&of_bob, "mine")[0].1).await.json()["error"]["message"].clone();
    assert_eq!(message, "`modelType` names no model; there are: openai, spare");
    assert_eq!(mine.requests().len(), 0);
    for (count, (path, body)) in turn_requests(&of_ada, "mine").into_iter().enumerate() {
        let answer = ada.post(&path, &body).await;
        assert_eq!((answer.status, answer.text().contains('私')), (200, true), "{path}");
        assert_eq!(mine.requests().len(), count + 1, "{path}");
    }
    let message =
        ada.post("/api/chat", &json!({"message": "问", "modelType": "x"})).await.json()["error"]["message"].clone();
    assert_eq!(message, "`modelType` names no model; there are: openai, mine, spare");
}

#[tokio::test]
async fn without_authentication_the_body_may_name_the_owner() {
    let PrivateModelApp { app, mine, .. } = PrivateModelApp::start().await;
    let turn = app.chat(&json!({"message": "问", "modelType": "mine", "userId": "ada"})).await;
    assert_eq!((turn.content().as_str(), mine.requests().len()), ("私", 1));
    let contradicts = json!({"message": "问", "modelType": "mine", "userId": "ada"});
    assert_eq!(app.as_user("bob").post("/api/chat", &contradicts).await.status, 400, "the header wins");
}

#[tokio::test]
async fn private_model_may_have_a_public_fallback() {
    let PrivateModelApp { app, mine, spare } = PrivateModelApp::start().await;
    mine.respond_with(|_| Reply::json(500, &json!({})));
    let turn = app.as_user("ada").chat(&json!({"message": "问", "modelType": "mine"})).await;
    assert_eq!((turn.content().as_str(), turn.finish_reason(), spare.requests().len()), ("替", "stop", 1));
}

#[tokio::test]
async fn agent_with_private_model_is_rejected() {
    let PrivateModelApp { app, .. } = PrivateModelApp::start().await;
    let (ada, bob) = (app.as_user("ada"), app.as_user("bob"));
    let agent = |model: &str| json!({"name": "a", "model": model});
    let sentence = |answer: ApiResponse| (answer.status, answer.json()["error"]["message"].clone());
    let unknown = json!("`model` names no model; there are: openai, spare");
    assert_eq!(sentence(bob.post("/api/admin/agents", &agent("mine")).await), (400, unknown.clone()));
    assert_eq!(sentence(bob.put("/api/admin/agents/default", &agent("mine")).await), (400, unknown));
    let reason = json!("`model` must be a model for everybody: this one is yours alone");
    assert_eq!(sentence(ada.post("/api/admin/agents", &agent("mine")).await), (400, reason.clone()));
    assert_eq!(sentence(ada.put("/api/admin/agents/default", &agent("mine")).await), (400, reason));
    assert_eq!(ada.post("/api/admin/agents", &agent("spare")).await.status, 201);
}

#[tokio::test]
async fn agent_with_newly_private_model_uses_default_model() {
    let model = FakeModel::start().await;
    let mut app = TestApp::start_on_disk_with(&[("MODELS", &private_model_setting(&model, &Value::Null))]).await;
    let agent = app.post("/api/admin/agents", &json!({"name": "a", "model": "mine"})).await.json()["id"].clone();
    app.restart_with(&[("MODELS", &private_model_setting(&model, &"ada".into()))]).await;
    model.respond_with(|_| Completion::of(["私"]));
    app.model.respond_with(|_| Completion::of(["公"]));
    let named = format!("agent:{}", agent.as_str().unwrap());
    for (user, text) in [("bob", "公"), ("ada", "私")] {
        let client = app.as_user(user);
        let turn = client.chat(&json!({"message": "问", "agentId": agent})).await;
        assert_eq!(turn.content(), text);
        let request = json!({"model": named, "messages": [{"role": "user", "content": "问"}]});
        let answer = client.post("/v1/chat/completions", &request).await.ok();
        assert_eq!(answer["choices"][0]["message"]["content"], text);
    }
}

#[tokio::test]
async fn only_private_models_leave_no_default_or_demo() {
    let model = FakeModel::start().await;
    model.respond_with(|_| Completion::of(["私"]));
    let row = private_model_setting(&model, &"ada".into());
    let app = TestApp::start_with(&[("OPENAI_MODEL", ""), ("MODELS", &row)]).await;
    assert_eq!(app.get("/api/models").await.ok(), json!({"models": []}));
    let nothing = app.post("/api/chat", &json!({"message": "问"})).await;
    let none = "No model is configured for this caller. The operator configures one with BEDROCK_MODEL, ANTHROPIC_API_KEY, \
                GEMINI_API_KEY, ARK_…, OPENAI_…, OLLAMA_… or MODELS, or adds the caller to a group that has one.";
    assert_eq!(nothing.json()["error"]["message"], none);
    let named = app.post("/api/chat", &json!({"message": "问", "modelType": "mine"})).await;
    assert_eq!(named.json()["error"]["message"], none);
    let ada = app.as_user("ada");
    let without = ada.post("/api/chat", &json!({"message": "问"})).await;
    assert_eq!(without.json()["error"]["message"], "There is no default model: `modelType` must be one of: mine");
    assert_eq!(ada.chat(&json!({"message": "问", "modelType": "mine"})).await.content(), "私");
}

#[tokio::test]
async fn f121_private_model_requires_its_authenticated_owner() {
    let (mine, spare) = (FakeModel::start().await, FakeModel::start().await);
    let product = start_with_api_keys_and(&[("MODELS", &models_setting(&mine, &spare))]).await;
    mine.respond_with(|_| Completion::of(["私"]));
    let (ada, bob) = (product.create_key_text("ada").await, product.create_key_text("bob").await);
    let body = json!({"message": "问", "modelType": "mine", "userId": "ada", "stream": false}).to_string();
    for (key, status) in [(&bob, 400), (&ada, 200)] {
        let headers = [("x-api-key", key.as_str()), ("x-user-id", "ada"), JSON];
        assert_eq!(product.app.send("POST", "/api/chat", &headers, body.as_str()).await.status, status);
        let found = product.app.send("GET", "/v1/models/mine", &headers, "").await;
        assert_eq!(found.status == 200, status == 200);
        let listed = product.app.send("GET", "/api/models", &headers, "").await.ok();
        assert_eq!(names_in(&listed["models"], "name").contains(&"mine".to_owned()), status == 200);
    }
    assert_eq!(mine.requests().len(), 1);
}
