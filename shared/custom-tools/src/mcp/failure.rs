use domain::{Language, ToolFailure};
use egress::EgressError;
use prompts::{CustomToolTexts, ToolTexts, fill};
use serde_json::Value;
use tools::{ToolError, strip_invisible};

use crate::http::failure::HttpFailure;

/// Error codes that only servers with the stateless protocol send.
const STATELESS_CODES: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// Statuses of a request that the server did not understand.
const REJECTED_STATUSES: [u16; 5] = [400, 404, 405, 406, 415];

/// Error codes for an invalid request and for an unknown method.
const UNKNOWN_CODES: [i64; 2] = [-32600, -32601];

/// Why a request to a server failed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum McpFailure {
    /// A failure of HTTP.
    Http(HttpFailure),
    /// The server replied with an error.
    Rpc(RpcError),
    /// The reply contains no response to the request, or one of an unknown form.
    Unreadable,
    /// The tool requests input from the user, which is not supported.
    WantsInput,
}

/// A JSON-RPC error; its text is masked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RpcError {
    /// The HTTP status of the reply.
    pub(super) status: u16,
    pub(super) code: i64,
    pub(super) message: String,
    /// Protocol versions that the server supports, if the error lists them.
    pub(super) supported: Vec<String>,
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

impl McpFailure {
    /// Whether a server may need a handshake because it rejected a stateless request. The request is then repeated; one
    /// that is not idempotent only if the server did not execute it.
    pub(super) fn suggests_handshake(&self, idempotent: bool) -> bool {
        if !idempotent && !self.is_before_any_work() {
            return false;
        }
        match self {
            Self::Http(HttpFailure::Status(status, _)) => !matches!(status, 401 | 403 | 429),
            Self::Rpc(error) => {
                !STATELESS_CODES.contains(&error.code) || error.supported.iter().any(|one| has_handshake(one))
            }
            Self::Unreadable => true,
            Self::Http(_) | Self::WantsInput => false,
        }
    }

    /// Whether the server did not understand the request, and so did not execute it.
    fn is_before_any_work(&self) -> bool {
        match self {
            Self::Http(HttpFailure::Status(status, _)) => REJECTED_STATUSES.contains(status),
            Self::Rpc(RpcError { status, code, supported, .. }) => {
                REJECTED_STATUSES.contains(status) || UNKNOWN_CODES.contains(code) || !supported.is_empty()
            }
            _ => false,
        }
    }

    /// Whether the session has expired: the request was not executed.
    pub(super) fn is_session_over(&self) -> bool {
        match self {
            Self::Http(HttpFailure::Status(status, _)) | Self::Rpc(RpcError { status, .. }) => {
                matches!(status, 400 | 404)
            }
            _ => false,
        }
    }

    /// Whether an idempotent call may be retried.
    pub(super) fn is_transient(&self) -> bool {
        match self {
            Self::Http(HttpFailure::Egress(error)) => *error == EgressError::Disconnected,
            Self::Http(HttpFailure::Status(status, _)) => matches!(status, 502..=504),
            _ => false,
        }
    }

    /// Converts it to the failure for the user and the text for the model. `has_side_effects`: the request may have
    /// taken effect.
    pub(super) fn into_tool_error(self, has_side_effects: bool, language: Language) -> ToolError {
        let texts = CustomToolTexts::of(language);
        let reason = match self {
            Self::Http(failure) => return failure.into_tool_error(has_side_effects, language),
            Self::Rpc(error) => {
                let message = tool_calls::escape(&strip_invisible(&error.message));
                fill(texts.server_error, &[("code", &error.code.to_string()), ("message", &message)])
            }
            Self::Unreadable => texts.unreadable.to_owned(),
            Self::WantsInput => texts.input_required.to_owned(),
        };
        let failure = ToolFailure { code: "failed".to_owned(), message: "The tool failed.".to_owned() };
        ToolError::Model { failure, content: fill(ToolTexts::of(language).failed, &[("reason", &reason)]) }
    }

    /// Returns the kind of failure for the log, without any text of the server.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Http(HttpFailure::Egress(error)) => error.to_string(),
            Self::Http(HttpFailure::Status(status, _)) => format!("status {status}"),
            Self::Http(HttpFailure::NoSecret) => "its secret cannot be had".to_owned(),
            Self::Http(HttpFailure::ShortSecret) => "its secret is too short".to_owned(),
            Self::Http(_) => "the address is not allowed".to_owned(),
            Self::Rpc(error) => format!("error {}", error.code),
            Self::Unreadable | Self::WantsInput => "the answer cannot be read".to_owned(),
        }
    }
}

impl From<EgressError> for McpFailure {
    fn from(error: EgressError) -> Self {
        Self::Http(HttpFailure::Egress(error))
    }
}

impl From<HttpFailure> for McpFailure {
    fn from(failure: HttpFailure) -> Self {
        Self::Http(failure)
    }
}

/// Whether a protocol version has a handshake; versions are dates.
pub(super) fn has_handshake(version: &str) -> bool {
    version.len() == 10 && version < "2026"
}
