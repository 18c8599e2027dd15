//! A server and the cached mode of its protocol.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use egress::Egress;
use secrecy::{ExposeSecret, SecretString};
use store::RateLimiter;

use crate::http::{Credentials, ServerEndpoint, ToolDefinition};

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

    pub(super) fn cached_mode(&self) -> Option<ProtocolMode> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn store_mode(&self, mode: ProtocolMode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = Some(mode);
    }

    /// Detects the protocol mode again with the next request.
    pub(super) fn reset_mode(&self) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Forgets an expired session, unless another call has already replaced it.
    pub(super) fn forget_session(&self, expired: &ProtocolMode) {
        let mut mode = self.mode.lock().unwrap_or_else(PoisonError::into_inner);
        if mode.as_ref() == Some(expired) {
            *mode = None;
        }
    }
}
