use serde_json::{Value, json};

use crate::server::FakeServer;
use crate::{Reply, Request};

/// The fake Ollama's model.
pub const OLLAMA_MODEL: &str = "scripted:8b";

/// Ollama on loopback: plays a script on `/api/chat`, reports the model's capabilities on `/api/show`, and records its
/// requests. Every request must name the model and hold no key.
pub struct FakeOllama(FakeServer);

impl FakeOllama {
    /// Starts a server whose model has these capabilities, such as `completion` and `tools`.
    pub async fn start(capabilities: &[&str]) -> Self {
        let fake = Self(FakeServer::start("fake Ollama", rules).await);
        let body = json!({ "capabilities": capabilities, "details": { "family": "scripted" } });
        fake.set_show_reply(Reply::json(200, &body));
        fake
    }

    /// Sets the reply of `/api/show`.
    pub fn set_show_reply(&self, reply: Reply) {
        self.0.set_path_reply("/api/show", reply);
    }

    /// The root URL for the settings.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.address)
    }

    /// Queues replies for the next chats, one each.
    pub fn queue_replies(&self, replies: impl IntoIterator<Item = Reply>) {
        self.0.queue_replies(replies);
    }

    /// A stream of these lines.
    pub fn line_stream(lines: impl IntoIterator<Item = Value>) -> Reply {
        let stream = Reply::status(200).header("content-type", "application/x-ndjson");
        lines.into_iter().fold(stream, |stream, line| stream.bytes(format!("{line}\n")))
    }

    /// A line with a message's next part.
    pub fn message_line(message: &Value) -> Value {
        json!({ "model": OLLAMA_MODEL, "created_at": "2026-01-02T03:04:05Z", "message": message, "done": false })
    }

    /// The last line, with 10 input and 5 output tokens.
    pub fn done_line(reason: &str) -> Value {
        json!({
            "model": OLLAMA_MODEL, "message": { "role": "assistant", "content": "" }, "done": true,
            "done_reason": reason, "prompt_eval_count": 10, "eval_count": 5,
        })
    }

    /// The bodies of the chats so far.
    pub fn chat_bodies(&self) -> Vec<Value> {
        self.bodies("/api/chat")
    }

    /// The number of requests to `/api/show`.
    pub fn show_request_count(&self) -> usize {
        self.bodies("/api/show").len()
    }

    fn bodies(&self, path: &str) -> Vec<Value> {
        self.0.requests().iter().filter(|request| request.path == path).map(Request::json).collect()
    }
}

fn rules(request: &Request) -> Vec<(bool, &'static str)> {
    let body = request.json();
    let chat = request.path == "/api/chat";
    vec![
        (request.method == "POST" && (chat || request.path == "/api/show"), "the route is the wire's"),
        (body["model"] == OLLAMA_MODEL, "the model is the configured one"),
        (!chat || body["stream"] == true, "the answer is streamed"),
        (request.header("authorization").is_empty(), "no key is sent where none is set"),
    ]
}
