//! Detects and caches the protocol mode of a server.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use egress::{Egress, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use store::RateLimiter;

use super::exchange::{Audience, Question, client};
use super::failure::{McpFailure, has_handshake};
use crate::http::{Credentials, ServerEndpoint, ToolDefinition};

/// The latest protocol version with a handshake.
const WITH_HANDSHAKE: &str = "2025-11-25";

/// Longest session id, in bytes.
const LONGEST_SESSION: usize = 1024;

/// The state of a server in this process.
pub(super) struct Connection {
    pub(super) definition: ToolDefinition,
    pub(super) endpoint: ServerEndpoint,
    pub(super) egress: Egress,
    pub(super) credentials: Credentials,
    pub(super) limiter: RateLimiter,
    /// `None` until the server has replied.
    pub(super) peer: Mutex<Option<Peer>>,
    pub(super) ids: AtomicU64,
}

/// The protocol mode of a server.
#[derive(Clone, Debug)]
pub(super) enum Peer {
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

impl PartialEq for Peer {
    fn eq(&self, other: &Self) -> bool {
        let session = |peer: &Self| peer.session().map(|id| id.expose_secret().to_owned());
        std::mem::discriminant(self) == std::mem::discriminant(other) && session(self) == session(other)
    }
}

impl Peer {
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
    pub(super) async fn ask(&self, question: &Question, audience: &Audience) -> Result<Value, McpFailure> {
        let known = self.known();
        let peer = known.clone().unwrap_or(Peer::Stateless);
        let first = self.exchange(question, &peer, audience).await;
        let again = match first {
            Ok((result, _)) => {
                if known.is_none() {
                    self.remember(peer);
                }
                return Ok(result);
            }
            Err(failure) if known.is_none() && failure.may_want_handshake(question.idempotent) => {
                // If the handshake fails too, the server uses the stateless protocol and its first reply is valid.
                self.shake_hands(audience).await.map_err(|second| worse(failure, second))?
            }
            Err(failure) if peer.session().is_some() && failure.is_session_over() => {
                self.forget(&peer);
                self.shake_hands(audience).await?
            }
            Err(failure) if question.idempotent && failure.may_pass() => peer,
            Err(failure) => return Err(failure),
        };
        self.exchange(question, &again, audience).await.map(|(result, _)| result)
    }

    async fn shake_hands(&self, audience: &Audience) -> Result<Peer, McpFailure> {
        let params = json!({"protocolVersion": WITH_HANDSHAKE, "capabilities": {}, "clientInfo": client()});
        let question = Question { method: "initialize", params, headers: Vec::new(), idempotent: true };
        let (result, response) = self.exchange(&question, &Peer::New, audience).await?;
        let version = result.get("protocolVersion").and_then(Value::as_str).filter(|version| has_handshake(version));
        let version = version.ok_or(McpFailure::Unreadable)?.to_owned();
        let peer = Peer::Session { id: session(&response), version };
        self.notify("notifications/initialized", &peer).await?;
        self.remember(peer.clone());
        Ok(peer)
    }

    fn known(&self) -> Option<Peer> {
        self.peer.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn remember(&self, peer: Peer) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = Some(peer);
    }

    /// Detects the protocol mode again with the next request.
    pub(super) fn forget_peer(&self) {
        *self.peer.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Forgets an expired session, unless another call has already replaced it.
    fn forget(&self, over: &Peer) {
        let mut peer = self.peer.lock().unwrap_or_else(PoisonError::into_inner);
        if peer.as_ref() == Some(over) {
            *peer = None;
        }
    }
}

/// Returns the more informative of two failures: a server that rejects both modes explains it in its first error.
fn worse(first: McpFailure, second: McpFailure) -> McpFailure {
    if matches!(first, McpFailure::Rpc(_)) && !matches!(second, McpFailure::Rpc(_)) { first } else { second }
}

/// Returns the id of the session that a response starts: visible ASCII.
fn session(response: &Response) -> Option<SecretString> {
    let id = response.headers.get("mcp-session-id")?.to_str().ok()?;
    (!id.is_empty() && id.len() <= LONGEST_SESSION && id.bytes().all(|byte| byte.is_ascii_graphic())).then(|| id.into())
}
