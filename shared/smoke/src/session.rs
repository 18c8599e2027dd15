use http::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::full_response::FullResponse;
use crate::turn_reader::TurnReader;
use crate::{CheckFailure, SmokeOptions, Target};

/// `CloudFront` requires it in front of a function whose URL only it may call, also for an empty body.
const HASH_HEADER: &str = "x-amz-content-sha256";

fn body_hash(body: &str) -> String {
    hex::encode(Sha256::digest(body))
}

pub(crate) struct Session {
    pub(crate) target: Target,
    pub(crate) options: SmokeOptions,
    /// The turn that several checks use.
    pub(crate) turn: Option<TurnReader>,
    pub(crate) turn_ended: bool,
    /// The created conversations, which the last check deletes.
    pub(crate) created_conversations: Vec<String>,
}

impl Session {
    pub(crate) fn new(target: Target, options: SmokeOptions) -> Self {
        Self { target, options, turn: None, turn_ended: false, created_conversations: Vec::new() }
    }

    /// Sends a request with the key and without a body; returns the complete response.
    pub(crate) async fn fetch(&mut self, method: Method, path: &str) -> Result<FullResponse, CheckFailure> {
        let is_signed_without_hash = method == Method::GET;
        let request = self.target.caller_request(method, path).await?;
        let request = if is_signed_without_hash { request } else { request.header(HASH_HEADER, body_hash("")) };
        self.target.fetch(request, self.options.timeouts.answer).await
    }

    /// Starts the first turn of a new conversation and reads its `start` event.
    pub(crate) async fn start_turn(&mut self, message: &str, tool: Option<&str>) -> Result<TurnReader, CheckFailure> {
        let mut body = json!({ "message": message });
        if let Some(model) = &self.options.model {
            body["modelType"] = Value::from(model.as_str());
        }
        if let Some(tool) = tool {
            body["toolChoice"] = json!({ "name": tool });
        }
        let body = body.to_string();
        let request = self.target.caller_request(Method::POST, "/api/chat").await?;
        let request =
            request.header("content-type", "application/json").header(HASH_HEADER, body_hash(&body)).body(body);
        let mut turn = TurnReader::open(&self.target, request, self.options.timeouts).await?;
        turn.read_until("`start` first", |_| true).await?;
        let (kind, id) = (turn.frames.first().map(|frame| frame.kind().to_owned()), turn.start_field("conversationId"));
        CheckFailure::ensure(kind.as_deref() == Some("start"), "`start` first", || format!("{kind:?}"))?;
        self.created_conversations.push(id);
        Ok(turn)
    }

    /// Checks that the stored answer is complete and equals `expected`.
    pub(crate) async fn expect_stored(&mut self, conversation: &str, expected: &str) -> Result<(), CheckFailure> {
        let response = self.fetch(Method::GET, &format!("/api/conversations/{conversation}")).await?;
        response.expect_status(200)?;
        let document = response.json();
        let last = document.get("messages").and_then(Value::as_array).and_then(|messages| messages.last());
        let message = last.ok_or_else(|| CheckFailure::new("stored messages", "none"))?;
        let text = |field: &str| message.get(field).and_then(Value::as_str).unwrap_or_default();
        let (role, status) = (text("role"), text("status"));
        let is_complete = (role, status) == ("assistant", "complete");
        CheckFailure::ensure(is_complete, "a complete answer in the conversation", || format!("{role} {status}"))?;
        let (stored_chars, expected_chars) = (text("content").chars().count(), expected.chars().count());
        let got = || format!("{stored_chars} characters of {expected_chars}, or others");
        CheckFailure::ensure(text("content") == expected, "the stored answer to be what was streamed", got)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;
    use futures_util::{FutureExt, StreamExt, stream};
    use platform::secrets::Secret;

    use super::*;
    use crate::Timeouts;
    use crate::target::{Request, Response, Transport, TransportError};

    /// A function that only `CloudFront` may call: a request without the hash of its body is rejected.
    struct SignedOrigin;

    impl Transport for SignedOrigin {
        fn send(&self, request: Request) -> BoxFuture<'_, Result<Response, TransportError>> {
            let hash = request.headers.iter().find(|(name, _)| *name == HASH_HEADER).map(|(_, hash)| hash.as_str());
            let expected = body_hash(request.body.as_deref().unwrap_or_default());
            let is_signed = request.method == Method::GET || hash == Some(&expected);
            let body = stream::empty().boxed();
            let response = Response { status: if is_signed { 204 } else { 403 }, content_type: String::new(), body };
            async move { Ok(response) }.boxed()
        }
    }

    #[tokio::test]
    async fn requests_without_body_carry_its_hash() {
        let options = SmokeOptions { model: None, timeouts: Timeouts::default(), strict: false };
        let mut session = Session::new(Target::with_transport(SignedOrigin, Secret::by_value("key")), options);
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let response = session.fetch(method.clone(), "/api/conversations/1").await.unwrap();
            assert!(response.expect_status(204).is_ok(), "{method}");
        }
    }
}
