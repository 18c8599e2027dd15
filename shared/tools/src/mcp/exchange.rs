//! Sends one request and reads its reply.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

use egress::{Limits, OverCap, Request, Response};
use reqwest::Method;
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::connection::{Connection, Peer};
use super::failure::McpFailure;
use super::headers::encoded;
use super::listening::Listening;
use crate::Progress;
use crate::http::Trial;
use crate::http::failure::HttpFailure;
use crate::http::tool::Prepared;
use crate::http::trial::{answered, asked};

/// The version of the protocol without a handshake.
const STATELESS: &str = "2026-07-28";

/// Longest reply that is read, in bytes.
const MAX_BODY: usize = 1024 * 1024;

/// A request to a server.
#[derive(Clone, Debug)]
pub(super) struct Question {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// Headers that repeat parameters, for the stateless protocol.
    pub(super) headers: Vec<(String, String)>,
    /// Whether repeating the request has no further effect.
    pub(super) idempotent: bool,
}

/// Observes the requests of a call.
#[derive(Default)]
pub(super) struct Audience {
    pub(super) progress: Progress,
    /// The report of the last exchange for an administrator.
    pub(super) trial: Option<Mutex<Trial>>,
}

/// The authentication header.
type Proof<'a> = Option<(&'a str, SecretString)>;

impl Connection {
    /// Sends a request once, in this protocol mode.
    pub(super) async fn exchange(
        &self,
        question: &Question,
        peer: &Peer,
        audience: &Audience,
    ) -> Result<(Value, Response), McpFailure> {
        let (proof, mask) = self.credentials.reveal().await?;
        let id = self.next_id();
        let request = self.request(&message(question, id, peer), peer, &proof)?;
        let request = if *peer == Peer::Stateless { mirroring(request, question)? } else { request };
        let secret = proof.as_ref().map(|(name, _)| (*name).to_owned());
        let prepared = Prepared { request: request.clone(), mask, secret };
        let (replies, questions) = unbounded_channel();
        let mut listening = Listening::new(id, &prepared.mask, &audience.progress, replies);
        let response = tokio::select! {
            biased;
            response = self.egress.send_watched(request, |part| listening.part(part)) => response,
            never = self.reply(questions, peer, &proof) => match never {},
        };
        audience.note(&prepared, response.as_ref().ok());
        let response = response?;
        self.credentials.answered(response.status.as_u16());
        Ok((listening.finish(&response)?, response))
    }

    /// Sends a notification, which has no reply.
    pub(super) async fn notify(&self, method: &str, peer: &Peer) -> Result<(), McpFailure> {
        let (proof, _) = self.credentials.reveal().await?;
        let request = self.request(&json!({"jsonrpc": "2.0", "method": method}), peer, &proof)?;
        let status = self.egress.send(request).await?.status;
        let refused = || HttpFailure::Status(status.as_u16(), String::new());
        status.is_success().then_some(()).ok_or_else(|| refused().into())
    }

    /// Sends replies to the server's own requests while its response is read; a lost reply is not resent.
    async fn reply(&self, mut replies: UnboundedReceiver<Value>, peer: &Peer, proof: &Proof<'_>) -> Infallible {
        loop {
            let Some(reply) = replies.recv().await else { return std::future::pending().await };
            if let Ok(request) = self.request(&reply, peer, proof) {
                let _lost = self.egress.send(request).await;
            }
        }
    }

    fn request(&self, message: &Value, peer: &Peer, proof: &Proof<'_>) -> Result<Request, McpFailure> {
        let url = self.egress.policy().parse(&self.endpoint.url).map_err(|_| HttpFailure::Address)?;
        let (total, read) = (self.timeout(), self.timeout());
        let limits = Limits { total, read, body: MAX_BODY, over: OverCap::Refuse, ..Limits::default() };
        let mut request = Request::new(Method::POST, url).limits(limits).body(message.to_string().into_bytes());
        for (name, value) in &self.endpoint.headers {
            request = with(request, name, value)?;
        }
        request = with(request, "content-type", "application/json")?;
        request = with(request, "accept", "application/json, text/event-stream")?;
        if let Some(version) = peer.version() {
            request = with(request, "mcp-protocol-version", version)?;
        }
        let session = peer.session().map(|id| ("mcp-session-id", id));
        let secrets = session.into_iter().chain(proof.as_ref().map(|(name, value)| (*name, value)));
        for (name, value) in secrets {
            request = request.secret(name, value).map_err(|_| HttpFailure::NoSecret)?;
        }
        Ok(request)
    }
}

impl Audience {
    fn note(&self, prepared: &Prepared, response: Option<&Response>) {
        let Some(trial) = &self.trial else { return };
        let mut trial = trial.lock().unwrap_or_else(PoisonError::into_inner);
        trial.request = Some(asked(prepared));
        trial.response = response.map(|response| answered(response, &prepared.mask));
    }
}

/// Builds the message of a request; its id is also its progress token.
fn message(question: &Question, id: u64, peer: &Peer) -> Value {
    let mut meta = json!({"progressToken": id});
    if *peer == Peer::Stateless {
        meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS);
        meta["io.modelcontextprotocol/clientInfo"] = client();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let mut params = question.params.clone();
    params["_meta"] = meta;
    json!({"jsonrpc": "2.0", "id": id, "method": question.method, "params": params})
}

/// Returns the client's name and version.
pub(super) fn client() -> Value {
    json!({"name": "lambda-chat", "version": env!("CARGO_PKG_VERSION")})
}

/// Adds the headers that repeat parts of the message.
fn mirroring(request: Request, question: &Question) -> Result<Request, McpFailure> {
    let mut request = with(request, "mcp-method", question.method)?;
    if let Some(name) = question.params.get("name").and_then(Value::as_str) {
        request = with(request, "mcp-name", &encoded(name))?;
    }
    question.headers.iter().try_fold(request, |request, (name, value)| with(request, name, value))
}

fn with(request: Request, name: &str, value: &str) -> Result<Request, McpFailure> {
    request.header(name, value).map_err(|_| HttpFailure::Address.into())
}

impl Peer {
    fn version(&self) -> Option<&str> {
        match self {
            Self::Stateless => Some(STATELESS),
            Self::New => None,
            Self::Session { version, .. } => Some(version),
        }
    }
}
