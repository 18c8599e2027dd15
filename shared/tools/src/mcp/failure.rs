use conversation::ToolFailure;
use egress::EgressError;
use serde_json::Value;

use crate::ToolError;
use crate::http::failure::HttpFailure;

/// Codes of errors that only servers of the stateless protocol send.
const STATELESS: std::ops::RangeInclusive<i64> = -32022..=-32020;

/// Statuses of a request that was not understood.
const REFUSED: [u16; 5] = [400, 404, 405, 406, 415];

/// Codes of errors about a message that is no request and about an unknown method.
const UNKNOWN: [i64; 2] = [-32600, -32601];

/// Why a server gave nothing.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum McpFailure {
    /// What can befall any request.
    Http(HttpFailure),
    /// The server answers the request with an error.
    Rpc(RpcError),
    /// The answer holds no response to the request, or one of an unknown form.
    Unreadable,
    /// The tool wants more from the user, which cannot be given here.
    WantsInput,
}

/// An error as the protocol has it; its text is masked.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RpcError {
    /// The HTTP status that it came with.
    pub(super) status: u16,
    pub(super) code: i64,
    pub(super) message: String,
    /// Versions that the server speaks, if it says so.
    pub(super) supported: Vec<String>,
}

impl RpcError {
    /// The error in a message, if it is one.
    pub(super) fn of(status: u16, message: &Value) -> Option<Self> {
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
    /// Whether a server that may be of the generation with a handshake refused a stateless request, which then is made
    /// again: one that is not idempotent only if nothing of it was done.
    pub(super) fn may_want_handshake(&self, idempotent: bool) -> bool {
        if !idempotent && !self.is_before_any_work() {
            return false;
        }
        match self {
            Self::Http(HttpFailure::Status(status, _)) => !matches!(status, 401 | 403 | 429),
            Self::Rpc(error) => {
                !STATELESS.contains(&error.code) || error.supported.iter().any(|one| has_handshake(one))
            }
            Self::Unreadable => true,
            Self::Http(_) | Self::WantsInput => false,
        }
    }

    /// Whether the server did not understand the request, and so did nothing of it.
    fn is_before_any_work(&self) -> bool {
        match self {
            Self::Http(HttpFailure::Status(status, _)) => REFUSED.contains(status),
            Self::Rpc(RpcError { status, code, supported, .. }) => {
                REFUSED.contains(status) || UNKNOWN.contains(code) || !supported.is_empty()
            }
            _ => false,
        }
    }

    /// Whether the session is over: nothing of the request was done.
    pub(super) fn is_session_over(&self) -> bool {
        match self {
            Self::Http(HttpFailure::Status(status, _)) | Self::Rpc(RpcError { status, .. }) => {
                matches!(status, 400 | 404)
            }
            _ => false,
        }
    }

    /// Whether a call that does no harm twice may be made again.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Http(HttpFailure::Egress(error)) => *error == EgressError::Broken,
            Self::Http(HttpFailure::Status(status, _)) => matches!(status, 502..=504),
            _ => false,
        }
    }

    /// What the user sees and what the model reads; `changes` when what was asked may have been done all the same.
    pub(super) fn told(self, changes: bool) -> ToolError {
        let reason = match self {
            Self::Http(failure) => return failure.told(changes),
            Self::Rpc(error) => {
                format!("服务返回错误 {}：{}", error.code, calls::escape(&crate::search::visible(&error.message)))
            }
            Self::Unreadable => "服务返回的内容无法读取".to_owned(),
            Self::WantsInput => "工具需要用户另外提供信息，这里无法提供".to_owned(),
        };
        let failure = ToolFailure { code: "failed".to_owned(), message: "The tool failed.".to_owned() };
        ToolError::Model { failure, content: format!("工具调用失败：{reason}") }
    }

    /// The kind of failure, for the log: nothing that the server wrote.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::Http(HttpFailure::Egress(error)) => error.to_string(),
            Self::Http(HttpFailure::Status(status, _)) => format!("status {status}"),
            Self::Http(HttpFailure::NoSecret) => "its secret cannot be had".to_owned(),
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

/// Whether a version of the protocol begins with a handshake; versions are dates.
pub(super) fn has_handshake(version: &str) -> bool {
    version.len() == 10 && version < "2026"
}
