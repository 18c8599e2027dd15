use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use dynoxide::Database;
use platform::settings::Settings;
use runtime_api::{Function, FunctionResponse, HttpEvent, RuntimeApi};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use store::{ApiKey, NewKey, Store, TableNames};
use support::{Completion, FakeModel, FakeTavily, MODEL, MODEL_KEY, SEARCH_KEY};
use tokio::net::TcpListener;

/// The binary that Cargo built for these tests, or another build of it, such as a release's: `CHAT_BINARY`.
pub(crate) fn binary() -> String {
    std::env::var("CHAT_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_chat").to_owned())
}

/// The time of an invocation, longer than any test needs.
pub(crate) const INVOCATION_TIME: Duration = Duration::from_mins(5);

/// One instance of the function with a model, a search and a database of its own.
pub(crate) struct Instance {
    pub(crate) api: RuntimeApi,
    pub(crate) function: Function,
    pub(crate) model: FakeModel,
    pub(crate) search: FakeTavily,
    settings: HashMap<String, String>,
}

/// Another instance of the same function, which reads what is stored.
pub(crate) struct Sibling {
    api: RuntimeApi,
    _function: Function,
}

impl Instance {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// Runs a turn that searches and then answers `茶是一种饮料。`, freezes the instance, and returns the turn's events.
    pub(crate) async fn run_search_turn(&self) -> Vec<Value> {
        self.model.queue_replies([
            Completion::of([r#"<tool_call>{"tool": "search_web", "query": "茶"}</tool_call>"#]),
            Completion::of(["茶是一种饮料。"]),
        ]);
        let mut answer = self.send_message("茶是什么？").await.expect_streamed();
        answer.prelude().await;
        let events = events(&answer.rest().await);
        self.function.freeze();
        events
    }

    /// Starts one with more settings, which override the defaults.
    pub(crate) async fn start_with(more: &[(&str, &str)]) -> Self {
        let (model, search) = (FakeModel::start().await, FakeTavily::start().await);
        let (model_url, search_url, database) = (model.url(), search.url(), start_database().await);
        let defaults = [
            ("AUTH", "none"),
            ("AUTH_NONE_ON_LAMBDA", "yes"),
            ("ALLOW_PRIVATE_UPSTREAMS", "yes"),
            ("AWS_ENDPOINT_URL_DYNAMODB", &database),
            ("OPENAI_BASE_URL", &model_url),
            ("OPENAI_MODEL", MODEL),
            ("OPENAI_API_KEY", MODEL_KEY),
            ("TITLE_MODEL", "none"),
            ("TAVILY_BASE_URL", &search_url),
            ("TAVILY_API_KEY", SEARCH_KEY),
        ];
        let settings = defaults.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings: HashMap<_, _> = settings.collect();
        let (api, function) = start(&settings).await;
        Self { api, function, model, search, settings }
    }

    /// Invokes the function with a request and waits for the response or its beginning.
    pub(crate) async fn call(&self, event: &HttpEvent) -> FunctionResponse {
        self.api.invoke(event, INVOCATION_TIME).answer().await
    }

    /// Starts a chat turn with this message.
    pub(crate) async fn send_message(&self, message: &str) -> FunctionResponse {
        self.call(&HttpEvent::post("/api/chat", &json!({ "message": message }))).await
    }

    /// Starts another instance over the same database.
    pub(crate) async fn sibling(&self) -> Sibling {
        let (api, function) = start(&self.settings).await;
        Sibling { api, _function: function }
    }
}

impl Sibling {
    /// A conversation with its messages, as it is stored.
    pub(crate) async fn conversation(&self, id: &Value) -> Value {
        let path = format!("/api/conversations/{}", id.as_str().unwrap());
        let mut answer = self.api.invoke(&HttpEvent::get(&path), INVOCATION_TIME).answer().await.expect_streamed();
        assert_eq!(answer.prelude().await.status, 200);
        serde_json::from_str(&answer.rest().await).unwrap()
    }

    /// The stored answer in a conversation of one turn: its content and its status.
    pub(crate) async fn stored_answer(&self, id: &Value) -> (Value, Value) {
        let answer = self.conversation(id).await["messages"][1].take();
        (answer["content"].clone(), answer["status"].clone())
    }
}

async fn start(settings: &HashMap<String, String>) -> (RuntimeApi, Function) {
    let api = RuntimeApi::start().await;
    let pairs = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let function = Function::start(binary(), &api.address(), pairs);
    (api, function)
}

/// Starts a DynamoDB with both tables, empty, that runs as long as the test, and returns its endpoint.
pub(crate) async fn start_database() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", &endpoint)]);
    let names = TableNames::from_settings(&settings).unwrap();
    store::create_tables(&store::sdk_config(&settings).unwrap(), &names).await.unwrap();
    endpoint
}

/// Creates an API key for this owner.
pub(crate) async fn create_key(database: &str, owner: &str) -> String {
    let settings = Settings::from_pairs([("AWS_ENDPOINT_URL_DYNAMODB", database)]);
    let store = Store::new(&store::sdk_config(&settings).unwrap(), TableNames::from_settings(&settings).unwrap());
    let (key, new) =
        (ApiKey::generate().unwrap(), NewKey { owner: owner.to_owned(), administrator: false, ..NewKey::default() });
    store.keys.create(&key, &new, SystemTime::now()).await.unwrap();
    key.text().expose_secret().to_owned()
}

/// Parses the events of a whole stream, which must end with the terminator.
pub(crate) fn events(stream: &str) -> Vec<Value> {
    let frames = stream.strip_suffix("data: [DONE]\n\n").unwrap_or_else(|| panic!("a cut stream: {stream}"));
    let data = frames.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The only event of a type; panics unless there is exactly one.
pub(crate) fn only<'e>(events: &'e [Value], kind: &str) -> &'e Value {
    let mut found = events.iter().filter(|event| event["type"] == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind} in {events:?}"));
    assert!(found.next().is_none(), "more than one {kind} in {events:?}");
    first
}
