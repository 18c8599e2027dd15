//! Detects the protocol mode of a server, with a handshake where the server needs one.

use egress::Response;
use secrecy::SecretString;
use serde_json::{Value, json};
use work::lock;

use super::connection::{Connection, ProtocolMode};
use super::exchange::{Observer, RpcRequest, client_info};
use super::failure::has_handshake;
use crate::call_error::CallError;

/// The latest protocol version with a handshake.
const HANDSHAKE_VERSION: &str = "2025-11-25";

/// Longest session id, in bytes.
const MAX_SESSION_ID_BYTES: usize = 1024;

impl Connection {
    /// Returns the result of a request, with one retry if the first attempt was not executed or is idempotent.
    pub(super) async fn call(&self, rpc: &RpcRequest, observer: &Observer) -> Result<Value, CallError> {
        let known_mode = lock(&self.mode).clone();
        let mode = known_mode.clone().unwrap_or(ProtocolMode::Stateless);
        let first = self.exchange(rpc, &mode, observer).await;
        let retry_mode = match first {
            Ok((result, _)) => {
                if known_mode.is_none() {
                    *lock(&self.mode) = Some(mode);
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

    async fn shake_hands(&self, observer: &Observer) -> Result<ProtocolMode, CallError> {
        let params = json!({"protocolVersion": HANDSHAKE_VERSION, "capabilities": {}, "clientInfo": client_info()});
        let rpc = RpcRequest { method: "initialize", params, headers: Vec::new(), idempotent: true };
        let (result, response) = self.exchange(&rpc, &ProtocolMode::New, observer).await?;
        let version = result.get("protocolVersion").and_then(Value::as_str).filter(|version| has_handshake(version));
        let version = version.ok_or(CallError::Unreadable)?.to_owned();
        let mode = ProtocolMode::Session { id: session_id(&response), version };
        self.notify("notifications/initialized", &mode).await?;
        *lock(&self.mode) = Some(mode.clone());
        Ok(mode)
    }
}

/// Returns the more informative of two failures: a server that rejects both modes explains it in its first error.
fn more_informative(first: CallError, second: CallError) -> CallError {
    if matches!(first, CallError::Rpc(_)) && !matches!(second, CallError::Rpc(_)) { first } else { second }
}

/// Returns the id of the session that a response starts: visible ASCII.
fn session_id(response: &Response) -> Option<SecretString> {
    let id = response.headers.get("mcp-session-id")?.to_str().ok()?;
    (!id.is_empty() && id.len() <= MAX_SESSION_ID_BYTES && id.bytes().all(|byte| byte.is_ascii_graphic()))
        .then(|| id.into())
}
