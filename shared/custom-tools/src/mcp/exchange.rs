//! A server, the cached mode of its protocol, and the exchange of one request for its reply.

use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use egress::{Egress, Limits, Request, Response};
use reqwest::Method;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use store::RateLimiter;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tools::Progress;
use work::lock;

use super::headers::encode_value;
use super::reply_reader::ReplyReader;
use crate::call_error::CallError;
use crate::http::test_call::{describe_request, describe_response};
use crate::http::tool::PreparedRequest;
use crate::http::{Credentials, ServerEndpoint, TestCall, ToolDefinition};

/// The version of the protocol without a handshake.
const STATELESS_VERSION: &str = "2026-07-28";

/// Longest reply that is read, in bytes.
const MAX_BODY_BYTES: usize = 1024 * 1024;

#[derive(Clone, Debug)]
pub(super) struct RpcRequest {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// Headers that repeat parameters, for the stateless protocol.
    pub(super) headers: Vec<(String, String)>,
    /// Whether repeating the request has no further effect.
    pub(super) idempotent: bool,
}

/// Observes the requests of a call.
#[derive(Default)]
pub(super) struct Observer {
    pub(super) progress: Progress,
    /// The report of the last exchange for an administrator.
    pub(super) test_call: Option<Mutex<TestCall>>,
}

type AuthHeader<'a> = Option<(&'a str, SecretString)>;

/// The state of a server in this process.
pub(super) struct Connection {
    pub(super) definition: ToolDefinition,
    pub(super) endpoint: ServerEndpoint,
    pub(super) egress: Egress,
    pub(super) credentials: Credentials,
    pub(super) limiter: RateLimiter,
    /// `None` until the server has replied.
    pub(super) mode: Mutex<Option<ProtocolMode>>,
    pub(super) ids: AtomicU64,
}

#[derive(Clone, Debug)]
pub(super) enum ProtocolMode {
    /// Every request is independent.
    Stateless,
    /// The handshake is not done yet.
    New,
    /// The handshake is done.
    Session {
        /// The session id, if the server uses sessions.
        id: Option<SecretString>,
        version: String,
    },
}

impl Connection {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.endpoint.timeout_seconds))
    }

    /// Forgets an expired session, unless another call has already replaced it.
    pub(super) fn forget_session(&self, expired: &ProtocolMode) {
        let id = |mode: &ProtocolMode| mode.session().map(|id| id.expose_secret().to_owned());
        lock(&self.mode).take_if(|mode| id(mode) == id(expired));
    }

    /// Sends a request once, in this protocol mode.
    pub(super) async fn exchange(
        &self,
        rpc: &RpcRequest,
        mode: &ProtocolMode,
        observer: &Observer,
    ) -> Result<(Value, Response), CallError> {
        let (auth_header, mask) = self.credentials.reveal().await?;
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let request = self.build_request(&rpc_message(rpc, id, mode), mode, &auth_header)?;
        let request =
            if matches!(mode, ProtocolMode::Stateless) { with_mirrored_headers(request, rpc)? } else { request };
        let secret = auth_header.as_ref().map(|(name, _)| (*name).to_owned());
        let prepared = PreparedRequest { request: request.clone(), mask, secret };
        let (replies, pending) = unbounded_channel();
        let mut reader = ReplyReader::new(id, &prepared.mask, &observer.progress, replies);
        let response = tokio::select! {
            biased;
            response = self.egress.send_observed(request, |part| reader.push(part)) => response,
            never = self.send_replies(pending, mode, &auth_header) => match never {},
        };
        observer.record(&prepared, response.as_ref().ok());
        let response = response?;
        self.credentials.on_status(response.status.as_u16());
        Ok((reader.finish(&response)?, response))
    }

    /// Sends a notification, which has no reply.
    pub(super) async fn notify(&self, method: &str, mode: &ProtocolMode) -> Result<(), CallError> {
        let (auth_header, _) = self.credentials.reveal().await?;
        let request = self.build_request(&json!({"jsonrpc": "2.0", "method": method}), mode, &auth_header)?;
        let status = self.egress.send(request).await?.status;
        let refused = || CallError::Status(status.as_u16(), String::new());
        status.is_success().then_some(()).ok_or_else(refused)
    }

    /// Sends replies to the server's own requests while its response is read; a lost reply is not resent.
    async fn send_replies(
        &self,
        mut replies: UnboundedReceiver<Value>,
        mode: &ProtocolMode,
        auth_header: &AuthHeader<'_>,
    ) -> Infallible {
        loop {
            let Some(reply) = replies.recv().await else { return std::future::pending().await };
            if let Ok(request) = self.build_request(&reply, mode, auth_header) {
                let _lost = self.egress.send(request).await;
            }
        }
    }

    fn build_request(
        &self,
        message: &Value,
        mode: &ProtocolMode,
        auth_header: &AuthHeader<'_>,
    ) -> Result<Request, CallError> {
        let url = self.egress.policy().parse(&self.endpoint.url).map_err(|_| CallError::AddressNotAllowed)?;
        let (total_timeout, read_timeout) = (self.timeout(), self.timeout());
        let limits = Limits { total_timeout, read_timeout, max_body_bytes: MAX_BODY_BYTES, ..Limits::default() };
        let mut request = Request::new(Method::POST, url).limits(limits).body(message.to_string().into_bytes());
        for (name, value) in &self.endpoint.headers {
            request = with_header(request, name, value)?;
        }
        request = with_header(request, "content-type", "application/json")?;
        request = with_header(request, "accept", "application/json, text/event-stream")?;
        if let Some(version) = mode.version() {
            request = with_header(request, "mcp-protocol-version", version)?;
        }
        let session = mode.session().map(|id| ("mcp-session-id", id));
        let secrets = session.into_iter().chain(auth_header.as_ref().map(|(name, value)| (*name, value)));
        for (name, value) in secrets {
            request = request.secret(name, value).map_err(|_| CallError::NoSecret)?;
        }
        Ok(request)
    }
}

impl Observer {
    fn record(&self, prepared: &PreparedRequest, response: Option<&Response>) {
        let Some(test_call) = &self.test_call else { return };
        let mut test_call = lock(test_call);
        test_call.request = Some(describe_request(prepared));
        test_call.response = response.map(|response| describe_response(response, &prepared.mask));
    }
}

/// Builds the message of a request; its id is also its progress token.
fn rpc_message(rpc: &RpcRequest, id: u64, mode: &ProtocolMode) -> Value {
    let mut meta = json!({"progressToken": id});
    if matches!(mode, ProtocolMode::Stateless) {
        meta["io.modelcontextprotocol/protocolVersion"] = json!(STATELESS_VERSION);
        meta["io.modelcontextprotocol/clientInfo"] = client_info();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let mut params = rpc.params.clone();
    params["_meta"] = meta;
    json!({"jsonrpc": "2.0", "id": id, "method": rpc.method, "params": params})
}

/// Returns the client's name and version.
pub(super) fn client_info() -> Value {
    json!({"name": "lambda-chat", "version": env!("CARGO_PKG_VERSION")})
}

/// Adds the headers that repeat parts of the message.
fn with_mirrored_headers(request: Request, rpc: &RpcRequest) -> Result<Request, CallError> {
    let mut request = with_header(request, "mcp-method", rpc.method)?;
    if let Some(name) = rpc.params.get("name").and_then(Value::as_str) {
        request = with_header(request, "mcp-name", &encode_value(name))?;
    }
    rpc.headers.iter().try_fold(request, |request, (name, value)| with_header(request, name, value))
}

fn with_header(request: Request, name: &str, value: &str) -> Result<Request, CallError> {
    request.header(name, value).map_err(|_| CallError::AddressNotAllowed)
}

impl ProtocolMode {
    pub(super) fn session(&self) -> Option<&SecretString> {
        if let Self::Session { id, .. } = self { id.as_ref() } else { None }
    }

    fn version(&self) -> Option<&str> {
        match self {
            Self::Stateless => Some(STATELESS_VERSION),
            Self::New => None,
            Self::Session { version, .. } => Some(version),
        }
    }
}
