//! How the protocol continues after a failed request.

use egress::EgressError;
use serde_json::Value;

use crate::call_error::{CallError, RpcError};

/// Error codes that only servers with the stateless protocol send.
const STATELESS_CODES: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// Statuses of a request that the server did not understand.
const REJECTED_STATUSES: [u16; 5] = [400, 404, 405, 406, 415];

/// Error codes for an invalid request and for an unknown method.
const UNKNOWN_CODES: [i64; 2] = [-32600, -32601];

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
            Self::NoSecret => "its secret cannot be had".to_owned(),
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
