//! Detects the protocol mode of a server, with a handshake where the server needs one, and how the protocol continues after a
//! failed request.

use egress::{EgressError, Response};
use secrecy::SecretString;
use serde_json::{Value, json};
use work::lock;

use super::exchange::{Connection, Observer, ProtocolMode, RpcRequest, client_info};
use crate::call_error::{CallError, RpcError};

/// The latest protocol version with a handshake.
const HANDSHAKE_VERSION: &str = "2025-11-25";

const MAX_SESSION_ID_BYTES: usize = 1024;

/// Error codes that only servers with the stateless protocol send.
const STATELESS_CODES: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// Statuses of a request that the server did not understand.
const REJECTED_STATUSES: [u16; 5] = [400, 404, 405, 406, 415];

/// Error codes for an invalid request and for an unknown method.
const UNKNOWN_CODES: [i64; 2] = [-32600, -32601];

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

impl RpcError {
    /// Parses the error in a message, if there is one.
    pub(super) fn from_message(status: u16, message: &Value) -> Option<Self> {
        let error = message.get("error")?;
        let supported = error.pointer("/data/supported").and_then(Value::as_array).map(Vec::as_slice);
        Some(Self {
            status,
            code: error.get("code")?.as_i64()?,
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
            supported: supported.unwrap_or_default().iter().filter_map(|one| Some(one.as_str()?.to_owned())).collect(),
        })
    }
}

impl CallError {
    /// Whether a server may need a handshake because it rejected a stateless request. The request is then repeated; one
    /// that is not idempotent only if the server did not execute it.
    pub(super) fn suggests_handshake(&self, idempotent: bool) -> bool {
        if !idempotent && !self.is_before_any_work() {
            return false;
        }
        match self {
            Self::Status(status, _) => !matches!(status, 401 | 403 | 429),
            Self::Rpc(error) => {
                !STATELESS_CODES.contains(&error.code) || error.supported.iter().any(|one| has_handshake(one))
            }
            Self::Unreadable => true,
            _ => false,
        }
    }

    /// Whether the server did not understand the request, and so did not execute it.
    fn is_before_any_work(&self) -> bool {
        match self {
            Self::Status(status, _) => REJECTED_STATUSES.contains(status),
            Self::Rpc(RpcError { status, code, supported, .. }) => {
                REJECTED_STATUSES.contains(status) || UNKNOWN_CODES.contains(code) || !supported.is_empty()
            }
            _ => false,
        }
    }

    /// Whether the session has expired: the request was not executed.
    pub(super) fn is_session_over(&self) -> bool {
        match self {
            Self::Status(status, _) | Self::Rpc(RpcError { status, .. }) => {
                matches!(status, 400 | 404)
            }
            _ => false,
        }
    }

    /// Whether an idempotent call may be retried.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Egress(error) => *error == EgressError::Disconnected,
            Self::Status(status, _) => matches!(status, 502..=504),
            _ => false,
        }
    }

    /// Returns the kind of failure for the log, without any text of the server.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Egress(error) => error.to_string(),
            Self::Status(status, _) => format!("status {status}"),
            Self::NoSecret => "its secret cannot be read".to_owned(),
            Self::ShortSecret => "its secret is too short".to_owned(),
            Self::Rpc(error) => format!("error {}", error.code),
            Self::Unreadable | Self::WantsInput => "the answer cannot be read".to_owned(),
            _ => "the address is not allowed".to_owned(),
        }
    }
}

/// Whether a protocol version has a handshake; versions are dates.
pub(super) fn has_handshake(version: &str) -> bool {
    version.len() == 10 && version < "2026"
}
