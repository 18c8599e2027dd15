use serde_json::Value;

use crate::server::FakeServer;
use crate::{Reply, Request};

/// The key that the product is configured to send to the fake model.
pub const MODEL_KEY: &str = "sk-canary-model-5d1c0a77";

/// The fake model's name at its endpoint.
pub const MODEL: &str = "scripted-1";

/// A scripted OpenAI-compatible endpoint on loopback that records its requests.
///
/// Every request must carry the key, name the model, stream, and hold messages that a strict endpoint accepts. Dropping
/// the fake panics when a request broke one of these rules, so every test checks them.
pub struct FakeModel(FakeServer);

impl FakeModel {
    /// Starts an endpoint without a script.
    pub async fn start() -> Self {
        Self(FakeServer::start("fake model", rules).await)
    }

    /// The base URL for the settings.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.0.address)
    }

    /// Queues replies for the next requests, one each.
    pub fn queue_replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.queue_replies(replies);
    }

    /// Sets the function that answers requests when the queue is empty.
    pub fn respond_with(&self, responder: impl Fn(&ModelRequest) -> Reply + Send + 'static) {
        self.0.respond_with(move |request| responder(&ModelRequest::from(request)));
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.requests().iter().map(ModelRequest::from).collect()
    }

    /// Waits for `count` requests and returns the last of them.
    pub async fn wait_for_request(&self, count: usize) -> ModelRequest {
        self.0.wait_for_requests(count).await;
        self.requests().swap_remove(count - 1)
    }

    /// Waits until the product has disconnected from `count` responses before their end.
    pub async fn wait_for_hang_ups(&self, count: usize) {
        self.0.wait_for_hang_ups(count).await;
    }

    /// The number of responses from which the product disconnected before their end.
    pub fn hang_up_count(&self) -> usize {
        self.0.hang_up_count()
    }
}

/// A request to the fake model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// The HTTP request.
    pub request: Request,
    /// The parsed body.
    pub body: Value,
}

impl From<&Request> for ModelRequest {
    fn from(request: &Request) -> Self {
        Self { request: request.clone(), body: request.json() }
    }
}

impl ModelRequest {
    /// Role and text of each message, the system prompt included; pictures are in the body only.
    pub fn messages(&self) -> Vec<(String, String)> {
        let text = |message: &Value, key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
        let content = |message: &Value| {
            let parts = message["content"].as_array().into_iter().flatten().map(|part| text(part, "text"));
            text(message, "content") + &parts.collect::<String>()
        };
        messages.iter().map(|message| (text(message, "role"), content(message))).collect()
    }

    /// Role and content of each message after the system prompt.
    pub fn dialogue(&self) -> Vec<(String, String)> {
        self.messages().into_iter().filter(|(role, _)| role != "system").collect()
    }

    /// The system prompt.
    pub fn system_prompt(&self) -> String {
        self.messages().into_iter().find(|(role, _)| role == "system").unwrap_or_default().1
    }

    /// The content of the last message.
    pub fn last_message(&self) -> String {
        self.messages().pop().unwrap_or_default().1
    }

    /// Whether the last message holds tool results rather than the user's message.
    pub fn has_tool_results(&self) -> bool {
        ["<search_results>", "<search_error>", "<tool_result "].iter().any(|tag| self.last_message().contains(tag))
    }
}

fn rules(request: &Request) -> Vec<(bool, &'static str)> {
    let body = request.json();
    let tools = body.get("tools");
    let some_or_absent = tools.is_none_or(|tools| tools.as_array().is_some_and(|list| !list.is_empty()));
    vec![
        ((&*request.method, &*request.path) == ("POST", "/v1/chat/completions"), "the route is the wire's"),
        (request.header("authorization") == format!("Bearer {MODEL_KEY}"), "the key is the configured one"),
        (request.header("content-type") == "application/json", "the body is JSON"),
        (body["model"].as_str().is_some_and(|model| model.ends_with(MODEL)), "the model is the configured one"),
        (body["stream"] == true, "the answer is streamed"),
        (some_or_absent, "tools are absent or some"),
        (tools.is_some() || body.get("tool_choice").is_none(), "a tool choice comes with tools"),
        (tools.is_some() || body.get("parallel_tool_calls").is_none(), "parallel calls come with tools"),
        (has_valid_order(&body["messages"]), "messages alternate, calls have their results, and a question is the end"),
        (tools.is_some() || !body["messages"].to_string().contains("\"tool_calls\""), "calls come with tools"),
    ]
}

/// Whether the messages are in a valid order: an optional system prompt, then user and assistant alternately, none
/// empty. A result follows for each call, in the order of the calls. A user message or results come last.
fn has_valid_order(messages: &Value) -> bool {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut rest = messages.iter().peekable();
    let _ = rest.next_if(|message| message["role"] == "system");
    let mut last = "assistant";
    while let Some(message) = rest.next() {
        let role = message["role"].as_str().unwrap_or_default();
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has_parts = message["content"].as_array().is_some_and(|parts| !parts.is_empty());
        let has_content = has_parts || message["content"].as_str().is_some_and(|content| !content.is_empty());
        let has_results = calls.iter().all(|call| rest.next().is_some_and(|result| is_result_of(result, call)));
        let is_role_allowed = role != last && ["user", "assistant"].contains(&role);
        if !is_role_allowed || !has_results || (!has_content && calls.is_empty()) {
            return false;
        }
        last = if calls.is_empty() { role } else { "tool" };
    }
    last != "assistant"
}

fn is_result_of(result: &Value, call: &Value) -> bool {
    result["role"] == "tool" && result["tool_call_id"] == call["id"] && result["content"].is_string()
}
