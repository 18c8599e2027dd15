//! Detects and caches the protocol mode of a server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use egress::{Egress, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use store::RateLimiter;

use super::exchange::{Observer, RpcRequest, client_info};
use super::failure::{McpFailure, has_handshake};
use crate::http::{Credentials, ServerEndpoint, ToolDefinition};

/// The latest protocol version with a handshake.
const HANDSHAKE_VERSION: &str = "2025-11-25";

/// Longest session id, in bytes.
const MAX_SESSION_ID_BYTES: usize = 1024;

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

/// The protocol mode of a server.
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
        /// The negotiated version.
        version: String,
    },
}

impl PartialEq for ProtocolMode {
    fn eq(&self, other: &Self) -> bool {
        let session = |mode: &Self| mode.session().map(|id| id.expose_secret().to_owned());
        std::mem::discriminant(self) == std::mem::discriminant(other) && session(self) == session(other)
    }
}

impl ProtocolMode {
    pub(super) fn session(&self) -> Option<&SecretString> {
        if let Self::Session { id, .. } = self { id.as_ref() } else { None }
    }
}

impl Connection {
    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.endpoint.timeout_seconds))
    }

    pub(super) fn next_id(&self) -> u64 {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the result of a request, with one retry if the first attempt was not executed or is idempotent.
    pub(super) async fn call(&self, rpc: &RpcRequest, observer: &Observer) -> Result<Value, McpFailure> {
        let known_mode = self.cached_mode();
        let mode = known_mode.clone().unwrap_or(ProtocolMode::Stateless);
        let first = self.exchange(rpc, &mode, observer).await;
        let retry_mode = match first {
            Ok((result, _)) => {
                if known_mode.is_none() {
                    self.store_mode(mode);
                }
                return Ok(result);
            }
            Err(failure) if known_mode.is_none() && failure.suggests_handshake(rpc.idempotent) => {
                // If the handshake fails too, the server uses the stateless protocol and its first reply is valid.
                self.shake_hands(observer).await.map_err(|second| more_informative(failure, second))?
            }
            Err(failure) if mode.session().is_some() && failure.is_session_over() => {
                self.forget_session(&mode);
                self.shake_hands(observer).await?
            }
            Err(failure) if rpc.idempotent && failure.is_transient() => mode,
            Err(failure) => return Err(failure),
        };
        self.exchange(rpc, &retry_mode, observer).await.map(|(result, _)| result)
    }

    async fn shake_hands(&self, observer: &Observer) -> Result<ProtocolMode, McpFailure> {
        let params = json!({"protocolVersion": HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": client_info()});
        let rpc = RpcRequest { method: "initialize", params, headers: Vec::new(), idempotent: true };
        let (result, response) = self.exchange(&rpc, &ProtocolMode::New, observer).await?;
        let version = result.get("protocolVersion").and_then(Value::as_str).filter(|version| has_handshake(version));
        let version = version.ok_or(McpFailure::Unreadable)?.to_owned();
        let mode = ProtocolMode::Session { id: session_id(&response), version };
        self.notify("notifications/initialized", &mode).await?;
        self.store_mode(mode.clone());
        Ok(mode)
    }

    fn cached_mode(&self) -> Option<ProtocolMode> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn store_mode(&self, mode: ProtocolMode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = Some(mode);
    }

    /// Detects the protocol mode again with the next request.
    pub(super) fn reset_mode(&self) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Forgets an expired session, unless another call has already replaced it.
    fn forget_session(&self, expired: &ProtocolMode) {
        let mut mode = self.mode.lock().unwrap_or_else(PoisonError::into_inner);
        if mode.as_ref() == Some(expired) {
            *mode = None;
        }
    }
}

/// Returns the more informative of two failures: a server that rejects both modes explains it in its first error.
fn more_informative(first: McpFailure, second: McpFailure) -> McpFailure {
    if matches!(first, McpFailure::Rpc(_)) && !matches!(second, McpFailure::Rpc(_)) { first } else { second }
}

/// Returns the id of the session that a response starts: visible ASCII.
fn session_id(response: &Response) -> Option<SecretString> {
    let id = response.headers.get("mcp-session-id")?.to_str().ok()?;
    (!id.is_empty() && id.len() <= MAX_SESSION_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_graphic()))
        .then(|| id.into())
}
