use serde_json::Value;

use crate::server::FakeServer;
use crate::{Reply, Request};

/// The key that the product is configured to send to the fake model.
pub const MODEL_KEY: &str = "sk-canary-model-5d1c0a77";

/// The fake model's name on its own wire.
pub const MODEL: &str = "scripted-1";

/// An OpenAI-compatible endpoint on loopback that plays a script and records what it is asked.
///
/// Every request must carry the key, name the model, stream, and hold messages that a strict endpoint accepts; what
/// does not is told when the fake is dropped, so every test checks it.
pub struct FakeModel(FakeServer);

impl FakeModel {
    /// Starts one without a script.
    pub async fn start() -> Self {
        Self(FakeServer::start("fake model", rules).await)
    }

    /// The base URL for the settings.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.0.address)
    }

    /// Answers the next requests with these replies, one each.
    pub fn replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.queue(replies);
    }

    /// Answers every request that no scripted reply is left for.
    pub fn answer(&self, answer: impl Fn(&ModelRequest) -> Reply + Send + 'static) {
        self.0.answer(move |request| answer(&ModelRequest::from(request)));
    }

    /// What was asked so far.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.log().iter().map(ModelRequest::from).collect()
    }

    /// Waits until the model was asked `count` times, and gives the last of these requests.
    pub async fn asked(&self, count: usize) -> ModelRequest {
        self.0.asked(count).await;
        self.requests().swap_remove(count - 1)
    }

    /// Waits until the product gave up `count` answers before their end.
    pub async fn hung_up(&self, count: usize) {
        self.0.hung_up(count).await;
    }

    /// How many answers the product gave up before their end.
    pub fn hang_ups(&self) -> usize {
        self.0.hang_ups()
    }
}

/// A request to the fake model.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    /// Names in lower case.
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
    /// Role and content of each message, the system prompt included.
    pub fn messages(&self) -> Vec<(String, String)> {
        let text = |message: &Value, key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
        messages.iter().map(|message| (text(message, "role"), text(message, "content"))).collect()
    }

    /// Role and content of each message after the system prompt.
    pub fn talk(&self) -> Vec<(String, String)> {
        self.messages().into_iter().filter(|(role, _)| role != "system").collect()
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        self.messages().into_iter().find(|(role, _)| role == "system").unwrap_or_default().1
    }

    /// The content of the last message: what the model shall answer.
    pub fn last(&self) -> String {
        self.messages().pop().unwrap_or_default().1
    }

    /// Whether this asks for an answer to a tool's result rather than to the user's words.
    pub fn brings_results(&self) -> bool {
        self.last().starts_with("以下是搜索结果，请基于这些结果回答：\n\n")
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
        (in_order(&body["messages"]), "messages alternate, calls have their results, and a question is the end"),
        (tools.is_some() || !body["messages"].to_string().contains("\"tool_calls\""), "calls come with tools"),
    ]
}

/// One system prompt at the front, then user and assistant in turn, none of them empty; calls are followed by a result
/// each, in the same order; a question or results at the end.
fn in_order(messages: &Value) -> bool {
    let messages = messages.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut rest = messages.iter().peekable();
    let _ = rest.next_if(|message| message["role"] == "system");
    let mut last = "assistant";
    while let Some(message) = rest.next() {
        let role = message["role"].as_str().unwrap_or_default();
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let says = message["content"].as_str().is_some_and(|content| !content.is_empty());
        let answered = calls.iter().all(|call| rest.next().is_some_and(|result| answers(result, call)));
        let may_speak = role != last && ["user", "assistant"].contains(&role);
        if !may_speak || !answered || (!says && calls.is_empty()) {
            return false;
        }
        last = if calls.is_empty() { role } else { "tool" };
    }
    last != "assistant"
}

fn answers(result: &Value, call: &Value) -> bool {
    result["role"] == "tool" && result["tool_call_id"] == call["id"] && result["content"].is_string()
}
