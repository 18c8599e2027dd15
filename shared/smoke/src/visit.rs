use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::answer::Answer;
use crate::turn::Turn;
use crate::{Fault, Target, Wish};

/// `CloudFront` requires it in front of a function whose URL only it may call.
const HASH: &str = "x-amz-content-sha256";

fn hash(body: &str) -> String {
    Sha256::digest(body).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

/// The state of one run of the checks.
pub(crate) struct Visit {
    pub(crate) target: Target,
    pub(crate) wish: Wish,
    /// The turn that several checks use.
    pub(crate) turn: Option<Turn>,
    /// Whether that turn has ended.
    pub(crate) ended: bool,
    /// The created conversations, which the last check deletes.
    pub(crate) made: Vec<String>,
}

impl Visit {
    pub(crate) fn new(target: Target, wish: Wish) -> Self {
        Self { target, wish, turn: None, ended: false, made: Vec::new() }
    }

    /// Sends a request with the key; returns the complete response.
    pub(crate) async fn ask(&mut self, method: Method, path: &str) -> Result<Answer, Fault> {
        self.target.answered(self.target.caller(method, path).await?, self.wish.limits.answer).await
    }

    /// Starts the first turn of a new conversation and reads its `start` event.
    pub(crate) async fn begin(&mut self, message: &str, tool: Option<&str>) -> Result<Turn, Fault> {
        let mut body = json!({ "message": message });
        if let Some(model) = &self.wish.model {
            body["modelType"] = Value::from(model.as_str());
        }
        if let Some(tool) = tool {
            body["toolChoice"] = json!({ "name": tool });
        }
        let body = body.to_string();
        let request = self.target.caller(Method::POST, "/api/chat").await?;
        let request = request.header("content-type", "application/json").header(HASH, hash(&body)).body(body);
        let mut turn = Turn::open(&self.target, request, self.wish.limits).await?;
        turn.until("`start` first", |_| true).await?;
        let (kind, id) = (turn.frames.first().map(|frame| frame.kind().to_owned()), turn.started("conversationId"));
        Fault::unless(kind.as_deref() == Some("start"), "`start` first", || format!("{kind:?}"))?;
        self.made.push(id);
        Ok(turn)
    }

    /// The last stored message of a conversation.
    pub(crate) async fn stored(&mut self, conversation: &str) -> Result<Value, Fault> {
        let answer = self.ask(Method::GET, &format!("/api/conversations/{conversation}")).await?;
        answer.must_be(200)?;
        let document = answer.json();
        let last = document.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
        last.cloned().ok_or_else(|| Fault::new("stored messages", "none"))
    }

    /// Checks that the stored answer is complete and equals `expected`.
    pub(crate) async fn must_hold(&mut self, conversation: &str, words: &str) -> Result<(), Fault> {
        let stored = self.stored(conversation).await?;
        let text = |field: &str| stored.get(field).and_then(Value::as_str).unwrap_or_default();
        let (role, status) = (text("role"), text("status"));
        let whole = (role, status) == ("assistant", "complete");
        Fault::unless(whole, "a complete answer in the conversation", || format!("{role} {status}"))?;
        let (stored, told) = (text("content").chars().count(), words.chars().count());
        let got = || format!("{stored} characters of {told}, or others");
        Fault::unless(text("content") == words, "the stored answer to be what was told", got)
    }
}
